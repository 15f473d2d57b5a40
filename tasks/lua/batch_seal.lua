#!lua flags=allow-oom
-- Say that a batch has all its jobs.
-- ARGV: batch, epoch, parent attempt, parent claim.   Answers: ok, fenced, unknown, incomplete {jobs, count}.
local batch = read(P .. 'batch:' .. ARGV[1])
if not batch then return reply('unknown') end
if batch.sealed ~= '1' and not owner_holds(batch, ARGV[2], ARGV[3], ARGV[4]) then return reply('fenced') end
return reply(seal_batch(ARGV[1], now_ms()))
