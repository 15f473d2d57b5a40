#!lua flags=allow-oom
-- Say why a job has not started.   ARGV: job.
-- Answers: ok {state, place, queue, declared, ahead, cores, memory_mb, workers: [{id, host, serves, state, reason, cores, memory_mb,
--          free_cores, free_memory_mb, workspace_seen, licence ({name, count} of the queue, if all are taken)}], delayed_until_ms, now_ms}, unknown.
local job, now = get_job(ARGV[1]), now_ms()
if not job then return reply('unknown') end
local workers = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', P .. 'workers', int(now), '+inf')) do
  local w = load_worker(id)
  if w then
    local serves = false
    for _, queue in ipairs(cjson.decode(w.queues)) do serves = serves or queue == job.queue end
    workers[#workers + 1] = { id = id, host = w.host, serves = serves, state = w.state, reason = w.reason or '', cores = tonumber(w.cores),
      memory_mb = tonumber(w.memory_mb), free_cores = w.free_cores, free_memory_mb = w.free_memory,
      workspace_seen = w.workspace_seen == '1', licence = not licence_left(w, job.queue) and w.licences[job.queue] or nil }
  end
end
local ahead = 0
if job.place == 'ready' then
  local rank = (9 - tonumber(job.priority)) * 1e14 + tonumber(job.sequence)
  for _, owner in ipairs(redis.call('SMEMBERS', P .. 'ready:' .. job.queue)) do
    ahead = ahead + redis.call('ZCOUNT', P .. 'ready:' .. job.queue .. ':' .. owner, '-inf', '(' .. int(rank))
  end
end
return reply('ok', { state = job.state, place = job.place, queue = job.queue, ahead = ahead,
  declared = redis.call('HEXISTS', P .. 'declared', job.queue) == 1, workers = workers,
  cores = tonumber(job.cores), memory_mb = tonumber(job.memory_mb), now_ms = now,
  delayed_until_ms = tonumber(redis.call('ZSCORE', P .. 'delayed', job.id) or '0') })
