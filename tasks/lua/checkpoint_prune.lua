#!lua flags=allow-oom
-- Delete checkpoints that are no longer needed, under the run's epoch, and never the pointer's target.
-- ARGV: run, epoch, pointer key, JSON list of keys.   Answers: ok {deleted}, fenced.
if not holds_run(ARGV[1], ARGV[2]) then return reply('fenced') end
local target, deleted = redis.call('GET', ARGV[3]), 0
for _, key in ipairs(cjson.decode(ARGV[4])) do
  if key ~= target then deleted = deleted + redis.call('DEL', key) end
end
return reply('ok', { deleted = deleted })
