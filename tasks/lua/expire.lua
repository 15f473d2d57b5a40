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

-- A clock that was ahead has left moments behind that it reaches again only much later: nothing is held for longer than
-- it could have been from now on, and what waits is moved along with the clock.
local function cap(set, latest)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', P .. set, '(' .. int(latest), '+inf', 'LIMIT', 0, 1000)) do
    redis.call('ZADD', P .. set, int(latest), id)
  end
end
cap('leased', now + lease)
cap('workers', now + lease)
cap('runs:leased', now + lease)
cap('offered', now + tonumber(ARGV[3]))
if now < last then
  local rows = redis.call('ZRANGE', P .. 'delayed', 0, -1, 'WITHSCORES')
  for i = 1, #rows, 2 do redis.call('ZADD', P .. 'delayed', int(tonumber(rows[i + 1]) - (last - now)), rows[i]) end
end

for _, id in ipairs(redis.call('ZRANGEBYSCORE', P .. 'offered', 0, int(now), 'LIMIT', 0, 500)) do
  local job = get_job(id)
  put(job, { lapsed = job.worker })
  back(job, now)
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', P .. 'delayed', 0, int(now), 'LIMIT', 0, 500)) do
  local job = get_job(id)
  leave(job)
  enter_ready(job)
end

-- Which holders are silent as a whole? A host or an orchestrator that dies takes all its leases along, but they end at
-- different moments, up to a beat apart. So a lease counts as silent when half of it has passed without a renewal, and
-- one that ended within the last lease is remembered in `lost:<holder>`. What is lost together is not to blame.
local function silence(leases, holder_of)
  local of, count = {}, {}
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', leases, 0, int(now + lease / 2), 'LIMIT', 0, 1000)) do
    of[id] = holder_of(id)
    count[of[id]] = (count[of[id]] or 0) + 1
  end
  return of, count
end

local function lost_before(holder, id)
  local key = P .. 'lost:' .. holder
  redis.call('ZREMRANGEBYSCORE', key, 0, int(now - lease))
  return redis.call('ZCARD', key) > (redis.call('ZSCORE', key, id) and 1 or 0)
end

local function remember(holder, id)
  redis.call('ZADD', P .. 'lost:' .. holder, int(now), id)
  redis.call('PEXPIRE', P .. 'lost:' .. holder, int(lease))
end

-- What a job that took hosts down last said on each of them.
local function last_words(job, suspects)
  local words = {}
  for n = 1, tonumber(job.attempt) do
    local a = read(P .. 'attempt:' .. job.id .. ':' .. n)
    if a.how == 'lost' and string.find(' ' .. suspects .. ' ', ' ' .. a.host .. ' ', 1, true) then
      local lines = a.last_lines and cjson.decode(a.last_lines) or {}
      if #lines == 0 and (a.progress or '') ~= '' then lines = { cjson.decode(a.progress).text } end
      if #lines == 0 then lines = { 'no output was seen' } end
      for _, line in ipairs(lines) do words[#words + 1] = a.host .. ': ' .. line end
    end
  end
  return words
end

local lost, gone, runs = {}, {}, {}
if now >= guard then
  local hosts, silent = silence(P .. 'leased', function(id)
    return redis.call('HGET', P .. 'attempt:' .. id .. ':' .. get_job(id).attempt, 'host')
  end)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', P .. 'leased', 0, int(now), 'LIMIT', 0, 200)) do
    local job, host = get_job(id), hosts[id]
    local attempt = read(P .. 'attempt:' .. id .. ':' .. job.attempt)
    lost[#lost + 1] = { job = id, attempt = tonumber(job.attempt), task_id = attempt.task_id,
      hostname = attempt.hostname, host = host, worker = attempt.worker }
    close_attempt(job, 'lost', now)
    -- Poison: distinct hosts taken down, alone each time, without the checkpoint advancing.
    local suspects = job.suspects or ''
    local known = string.find(' ' .. suspects .. ' ', ' ' .. host .. ' ', 1, true)
    if silent[host] == 1 and not known and not lost_before(host, id) then
      suspects = suspects == '' and host or suspects .. ' ' .. host
      put(job, { suspects = suspects })
    end
    remember(host, id)
    local _, count = string.gsub(suspects, '%S+', '')
    if count >= tonumber(ARGV[2]) and not cancelled(job) then
      local failure = { error_class = 'poison', evidence = last_words(job, suspects), permanent = true,
        message = 'took ' .. count .. ' hosts down without its checkpoint advancing: ' .. suspects,
        remedy = 'Look at its last output on these hosts before you run it again.' }
      finish(job, 'FAILED', now, { failure = cjson.encode(failure) })
    else
      back(job, now)
    end
  end
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', P .. 'workers', 0, int(now), 'LIMIT', 0, 100)) do
    if take_offers_back(id, now) == 0 then
      redis.call('ZREM', P .. 'workers', id)
      redis.call('HSET', P .. 'worker:' .. id, 'state', 'gone')
      redis.call('EXPIRE', P .. 'worker:' .. id, 7 * 86400)
      gone[#gone + 1] = id
    end
  end
  local holders
  holders, silent = silence(P .. 'runs:leased', function(id)
    return 'orchestrator:' .. redis.call('HGET', P .. 'run:' .. id, 'holder')
  end)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', P .. 'runs:leased', 0, int(now), 'LIMIT', 0, 200)) do
    local key, holder = P .. 'run:' .. id, holders[id]
    redis.call('ZREM', P .. 'runs:leased', id)
    redis.call('ZREM', P .. 'runs:state:ACTIVE', id)
    redis.call('ZADD', P .. 'runs:state:QUEUED', redis.call('HGET', key, 'sequence'), id)
    make_ready(id, now)
    redis.call('HSET', key, 'state', 'QUEUED', 'changed_ms', int(now))
    if silent[holder] == 1 and not lost_before(holder, id) then redis.call('HINCRBY', key, 'takedowns', 1) end
    remember(holder, id)
    runs[#runs + 1] = id
  end
end
return reply('ok', { guarded = now < guard, lost = lost, gone_workers = gone, runs = runs,
  offers = admit(now, tonumber(ARGV[3]), tonumber(ARGV[4])) })
