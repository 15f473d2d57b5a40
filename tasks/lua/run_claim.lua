#!lua flags=allow-oom
-- Take the run that has been ready longest, under a new epoch; the only script that raises epochs.
-- The same claim id asks again when its reply was lost, and is answered the same run.
-- ARGV: orchestrator, lease_ms, take-downs that make a run poison, claim id.
-- Answers: ok {run, inbox}, none, poison {run}.
local now, claims = now_ms(), P .. 'claims:' .. ARGV[1]
local before, mine = unpack(redis.call('HMGET', claims, 'claim_id', 'run'))
if before == ARGV[4] then
  local run = read(P .. 'run:' .. mine)
  return reply(tonumber(run.takedowns) >= tonumber(ARGV[3]) and 'poison' or 'ok',
    { run = run, inbox = redis.call('LRANGE', P .. 'run:' .. mine .. ':inbox', 0, 99) })
end
local id = redis.call('ZRANGE', P .. 'runs:ready', 0, 0)[1]
if not id then return reply('none') end
local run = read(P .. 'run:' .. id)
redis.call('ZREM', P .. 'runs:ready', id)
redis.call('HSET', claims, 'claim_id', ARGV[4], 'run', id)
redis.call('PEXPIRE', claims, ARGV[2])
redis.call('ZREM', P .. 'runs:state:' .. run.state, id)
redis.call('ZADD', P .. 'runs:state:ACTIVE', run.sequence, id)
redis.call('ZADD', P .. 'runs:leased', int(now + tonumber(ARGV[2])), id)
redis.call('HINCRBY', P .. 'run:' .. id, 'epoch', 1)
redis.call('HSET', P .. 'run:' .. id, 'state', 'ACTIVE', 'holder', ARGV[1], 'changed_ms', int(now))
local answer = tonumber(run.takedowns) >= tonumber(ARGV[3]) and 'poison' or 'ok'
return reply(answer, { run = read(P .. 'run:' .. id), inbox = redis.call('LRANGE', P .. 'run:' .. id .. ':inbox', 0, 99) })
