#!lua flags=allow-oom
-- Read the first entries of a run's inbox and which of its batches are complete, under its epoch.
-- ARGV: run, epoch, JSON list of batches.   Answers: ok {inbox, complete}, fenced.
if not holds_run(ARGV[1], ARGV[2]) then return reply('fenced') end
local complete = {}
for _, id in ipairs(cjson.decode(ARGV[3])) do
  if batch_complete(id) then complete[#complete + 1] = id end
end
return reply('ok', { complete = complete, inbox = redis.call('LRANGE', P .. 'run:' .. ARGV[1] .. ':inbox', 0, 99) })
