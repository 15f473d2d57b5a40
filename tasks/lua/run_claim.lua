#!lua flags=allow-oom
-- Take the run that has been ready longest, under a new epoch; the only script that raises epochs.
-- The same claim id asks again when its reply was lost, and is answered the same run.
-- ARGV: orchestrator, lease_ms, take-downs that make a run poison, claim id.
-- Answers: ok {run, inbox}, none, poison {run}.
local now, claims = now_ms(), P .. 'claims:' .. ARGV[1]
local before, mine, epoch = unpack(redis.call('HMGET', claims, 'claim_id', 'run', 'epoch'))
if before == ARGV[4] and holds_run(mine, epoch) then
  local run = read(P .. 'run:' .. mine)
  return reply(tonumber(run.takedowns) >= tonumber(ARGV[3]) and 'poison' or 'ok',
    { run = run, inbox = redis.call('LRANGE', P .. 'run:' .. mine .. ':inbox', 0, 99) })
end
local id = redis.call('ZRANGE', P .. 'runs:ready', 0, 0)[1]
if not id then return reply('none') end
local run = read(P .. 'run:' .. id)
redis.call('ZREM', P .. 'runs:ready', id)
redis.call('ZREM', P .. 'runs:state:' .. run.state, id)
redis.call('ZADD', P .. 'runs:state:ACTIVE', run.sequence, id)
redis.call('ZADD', P .. 'runs:leased', int(now + tonumber(ARGV[2])), id)
run.epoch = redis.call('HINCRBY', P .. 'run:' .. id, 'epoch', 1)
run.state = 'ACTIVE'
redis.call('HSET', claims, 'claim_id', ARGV[4], 'run', id, 'epoch', run.epoch)
redis.call('PEXPIRE', claims, ARGV[2])
-- What the run was waiting in is answered this once: whoever claims it after a crash looks for himself.
redis.call('HSET', P .. 'run:' .. id, 'state', 'ACTIVE', 'holder', ARGV[1], 'changed_ms', int(now), 'interrupts', '')
local answer = tonumber(run.takedowns) >= tonumber(ARGV[3]) and 'poison' or 'ok'
return reply(answer, { run = run, inbox = redis.call('LRANGE', P .. 'run:' .. id .. ':inbox', 0, 99) })
