#!lua flags=allow-oom
-- Turn an offer into a lease: the only script that allots attempts. Checks the worker's room again.
-- ARGV: job, worker, claim id, task id, lease_ms, offer_ms, reserve_ms.
-- Answers: ok {attempt, job, earlier}, gone, cancelled, no_room, unknown.
local id, worker, claim, task_id = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local job, now = get_job(id), now_ms()
if not job then return reply('unknown') end
if job.state == 'RUNNING' and job.worker == worker
  and redis.call('HGET', P .. 'attempt:' .. id .. ':' .. job.attempt, 'claim_id') == claim then
  -- the reply was lost, and the same claim asks again
elseif job.state ~= 'QUEUED' or job.place ~= 'offered' or job.worker ~= worker or job.task_id ~= task_id then
  local ended_here = job.state == 'CANCELLED' and job.task_id == task_id -- so that Flower does not show it as rejected
  return reply(ended_here and 'cancelled' or 'gone', { state = job.state })
else
  if cancelled(job) then
    finish(job, 'CANCELLED', now)
    return reply('cancelled', { offers = admit(now, tonumber(ARGV[6]), tonumber(ARGV[7])) })
  end
  local w = load_worker(worker) -- the offer itself is among what it holds
  if not w or w.free_cores < 0 or w.free_memory < 0 then
    back(job, now)
    return reply('no_room', { offers = admit(now, tonumber(ARGV[6]), tonumber(ARGV[7])) })
  end
  leave(job)
  enter_worker(job, 'leased', worker, now + tonumber(ARGV[5]), job.licence or '')
  local n = int(tonumber(job.attempt) + 1)
  put(job, { attempt = n, claimed_ms = int(now), progress = '' })
  if n == '1' then put(job, { started_ms = int(now) }) end
  set_state(job, 'RUNNING', now)
  redis.call('HSET', P .. 'attempt:' .. id .. ':' .. n, 'attempt', n, 'claim_id', claim, 'worker', worker,
    'host', w.host, 'hostname', w.hostname, 'task_id', task_id, 'started_ms', int(now), 'how', 'open',
    'checkpoint_from', job.checkpoint or '')
end
local earlier = {}
for n = 1, tonumber(job.attempt) - 1 do
  local a = redis.call('HMGET', P .. 'attempt:' .. id .. ':' .. n, 'claim_id', 'how')
  earlier[#earlier + 1] = { attempt = n, claim_id = a[1], how = a[2] }
end
return reply('ok', { attempt = tonumber(job.attempt), job = job, earlier = earlier })
