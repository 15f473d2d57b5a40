#!lua flags=allow-oom
-- The one heartbeat of an attempt: extends the lease, stores progress and the newest checkpoint.
-- ARGV: job, attempt, claim id, lease_ms, progress JSON or '', checkpoint JSON or '', phase, JSON of the
--       last lines of output or '', JSON of all corrections or '',
--       JSON of the checkpoint that it began from although it is not the newest, 'scratch' for none, or ''.
-- Answers: ok, cancel, yield, fenced.
-- How often those who watch a run are told at most how far one of its jobs is.
local TELL_AGAIN_MS = 5000

local function tell_progress(job, attempt, progress, now)
  local before, text = unpack(redis.call('HMGET', attempt, 'told_ms', 'told'))
  if now - tonumber(before or '0') < TELL_AGAIN_MS or progress == text then return end
  redis.call('HSET', attempt, 'told_ms', int(now), 'told', progress)
  local head = cjson.encode({ job = job.id, label = job.label, attempt = tonumber(job.attempt) })
  append_event(job.run, 'progress', string.sub(head, 1, -2) .. ',"progress":' .. progress .. '}', now)
end

local id, n = ARGV[1], ARGV[2]
local job, now = get_job(id), now_ms()
local key = P .. 'attempt:' .. id .. ':' .. n
if not job or job.state ~= 'RUNNING' or job.attempt ~= n or redis.call('HGET', key, 'claim_id') ~= ARGV[3] then
  return reply('fenced')
end
redis.call('ZADD', P .. 'leased', int(now + tonumber(ARGV[4])), id)
if ARGV[5] ~= '' then
  put(job, { progress = ARGV[5] })
  redis.call('HSET', key, 'progress', ARGV[5])
  if (job.run or '') ~= '' then tell_progress(job, key, ARGV[5], now) end
end
if ARGV[6] ~= '' and ARGV[6] ~= job.checkpoint then
  local newest = tonumber(job.checkpoint_number or '-1')
  local number = cjson.decode(ARGV[6]).number
  if number > newest then put(job, { checkpoint_number = int(number), suspects = '' }) end
  put(job, { checkpoint_before = job.checkpoint or '', checkpoint = ARGV[6] })
  redis.call('HSET', key, 'checkpoint', ARGV[6])
end
redis.call('HSET', key, 'phase', ARGV[7], 'renewed_ms', int(now))
if ARGV[8] ~= '' then redis.call('HSET', key, 'last_lines', ARGV[8]) end
if ARGV[9] ~= '' then
  put(job, { corrections = ARGV[9] })
  redis.call('HSET', key, 'corrections', ARGV[9])
end
if (ARGV[10] or '') ~= '' then
  redis.call('HSET', key, 'checkpoint_from', ARGV[10] == 'scratch' and '' or ARGV[10])
end
if cancelled(job) then return reply('cancel') end
local stops = redis.call('HGET', P .. 'worker:' .. job.worker, 'state') == 'stopping'
if stops then return reply('yield') end
return reply('ok')
