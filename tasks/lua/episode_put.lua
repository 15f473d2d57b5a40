#!lua flags=allow-oom
-- Record what recovery did, or what came of it, for the run that is held under an epoch. An episode begins as candidate
-- and gets its verdict once; a repeat changes nothing. Its content is the JSON that it was given, whose hash stands
-- beside it. A new one above the most that are kept takes the oldest out, unless a version of the policy stands on it.
-- ARGV: run, epoch, episode, status, JSON {signature, action, step, trust, hash, content}, most episodes that are kept.
-- Answers: ok, same, refused {status}, fenced.
local run, id, status, now = ARGV[1], ARGV[3], ARGV[4], now_ms()
if not holds_run(run, ARGV[2]) then return reply('fenced') end
local key, row = P .. 'episode:' .. id, cjson.decode(ARGV[5])
local old = read(key)
if old and old.status == status then return reply('same') end
if old and old.status ~= 'candidate' then return reply('refused', { status = old.status }) end
if not old then
  local sequence = int(redis.call('INCR', P .. 'sequence'))
  redis.call('HSET', key, 'id', id, 'sequence', sequence, 'run', run, 'created_ms', int(now))
  redis.call('ZADD', P .. 'episodes', sequence, id)
  redis.call('ZADD', P .. 'episodes:' .. row.signature, sequence, id)
  drop_episodes(tonumber(ARGV[6]), id, now)
end
local flat = { 'status', status, 'changed_ms', int(now) }
for name, value in pairs(row) do flat[#flat + 1], flat[#flat + 2] = name, value end
redis.call('HSET', key, unpack(flat))
note_memory('recorded', run, status, { episode = id, signature = row.signature }, now)
return reply('ok')
