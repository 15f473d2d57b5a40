#!lua flags=allow-oom
-- Let a job wait for a batch of its children without holding a slot; a complete batch requeues it at once (rule 3).
-- ARGV: job, attempt, claim id, batch, offer_ms, reserve_ms.   Answers: ok {state}, same {state}, fenced, unknown.
local id, n, batch = ARGV[1], ARGV[2], ARGV[4]
local job, now = get_job(id), now_ms()
if not job then return reply('fenced') end
local answer = may_speak(job, n, ARGV[3])
if answer == 'yes' and job.state ~= 'RUNNING' then answer = 'fenced' end
if answer ~= 'yes' then return reply(answer, { state = job.state }) end
if redis.call('HGET', P .. 'batch:' .. batch, 'waiter_job') ~= id then return reply('unknown') end
close_attempt(job, 'parked', now)
put(job, { parked_on = batch }) -- its next attempt reads what became of them, also if it need not wait
if cancelled(job) then
  finish(job, 'CANCELLED', now)
elseif batch_complete(batch) then
  back(job, now)
else
  set_state(job, 'PARKED', now)
end
return reply('ok', { state = job.state, offers = admit(now, tonumber(ARGV[5]), tonumber(ARGV[6])) })
