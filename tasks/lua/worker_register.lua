#!lua flags=allow-oom
-- Make a worker known with what it offers; its id is new at every start (DESIGN, rule 9).
-- ARGV: worker, JSON record, alive_ms, offer_ms, reserve_ms.   Answers: ok.
local id, row, now = ARGV[1], cjson.decode(ARGV[2]), now_ms()
local flat = { 'id', id, 'registered_ms', int(now), 'beat_ms', int(now) }
for name, value in pairs(row) do flat[#flat + 1], flat[#flat + 2] = name, value end
redis.call('HSET', P .. 'worker:' .. id, unpack(flat))
redis.call('PERSIST', P .. 'worker:' .. id)
redis.call('ZADD', P .. 'workers', int(now + tonumber(ARGV[3])), id)
local declarations = cjson.decode(row.declarations)
for queue, text in pairs(declarations) do redis.call('HSET', P .. 'declared', queue, text) end
return reply('ok', { offers = admit(now, tonumber(ARGV[4]), tonumber(ARGV[5])) })
