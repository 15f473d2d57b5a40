#!lua flags=allow-oom
-- Delete all but the newest checkpoints of a run, under its epoch, and never the pointer's target. Only the newest
-- keeps its pending writes: those of older ones are in the checkpoint that followed.
-- ARGV: run, epoch, pointer key, how many to keep.   Answers: ok {deleted}, fenced.
local id = ARGV[1]
if not holds_run(id, ARGV[2]) then return reply('fenced') end
local known, target, deleted = P .. 'run:' .. id .. ':checkpoints', redis.call('GET', ARGV[3]), 0
local rows = redis.call('ZRANGE', known, 0, -1)
for place, text in ipairs(rows) do
  local key, registry = unpack(cjson.decode(text))
  if key ~= target then
    for _, write in ipairs(redis.call('ZRANGE', registry, 0, -1)) do redis.call('DEL', write) end
    redis.call('DEL', registry)
    if place <= #rows - tonumber(ARGV[4]) then
      redis.call('DEL', key)
      redis.call('ZREM', known, text)
      deleted = deleted + 1
    end
  end
end
return reply('ok', { deleted = deleted })
