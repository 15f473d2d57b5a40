#!lua
-- Put a chunk of jobs into a batch that is open; a job that exists already is left as it is (DESIGN, rules 1 and 7).
-- A batch of one chunk is opened, filled and sealed by this one call.
-- ARGV: batch, epoch, parent attempt, parent claim, memory share above which it is refused, JSON list of records,
--       offer_ms, reserve_ms, JSON record of the batch to be opened and sealed or ''.
-- Answers: ok {created}, fenced, unknown, sealed, full, conflict {job} or {manifest_hash}, incomplete {jobs, count}.
local batch_id, epoch, n, claim, share, rows = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), cjson.decode(ARGV[6])
local whole = ARGV[9] ~= '' and cjson.decode(ARGV[9]) or nil
local batch = whole or read(P .. 'batch:' .. batch_id)
if not batch then return reply('unknown') end
if not owner_holds(batch, epoch, n, claim) then return reply('fenced') end
local short = memory_is_short(share)
if short then return reply('full', short) end
local now, created = now_ms(), 0
if whole then
  local answer, more = open_batch(batch_id, whole, now)
  if answer ~= 'ok' then return reply(answer, more) end
  batch = read(P .. 'batch:' .. batch_id)
end
for _, row in ipairs(rows) do
  local old = get_job(row.id)
  if old and old.batch ~= batch_id then return reply('conflict', { job = row.id }) end
  if not old and batch.sealed == '1' then return reply('sealed') end
end
for _, row in ipairs(rows) do
  if not get_job(row.id) then
    local sequence = int(redis.call('INCR', P .. 'sequence'))
    local job = { id = row.id }
    row.sequence, row.batch, row.created_ms, row.queued_ms = sequence, batch_id, int(now), int(now)
    row.attempt, row.failures, row.place, row.offers, row.cancel_requested = '0', '0', '', '0', '0'
    put(job, row)
    redis.call('ZADD', P .. 'jobs', sequence, job.id)
    redis.call('ZADD', P .. 'owner:' .. job.owner, sequence, job.id)
    redis.call('ZADD', P .. 'queue:' .. job.queue, sequence, job.id)
    if job.run ~= '' then redis.call('ZADD', P .. 'run-jobs:' .. job.run, sequence, job.id) end
    redis.call('ZADD', P .. 'batch:' .. batch_id .. ':jobs', job.batch_index, job.id)
    created = created + 1
    if batch.cancel_mark == '1' then
      finish(job, 'CANCELLED', now)
    else
      redis.call('SADD', P .. 'batch:' .. batch_id .. ':open', job.id)
      set_state(job, 'QUEUED', now)
      enter_ready(job)
    end
  end
end
local offers = admit(now, tonumber(ARGV[7]), tonumber(ARGV[8]))
if whole then
  local answer, more = seal_batch(batch_id, now)
  if answer ~= 'ok' then
    more.offers = offers
    return reply(answer, more)
  end
end
return reply('ok', { created = created, offers = offers })
