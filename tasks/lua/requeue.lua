#!lua flags=allow-oom
-- Give a job back without a result: failed (uses up the failure budget), preempted or walltime (does not), or host: its
-- program did not start, or was broken off by the host. A worker with so many such jobs in a row, or twice as many such
-- attempts of fewer jobs, is quarantined. Broken disks (class `host`) are never held against the job; anything else is,
-- where it came so on so many hosts, or where its program did not start on a worker that has proven well since it did
-- not start there before.
-- ARGV: job, attempt, claim id, how, failure JSON or '', delay_ms, failure budget, offer_ms, reserve_ms, jobs in a
--       row that quarantine a worker, hosts that a job may blame.   Answers: ok {state}, same {state}, fenced.
local id, n, how = ARGV[1], ARGV[2], ARGV[4]
local job, now = get_job(id), now_ms()
if not job then return reply('fenced') end
local answer, attempt = may_speak(job, n, ARGV[3])
if answer == 'yes' and job.state ~= 'RUNNING' and how ~= 'failed' then answer = 'fenced' end
if answer ~= 'yes' then return reply(answer, { state = job.state }) end
local worker = P .. 'worker:' .. attempt.worker
if how == 'host' then
  local failure = cjson.decode(ARGV[5])
  local state, row, well = unpack(redis.call('HMGET', worker, 'state', 'failed_starts', 'well_ms'))
  if state then
    local blaming, count = with_word(row or '', id)
    redis.call('HSET', worker, 'failed_starts', blaming)
    local faults, limit = redis.call('HINCRBY', worker, 'faults', 1), tonumber(ARGV[10])
    if (count >= limit or faults >= 2 * limit) and state == 'active' then
      local many = count >= limit and int(count) .. ' jobs' or int(faults) .. ' attempts'
      local what = failure.before_start and ' in a row did not start: ' or ' in a row were broken off here: '
      redis.call('HSET', worker, 'state', 'quarantined', 'reason', many .. what .. failure.message)
      take_offers_back(attempt.worker, now)
    end
  end
  if failure.error_class ~= 'host' then
    local hosts, count = with_word(job.fault_hosts or '', attempt.host)
    put(job, { fault_hosts = hosts })
    local again = failure.before_start and job.fault_worker == attempt.worker
    if count >= tonumber(ARGV[11]) or again and tonumber(well or '0') > tonumber(job.fault_ms) then how = 'failed' end
    put(job, { fault_worker = attempt.worker, fault_ms = int(now) })
  end
  put(job, { faults = int(tonumber(job.faults or '0') + 1), lapsed = attempt.worker }) -- others are asked first
else
  worker_is_well(attempt.worker, now)
  put(job, { faults = '0' })
end
close_attempt(job, how, now)
if ARGV[5] ~= '' then
  redis.call('HSET', P .. 'attempt:' .. id .. ':' .. n, 'failure', ARGV[5])
  put(job, { failure = ARGV[5] })
end
if how == 'failed' then put(job, { failures = int(tonumber(job.failures) + 1) }) end
if how == 'failed' and tonumber(job.failures) >= tonumber(ARGV[7]) then
  finish(job, cancelled(job) and 'CANCELLED' or 'FAILED', now)
else
  back(job, now, tonumber(ARGV[6]))
end
return reply('ok', { state = job.state, offers = admit(now, tonumber(ARGV[8]), tonumber(ARGV[9])) })
