#!lua flags=allow-oom
-- Give a job back without a result: failed (uses up the failure budget), preempted or walltime (does not), or host: its
-- program did not start. That is the worker's fault, which is quarantined after so many in a row; a job that does not
-- start on so many hosts is itself to blame.
-- ARGV: job, attempt, claim id, how, failure JSON or '', delay_ms, failure budget, offer_ms, reserve_ms, failed starts in
--       a row that quarantine a worker, hosts on which a job may not start.   Answers: ok {state}, same {state}, fenced.
local id, n, how = ARGV[1], ARGV[2], ARGV[4]
local job, now = get_job(id), now_ms()
if not job then return reply('fenced') end
local answer, attempt = may_speak(job, n, ARGV[3])
if answer == 'yes' and job.state ~= 'RUNNING' and how ~= 'failed' then answer = 'fenced' end
if answer ~= 'yes' then return reply(answer, { state = job.state }) end
local worker = P .. 'worker:' .. attempt.worker
if how == 'host' then
  local failure, hosts = cjson.decode(ARGV[5]), job.fault_hosts or ''
  if redis.call('EXISTS', worker) == 1 and redis.call('HINCRBY', worker, 'failed_starts', 1) >= tonumber(ARGV[10])
    and redis.call('HGET', worker, 'state') == 'active' then
    redis.call('HSET', worker, 'state', 'quarantined', 'reason', ARGV[10] .. ' jobs in a row did not start: ' .. failure.message)
    take_offers_back(attempt.worker, now)
  end
  if not string.find(' ' .. hosts .. ' ', ' ' .. attempt.host .. ' ', 1, true) then
    hosts = hosts == '' and attempt.host or hosts .. ' ' .. attempt.host
    put(job, { fault_hosts = hosts })
  end
  local _, count = string.gsub(hosts, '%S+', '')
  if count >= tonumber(ARGV[11]) then how = 'failed' end
else
  redis.call('HDEL', worker, 'failed_starts')
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
