#!lua flags=allow-oom
-- Give a job back without a result: failed (uses up the failure budget), preempted or walltime (does not).
-- ARGV: job, attempt, claim id, how, failure JSON or '', delay_ms, failure budget, offer_ms, reserve_ms.
-- Answers: ok {state}, same {state}, fenced.
local id, n, how = ARGV[1], ARGV[2], ARGV[4]
local job, now = get_job(id), now_ms()
if not job then return reply('fenced') end
local answer = may_speak(job, n, ARGV[3])
if answer == 'yes' and job.state ~= 'RUNNING' and how ~= 'failed' then answer = 'fenced' end
if answer ~= 'yes' then return reply(answer, { state = job.state }) end
close_attempt(job, how, now)
if ARGV[5] ~= '' then
  redis.call('HSET', P .. 'attempt:' .. id .. ':' .. n, 'failure', ARGV[5])
  put(job, { failure = ARGV[5] })
end
if how == 'failed' then put(job, { failures = int(tonumber(job.failures) + 1) }) end
if how == 'failed' and tonumber(job.failures) >= tonumber(ARGV[7]) then
  finish(job, cancelled(job) and 'CANCELLED' or 'FAILED', now)
else
  back(job, now, tonumber(ARGV[6]))
end
return reply('ok', { state = job.state, offers = admit(now, tonumber(ARGV[8]), tonumber(ARGV[9])) })
