#!lua flags=allow-oom
-- Say that a batch has all its jobs; it is complete when sealed and empty.
-- ARGV: batch, epoch, parent attempt, parent claim.   Answers: ok, fenced, unknown, incomplete {jobs, count}.
local id = ARGV[1]
local batch = read(P .. 'batch:' .. id)
if not batch then return reply('unknown') end
if batch.sealed == '1' then return reply('ok') end
if not owner_holds(batch, ARGV[2], ARGV[3], ARGV[4]) then return reply('fenced') end
local jobs = redis.call('ZCARD', P .. 'batch:' .. id .. ':jobs')
if jobs ~= tonumber(batch.count) then return reply('incomplete', { jobs = jobs, count = tonumber(batch.count) }) end
redis.call('HSET', P .. 'batch:' .. id, 'sealed', '1')
tell(id, now_ms())
return reply('ok')
