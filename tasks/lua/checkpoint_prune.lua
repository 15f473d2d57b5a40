#!lua flags=allow-oom
-- Delete all but the newest checkpoints of a run with their pending writes, under its epoch, and never the pointer's
-- target.   ARGV: run, epoch, pointer key, how many to keep.   Answers: ok {deleted}, fenced.
local id = ARGV[1]
if not holds_run(id, ARGV[2]) then return reply('fenced') end
local known, target, deleted = P .. 'run:' .. id .. ':checkpoints', redis.call('GET', ARGV[3]), 0
for _, text in ipairs(redis.call('ZRANGE', known, 0, -1 - tonumber(ARGV[4]))) do
  local key, registry = unpack(cjson.decode(text))
  if key ~= target then
    for _, write in ipairs(redis.call('ZRANGE', registry, 0, -1)) do redis.call('DEL', write) end
    redis.call('DEL', key, registry)
    redis.call('ZREM', known, text)
    deleted = deleted + 1
  end
end
return reply('ok', { deleted = deleted })
