#!lua flags=allow-oom
-- Keep a waiting job from starting.   ARGV: job, offer_ms, reserve_ms.   Answers: ok, already, refused {state}, unknown.
local job, now = get_job(ARGV[1]), now_ms()
if not job then return reply('unknown') end
if job.state == 'HELD' then return reply('already') end
if job.state ~= 'QUEUED' then return reply('refused', { state = job.state }) end
leave(job)
set_state(job, 'HELD', now)
return reply('ok', { offers = admit(now, tonumber(ARGV[2]), tonumber(ARGV[3])) })
