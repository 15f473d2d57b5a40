#!lua flags=allow-oom
-- A worker takes no more work (draining), gives back what it runs as well (stopping: renewals answer yield), or
-- leaves (gone): offers that it did not take go to others.
-- ARGV: worker, state, offer_ms, reserve_ms.   Answers: ok, unknown.
local id, now = ARGV[1], now_ms()
if redis.call('EXISTS', P .. 'worker:' .. id) == 0 then return reply('unknown') end
redis.call('HSET', P .. 'worker:' .. id, 'state', ARGV[2])
local left = 0
for _, job_id in ipairs(redis.call('HKEYS', P .. 'worker:' .. id .. ':held')) do
  local job = get_job(job_id)
  if job.place == 'offered' then back(job, now) else left = left + 1 end
end
if ARGV[2] == 'gone' and left == 0 then
  redis.call('ZREM', P .. 'workers', id)
  redis.call('EXPIRE', P .. 'worker:' .. id, 7 * 86400)
end
return reply('ok', { offers = admit(now, tonumber(ARGV[3]), tonumber(ARGV[4])) })
