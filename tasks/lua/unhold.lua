#!lua flags=allow-oom
-- Let a held job start again.   ARGV: job, offer_ms, reserve_ms.   Answers: ok, refused {state}, unknown.
local job, now = get_job(ARGV[1]), now_ms()
if not job then return reply('unknown') end
if job.state ~= 'HELD' then return reply('refused', { state = job.state }) end
set_state(job, 'QUEUED', now)
back(job, now)
return reply('ok', { offers = admit(now, tonumber(ARGV[2]), tonumber(ARGV[3])) })
