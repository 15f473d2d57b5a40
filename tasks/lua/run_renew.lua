#!lua flags=allow-oom
-- Extend the hold on a run.   ARGV: run, epoch, lease_ms.   Answers: ok {cancel}, fenced.
local id = ARGV[1]
if not holds_run(id, ARGV[2]) then return reply('fenced') end
redis.call('ZADD', P .. 'runs:leased', int(now_ms() + tonumber(ARGV[3])), id)
return reply('ok', { cancel = redis.call('HGET', P .. 'run:' .. id, 'cancel_requested') == '1' })
