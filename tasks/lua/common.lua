-- What every script begins with: the layout of the keys, and the functions that more than one script needs.
-- KEYS[1] is the prefix of all keys (one Redis, no cluster); times are milliseconds of the Redis server's clock.
--
--   sequence                     counter; gives every job, batch and run its age
--   job:<id>                     hash: the job's record (tasks/records.py); `place` names the one set it stands in
--   attempt:<job>:<n>            hash: one attempt; `how` is open, lost, done, failed, preempted, walltime, host,
--                                parked, cancelled
--   job:<id>:batches             set: batches that this job filled with children
--   jobs, state:<STATE>, owner:<owner>, queue:<queue>, run-jobs:<run>
--                                sorted sets job -> sequence, for listings (queue: only jobs that have not ended)
--   queues                       set: queues with a ready job
--   ready:<queue>                set: owners with a ready job in that queue
--   ready:<queue>:<owner>        sorted set job -> rank: (9 - priority) * 1e14 + sequence
--   delayed, offered, leased     sorted sets job -> moment: not before, offered until, leased until
--   workers                      sorted set worker -> alive until
--   worker:<id>                  hash: what it registered; `state` is active, draining, stopping,
--                                quarantined (`reason` says why) or gone (kept 7 days); `failed_starts` counts in a row
--   worker:<id>:held             hash job -> "cores memory owner": offers and leases. With what a beat tells of jobs that
--                                run unheld (`extra_cores`, `extra_memory_mb` of worker:<id>), all that counts as used
--   declared                     hash queue -> JSON of what was declared for it last: all that was ever served
--   batch:<id>                   hash: the batch's record; `complete_ms` stands once its waiter was told
--   batch:<id>:jobs, batch:<id>:open
--                                sorted set job -> index; set of those that have not ended
--   batches, owner-batches:<owner>, run-batches:<run>
--                                sorted sets batch -> sequence
--   sweep                        set: cancelled batches that may still have jobs to be ended
--   run:<id>                     hash: the run's record; run:<id>:inbox list of JSON entries, each with an id
--   run:<id>:seen                set: ids of all entries ever posted, so that a repeated post changes nothing
--   runs, owner-runs:<owner>, runs:state:<STATE>, runs:ready, runs:leased
--                                sorted sets run -> sequence, sequence, sequence, ready since, leased until
--   wake                         channel: ids of runs that became ready
--   run:<id>:checkpoints         sorted set of LangGraph's checkpoint keys, each with its registry of pending writes
--   claims:<orchestrator>        hash: its newest claim id and the run that it was answered
--   request:<owner>:<hash>       string: the newest run for that request
--   lost:<host>, lost:orchestrator:<id>
--                                sorted sets job or run -> when it was lost there; gone one lease after the last
--   jobs-index                   RediSearch index over job:<id> (tasks/search.py), for people only
--   expire:last, expire:guard    strings: last call of expire, moment before which it takes nothing

local P = KEYS[1]

local function int(value) return string.format('%.0f', value) end

local function now_ms()
  local t = redis.call('TIME')
  return tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
end

local function read(key)
  local flat, out = redis.call('HGETALL', key), {}
  for i = 1, #flat, 2 do out[flat[i]] = flat[i + 1] end
  return next(out) and out or nil
end

local function reply(answer, more)
  more = more or {}
  more.answer = answer
  return cjson.encode(more)
end

local ENDED = { SUCCEEDED = true, FAILED = true, CANCELLED = true }

local function get_job(id) return read(P .. 'job:' .. id) end

local function put(job, fields)
  local flat = {}
  for name, value in pairs(fields) do
    job[name] = value
    flat[#flat + 1], flat[#flat + 2] = name, value
  end
  redis.call('HSET', P .. 'job:' .. job.id, unpack(flat))
end

local function set_state(job, state, now)
  if job.state == state then return end
  if job.state then redis.call('ZREM', P .. 'state:' .. job.state, job.id) end
  redis.call('ZADD', P .. 'state:' .. state, job.sequence, job.id)
  put(job, { state = state, changed_ms = int(now) })
  if ENDED[state] then redis.call('ZREM', P .. 'queue:' .. job.queue, job.id) end
end

-- The one function that takes a job out of whatever set it stands in.
local function leave(job)
  local place = job.place or ''
  if place == 'ready' then
    local owners = P .. 'ready:' .. job.queue
    local rows = owners .. ':' .. job.owner
    redis.call('ZREM', rows, job.id)
    if redis.call('EXISTS', rows) == 0 then
      redis.call('SREM', owners, job.owner)
      if redis.call('EXISTS', owners) == 0 then redis.call('SREM', P .. 'queues', job.queue) end
    end
  elseif place == 'delayed' then
    redis.call('ZREM', P .. 'delayed', job.id)
  elseif place == 'offered' or place == 'leased' then
    redis.call('ZREM', P .. place, job.id)
    redis.call('HDEL', P .. 'worker:' .. job.worker .. ':held', job.id)
  end
  put(job, { place = '' })
end

local function enter_ready(job)
  local owners = P .. 'ready:' .. job.queue
  local rank = (9 - tonumber(job.priority)) * 1e14 + tonumber(job.sequence)
  redis.call('ZADD', owners .. ':' .. job.owner, int(rank), job.id)
  redis.call('SADD', owners, job.owner)
  redis.call('SADD', P .. 'queues', job.queue)
  put(job, { place = 'ready' })
end

-- Reserve a job's cores and memory on a worker until a moment, as an offer or a lease.
local function enter_worker(job, place, worker, moment)
  redis.call('ZADD', P .. place, int(moment), job.id)
  local held = job.cores .. ' ' .. job.memory_mb .. ' ' .. job.owner
  redis.call('HSET', P .. 'worker:' .. worker .. ':held', job.id, held)
  put(job, { place = place, worker = worker })
end

local function cancelled(job)
  if job.cancel_requested == '1' then return true end
  return job.batch ~= '' and redis.call('HGET', P .. 'batch:' .. job.batch, 'cancel_mark') == '1'
end

-- ---- batches and their waiters

local function batch_complete(id)
  local sealed = redis.call('HGET', P .. 'batch:' .. id, 'sealed')
  return sealed == '1' and redis.call('EXISTS', P .. 'batch:' .. id .. ':open') == 0
end

-- Whoever waits for runs is told on the channel `wake`; who misses it looks by himself soon after.
local function make_ready(id, now)
  redis.call('ZADD', P .. 'runs:ready', int(now), id)
  redis.call('PUBLISH', P .. 'wake', id)
end

local function wake_run(id, now)
  local state, sequence = unpack(redis.call('HMGET', P .. 'run:' .. id, 'state', 'sequence'))
  if state ~= 'WAITING' and state ~= 'NEEDS_PERSON' then return end
  redis.call('ZREM', P .. 'runs:state:' .. state, id)
  redis.call('ZADD', P .. 'runs:state:QUEUED', sequence, id)
  redis.call('HSET', P .. 'run:' .. id, 'state', 'QUEUED', 'changed_ms', int(now))
  make_ready(id, now)
end

-- `text` is the entry's JSON as it was given: reading and writing it here would turn an empty list into an object.
local function post(run, entry_id, text, now)
  if redis.call('SADD', P .. 'run:' .. run .. ':seen', entry_id) == 0 then return false end
  redis.call('RPUSH', P .. 'run:' .. run .. ':inbox', text)
  wake_run(run, now)
  return true
end

local function tell(id, now)
  if not batch_complete(id) then return end
  local key = P .. 'batch:' .. id
  local batch = read(key)
  if batch.complete_ms then return end
  redis.call('HSET', key, 'complete_ms', int(now))
  if batch.waiter_run ~= '' then
    local state = redis.call('HGET', P .. 'run:' .. batch.waiter_run, 'state')
    if state and not ENDED[state] then
      local entry = { id = 'batch:' .. id, kind = 'batch', batch = id }
      post(batch.waiter_run, entry.id, cjson.encode(entry), now)
    end
  elseif batch.waiter_job ~= '' then
    local parent = get_job(batch.waiter_job)
    if parent and parent.state == 'PARKED' and parent.parked_on == id then
      put(parent, { queued_ms = int(now) })
      set_state(parent, 'QUEUED', now)
      enter_ready(parent)
    end
  end
end

local function mark_cancelled(batch)
  if batch_complete(batch) then return end
  redis.call('HSET', P .. 'batch:' .. batch, 'cancel_mark', '1')
  redis.call('SADD', P .. 'sweep', batch)
end

-- ---- the end of a job

-- The tail of every way into a terminal state: success, failure, cancel, poison.
local function finish(job, state, now, fields)
  leave(job)
  fields = fields or {}
  fields.ended_ms = int(now)
  put(job, fields)
  set_state(job, state, now)
  if job.batch ~= '' then
    redis.call('SREM', P .. 'batch:' .. job.batch .. ':open', job.id)
    redis.call('HINCRBY', P .. 'batch:' .. job.batch, string.lower(state), 1)
  end
  if state ~= 'SUCCEEDED' then
    for _, child in ipairs(redis.call('SMEMBERS', P .. 'job:' .. job.id .. ':batches')) do mark_cancelled(child) end
  end
  if job.batch ~= '' then tell(job.batch, now) end
end

local function close_attempt(job, how, now)
  leave(job)
  redis.call('HSET', P .. 'attempt:' .. job.id .. ':' .. job.attempt, 'how', how, 'ended_ms', int(now))
end

-- Where a job goes whose attempt has ended without a result.
local function back(job, now, delay_ms)
  if cancelled(job) then
    return finish(job, 'CANCELLED', now)
  end
  leave(job)
  if job.state == 'HELD' then return end
  if job.state ~= 'QUEUED' then put(job, { queued_ms = int(now) }) end -- an offer made again does not age anew
  set_state(job, 'QUEUED', now)
  if delay_ms and delay_ms > 0 then
    redis.call('ZADD', P .. 'delayed', int(now + delay_ms), job.id)
    put(job, { place = 'delayed' })
  else
    enter_ready(job)
  end
end

-- Give the offers that a worker has not taken to others; gives how many jobs it still holds.
local function take_offers_back(worker, now)
  local left = 0
  for _, id in ipairs(redis.call('HKEYS', P .. 'worker:' .. worker .. ':held')) do
    local job = get_job(id)
    if job.place == 'offered' then back(job, now) else left = left + 1 end
  end
  return left
end

-- May this attempt still say how it ended? 'yes'; 'same' if it has said so before; 'fenced' if nobody listens any more.
local function may_speak(job, n, claim)
  local attempt = read(P .. 'attempt:' .. job.id .. ':' .. n)
  if not attempt or attempt.claim_id ~= claim then return 'fenced' end
  if attempt.how ~= 'open' and attempt.how ~= 'lost' then return 'same', attempt end
  if tostring(n) ~= job.attempt then return 'fenced', attempt end
  if job.state == 'RUNNING' then return 'yes', attempt end
  if attempt.how == 'lost' and (job.state == 'QUEUED' or job.state == 'HELD') then return 'yes', attempt end
  return 'fenced', attempt
end

-- Does the owner of a batch still hold what lets him fill it: the run's epoch, or the parent's attempt?
local function owner_holds(batch, epoch, n, claim)
  if batch.waiter_run ~= '' then
    local state, current = unpack(redis.call('HMGET', P .. 'run:' .. batch.waiter_run, 'state', 'epoch'))
    return state == 'ACTIVE' and current == epoch
  elseif batch.waiter_job ~= '' then
    local parent = get_job(batch.waiter_job)
    if not parent or parent.state ~= 'RUNNING' or parent.attempt ~= n then return false end
    return redis.call('HGET', P .. 'attempt:' .. parent.id .. ':' .. n, 'claim_id') == claim
  end
  return true
end

local function holds_run(id, epoch)
  local state, current = unpack(redis.call('HMGET', P .. 'run:' .. id, 'state', 'epoch'))
  return state == 'ACTIVE' and current == epoch
end

-- ---- filling a batch: open, submit and seal, one by one or in one call

-- Open a batch, or answer the manifest that it was opened with. A parent job may come back with another manifest: its
-- next attempt adopts the stored one (DESIGN, rule 8).
local function open_batch(id, row, now)
  local key = P .. 'batch:' .. id
  local old = read(key)
  if old then
    if old.owner ~= row.owner or old.waiter_run ~= row.waiter_run or old.waiter_job ~= row.waiter_job
      or row.waiter_job == '' and old.manifest_hash ~= row.manifest_hash then
      return 'conflict', { manifest_hash = old.manifest_hash }
    end
    return 'ok', { opened = false, manifest = old.manifest, manifest_hash = old.manifest_hash }
  end
  local sequence = int(redis.call('INCR', P .. 'sequence'))
  local flat = { 'id', id, 'sequence', sequence, 'created_ms', int(now), 'sealed', '0', 'cancel_mark', '0',
    'succeeded', '0', 'failed', '0', 'cancelled', '0' }
  for name, value in pairs(row) do flat[#flat + 1], flat[#flat + 2] = name, value end
  redis.call('HSET', key, unpack(flat))
  redis.call('ZADD', P .. 'batches', sequence, id)
  redis.call('ZADD', P .. 'owner-batches:' .. row.owner, sequence, id)
  if row.waiter_run ~= '' then redis.call('ZADD', P .. 'run-batches:' .. row.waiter_run, sequence, id) end
  if row.waiter_job ~= '' then redis.call('SADD', P .. 'job:' .. row.waiter_job .. ':batches', id) end
  return 'ok', { opened = true, manifest = row.manifest, manifest_hash = row.manifest_hash }
end

-- Seal a batch that has all its jobs; it is complete when sealed and empty.
local function seal_batch(id, now)
  local sealed, count = unpack(redis.call('HMGET', P .. 'batch:' .. id, 'sealed', 'count'))
  if sealed == '1' then return 'ok' end
  local jobs = redis.call('ZCARD', P .. 'batch:' .. id .. ':jobs')
  if jobs ~= tonumber(count) then return 'incomplete', { jobs = jobs, count = tonumber(count) } end
  redis.call('HSET', P .. 'batch:' .. id, 'sealed', '1')
  tell(id, now)
  return 'ok'
end

-- ---- admission

local function load_worker(id, usage)
  local w = read(P .. 'worker:' .. id)
  if not w then return nil end
  w.id = id
  w.free_cores = tonumber(w.cores) - tonumber(w.extra_cores or 0)
  w.free_memory = tonumber(w.memory_mb) - tonumber(w.extra_memory_mb or 0)
  for _, held in ipairs(redis.call('HVALS', P .. 'worker:' .. id .. ':held')) do
    local cores, memory, owner = string.match(held, '^(%d+) (%d+) (.*)$')
    w.free_cores = w.free_cores - tonumber(cores)
    w.free_memory = w.free_memory - tonumber(memory)
    if usage then usage[owner] = (usage[owner] or 0) + tonumber(cores) end
  end
  return w
end

local WINDOW = 50 -- rows of one owner that are read at a time
local DEPTH = 200 -- jobs of one owner in one queue that may be passed over in one call
local MOST = 500 -- jobs that are offered or passed over in one call

-- Read on in one owner's rows; those that were offered meanwhile have left the set.
local function read_rows(cursor)
  local from = cursor.passed
  cursor.rows, cursor.at = redis.call('ZRANGE', cursor.key, from, from + WINDOW - 1, 'WITHSCORES'), 1
end

local function best_row(cursors, usage)
  local best, best_level, best_use, best_age
  for _, cursor in ipairs(cursors) do
    if cursor.at > #cursor.rows and #cursor.rows == 2 * WINDOW then read_rows(cursor) end
    local score = cursor.passed < DEPTH and tonumber(cursor.rows[cursor.at + 1] or -1) or -1
    if score >= 0 then
      local level = math.floor(score / 1e14)
      local age, use = score - level * 1e14, usage[cursor.owner] or 0
      if not best or level < best_level
        or level == best_level and (use < best_use or use == best_use and age < best_age) then
        best, best_level, best_use, best_age = cursor, level, use, age
      end
    end
  end
  return best
end

-- The tightest fit; but a worker that did not take this job's last offer in time may be frozen, and comes after others.
local function fits_better(w, chosen, job)
  local lapsed = w.id == job.lapsed
  if lapsed ~= (chosen.id == job.lapsed) then return not lapsed end
  return w.free_cores < chosen.free_cores
end

-- Offer the next ready jobs, by priority, then fair share between owners, then age, to workers with room for them.
-- A job that was passed over for `reserve_ms` keeps the worker that could hold it free of later jobs.
local function admit(now, offer_ms, reserve_ms)
  local offers = {}
  local queues = redis.call('SMEMBERS', P .. 'queues')
  if #queues == 0 then return offers end
  local usage, free, served = {}, {}, {}
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', P .. 'workers', int(now), '+inf')) do
    local w = load_worker(id, usage)
    if w and w.state == 'active' and w.free_cores > 0 and w.free_memory > 0 then
      w.serves = {}
      for _, queue in ipairs(cjson.decode(w.queues)) do w.serves[queue], served[queue] = true, true end
      free[#free + 1] = w
    end
  end
  if #free == 0 then return offers end
  local cursors = {}
  table.sort(queues)
  for _, queue in ipairs(queues) do
    if served[queue] then
      for _, owner in ipairs(redis.call('SMEMBERS', P .. 'ready:' .. queue)) do
        local cursor = { owner = owner, key = P .. 'ready:' .. queue .. ':' .. owner, passed = 0 }
        read_rows(cursor)
        cursors[#cursors + 1] = cursor
      end
    end
  end
  local room, looked = #free, 0
  while room > 0 and looked < MOST do
    looked = looked + 1
    local cursor = best_row(cursors, usage)
    if not cursor then break end
    local job = get_job(cursor.rows[cursor.at])
    cursor.at = cursor.at + 2
    local cores, memory = tonumber(job.cores), tonumber(job.memory_mb)
    local fresh, chosen = job.attempt == '0' and (job.checkpoint or '') == '' and job.needs_workspace ~= '1'
    for _, w in ipairs(free) do
      if not w.kept and w.serves[job.queue] and w.free_cores >= cores and w.free_memory >= memory
        and (w.workspace_seen == '1' or fresh)
        and (not chosen or fits_better(w, chosen, job)) then chosen = w end
    end
    if chosen then
      leave(job)
      local number = redis.call('HINCRBY', P .. 'job:' .. job.id, 'offers', 1)
      enter_worker(job, 'offered', chosen.id, now + offer_ms)
      local task_id = job.id .. '.' .. number
      put(job, { task_id = task_id, offered_ms = int(now) })
      chosen.free_cores, chosen.free_memory = chosen.free_cores - cores, chosen.free_memory - memory
      if chosen.free_cores <= 0 or chosen.free_memory <= 0 then room, chosen.kept = room - 1, true end
      usage[job.owner] = (usage[job.owner] or 0) + cores
      offers[#offers + 1] = { job = job.id, worker = chosen.id, task_id = task_id, engine = job.engine,
        task = job.task, label = job.label, run = job.run }
    else
      cursor.passed = cursor.passed + 1
      if now - tonumber(job.queued_ms) > reserve_ms then
        local keep
        for _, w in ipairs(free) do
          if not w.kept and w.serves[job.queue] and tonumber(w.cores) >= cores and tonumber(w.memory_mb) >= memory
            and (w.workspace_seen == '1' or fresh)
            and (not keep or w.free_cores > keep.free_cores) then keep = w end
        end
        if keep then keep.kept, room = true, room - 1 end
      end
    end
  end
  return offers
end
