#!lua flags=allow-oom
-- Say how an attempt ended for good; late, it counts only from the newest attempt that was closed as lost (rule 11).
-- ARGV: job, attempt, claim id, state, accepted attempt, how, JSON of fields for the record, offer_ms, reserve_ms.
-- An accepted attempt other than the caller's is one whose outcome was found on disk (rule 10: closed as lost).
-- Answers: ok {state}, same {state}, fenced, not_lost.
local id, n, state, accepted = ARGV[1], ARGV[2], ARGV[4], ARGV[5]
local job, now = get_job(id), now_ms()
if not job then return reply('fenced') end
local answer, attempt = may_speak(job, n, ARGV[3])
if answer ~= 'yes' then return reply(answer, { state = job.state }) end
local how_then = redis.call('HGET', P .. 'attempt:' .. id .. ':' .. accepted, 'how')
if accepted ~= n and (how_then ~= 'lost' or state ~= 'SUCCEEDED') then
  return reply('not_lost', { state = job.state })
end
local how, fields = ARGV[6], cjson.decode(ARGV[7])
if state == 'SUCCEEDED' then
  fields.accepted_attempt = accepted
  worker_is_well(attempt.worker, now)
end
if job.state ~= 'RUNNING' and cancelled(job) then
  state, how, fields = 'CANCELLED', 'cancelled', {}
elseif state == 'FAILED' and cancelled(job) then
  state = 'CANCELLED' -- as `requeue` ends it (rule 2); why it failed is kept
end
close_attempt(job, how, now)
if accepted ~= n then redis.call('HSET', P .. 'attempt:' .. id .. ':' .. accepted, 'adopted_by', n) end
finish(job, state, now, fields)
return reply('ok', { state = state, offers = admit(now, tonumber(ARGV[8]), tonumber(ARGV[9])) })
