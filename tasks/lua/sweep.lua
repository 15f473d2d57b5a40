#!lua flags=allow-oom
-- End what still waits in cancelled batches, at most so many jobs a call; running ones are told by their renewal, and
-- end CANCELLED when they are given back.
-- ARGV: most jobs, offer_ms, reserve_ms.   Answers: ok {swept, more}.
local now, left, swept = now_ms(), tonumber(ARGV[1]), 0
for _, id in ipairs(redis.call('SMEMBERS', P .. 'sweep')) do
  local clean = true
  for _, job_id in ipairs(redis.call('SMEMBERS', P .. 'batch:' .. id .. ':open')) do
    local job = get_job(job_id)
    if job.state == 'RUNNING' then
      put(job, { cancel_requested = '1' })
    elseif swept < left then
      finish(job, 'CANCELLED', now)
      swept = swept + 1
    else
      clean = false
      break
    end
  end
  if not clean then break end
  redis.call('SREM', P .. 'sweep', id)
end
local offers = swept > 0 and admit(now, tonumber(ARGV[2]), tonumber(ARGV[3])) or {}
return reply('ok', { swept = swept, more = redis.call('EXISTS', P .. 'sweep') == 1, offers = offers })
