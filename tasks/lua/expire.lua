#!lua flags=allow-oom
-- Take back what was not renewed; may be called by anybody at any time.
-- If the last call is older than a third of the lease, or time ran backwards, Redis was stopped, paused or restarted:
-- holders could not renew, so nothing is taken for one full lease.
-- ARGV: lease_ms, distinct hosts that make a job poison, offer_ms, reserve_ms.
-- Answers: ok {guarded, lost, gone_workers, runs}.
local now, lease = now_ms(), tonumber(ARGV[1])
local last = tonumber(redis.call('GET', P .. 'expire:last') or '-1')
local guard = tonumber(redis.call('GET', P .. 'expire:guard') or '0')
if last < 0 or now < last or now - last > lease / 3 then
  guard = now + lease
  redis.call('SET', P .. 'expire:guard', int(guard))
elseif guard > now + lease then -- the clock was set back far
  guard = now + lease
  redis.call('SET', P .. 'expire:guard', int(guard))
end
redis.call('SET', P .. 'expire:last', int(now))

for _, id in ipairs(redis.call('ZRANGEBYSCORE', P .. 'offered', 0, int(now), 'LIMIT', 0, 500)) do
  back(get_job(id), now)
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', P .. 'delayed', 0, int(now), 'LIMIT', 0, 500)) do
  local job = get_job(id)
  leave(job)
  enter_ready(job)
end

local lost, gone, runs = {}, {}, {}
if now >= guard then
  local taken = redis.call('ZRANGEBYSCORE', P .. 'leased', 0, int(now), 'LIMIT', 0, 200)
  local hosts = {}
  for _, id in ipairs(taken) do
    local n = redis.call('HGET', P .. 'job:' .. id, 'attempt')
    local host = redis.call('HGET', P .. 'attempt:' .. id .. ':' .. n, 'host')
    hosts[id] = host
    redis.call('ZADD', P .. 'lost:' .. host, int(now), id)
    redis.call('ZREMRANGEBYSCORE', P .. 'lost:' .. host, 0, int(now - lease))
    redis.call('PEXPIRE', P .. 'lost:' .. host, int(4 * lease))
  end
  for _, id in ipairs(taken) do
    local job, host = get_job(id), hosts[id]
    local attempt = read(P .. 'attempt:' .. id .. ':' .. job.attempt)
    lost[#lost + 1] = { job = id, attempt = tonumber(job.attempt), task_id = attempt.task_id,
      hostname = attempt.hostname, host = host, worker = attempt.worker }
    close_attempt(job, 'lost', now)
    -- Poison: distinct hosts taken down, alone each time, without the checkpoint advancing.
    local suspects, others = job.suspects or '', redis.call('ZRANGE', P .. 'lost:' .. host, 0, -1)
    if #others > 1 then -- the host went down, not this job: neither it nor its neighbours are suspected for that
      for _, other in ipairs(others) do
        local blamed = redis.call('HGET', P .. 'job:' .. other, 'suspects') or ''
        local cleared = {}
        for name in string.gmatch(blamed, '%S+') do
          if name ~= host then cleared[#cleared + 1] = name end
        end
        redis.call('HSET', P .. 'job:' .. other, 'suspects', table.concat(cleared, ' '))
      end
      suspects = redis.call('HGET', P .. 'job:' .. id, 'suspects')
    elseif not string.find(' ' .. suspects .. ' ', ' ' .. host .. ' ', 1, true) then
      suspects = suspects == '' and host or suspects .. ' ' .. host
    end
    put(job, { suspects = suspects })
    local _, count = string.gsub(suspects, '%S+', '')
    if count >= tonumber(ARGV[2]) and not cancelled(job) then
      local failure = { error_class = 'poison', evidence = {}, permanent = true,
        message = 'took ' .. count .. ' hosts down without its checkpoint advancing: ' .. suspects,
        remedy = 'Look at its last output on these hosts before you run it again.' }
      failure.evidence = { job.progress ~= '' and job.progress or 'no progress was reported' }
      finish(job, 'FAILED', now, { failure = cjson.encode(failure) })
    else
      back(job, now)
    end
  end
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', P .. 'workers', 0, int(now), 'LIMIT', 0, 100)) do
    local left = 0
    for _, job_id in ipairs(redis.call('HKEYS', P .. 'worker:' .. id .. ':held')) do
      local job = get_job(job_id)
      if job.place == 'offered' then back(job, now) else left = left + 1 end
    end
    if left == 0 then
      redis.call('ZREM', P .. 'workers', id)
      redis.call('HSET', P .. 'worker:' .. id, 'state', 'gone')
      redis.call('EXPIRE', P .. 'worker:' .. id, 7 * 86400)
      gone[#gone + 1] = id
    end
  end
  local holders = {}
  taken = redis.call('ZRANGEBYSCORE', P .. 'runs:leased', 0, int(now), 'LIMIT', 0, 200)
  for _, id in ipairs(taken) do
    local holder = redis.call('HGET', P .. 'run:' .. id, 'holder')
    holders[holder] = (holders[holder] or 0) + 1
  end
  for _, id in ipairs(taken) do
    local run = read(P .. 'run:' .. id)
    redis.call('ZREM', P .. 'runs:leased', id)
    redis.call('ZREM', P .. 'runs:state:ACTIVE', id)
    redis.call('ZADD', P .. 'runs:state:QUEUED', run.sequence, id)
    redis.call('ZADD', P .. 'runs:ready', int(now), id)
    local down = tonumber(run.takedowns or 0) + (holders[run.holder] == 1 and 1 or 0)
    redis.call('HSET', P .. 'run:' .. id, 'state', 'QUEUED', 'changed_ms', int(now), 'takedowns', int(down))
    runs[#runs + 1] = id
  end
end
return reply('ok', { guarded = now < guard, lost = lost, gone_workers = gone, runs = runs,
  offers = admit(now, tonumber(ARGV[3]), tonumber(ARGV[4])) })
