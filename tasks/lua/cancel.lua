#!lua flags=allow-oom
-- End a waiting job at once, and ask a running one to stop.
-- ARGV: job, offer_ms, reserve_ms.   Answers: ok {state}, requested, already {state}, unknown.
local job, now = get_job(ARGV[1]), now_ms()
if not job then return reply('unknown') end
if ENDED[job.state] then return reply('already', { state = job.state }) end
if job.state == 'RUNNING' then
  put(job, { cancel_requested = '1' })
  return reply('requested', { state = job.state })
end
local task_id = job.place == 'offered' and job.task_id or ''
finish(job, 'CANCELLED', now)
return reply('ok', { state = job.state, task_id = task_id, offers = admit(now, tonumber(ARGV[2]), tonumber(ARGV[3])) })
