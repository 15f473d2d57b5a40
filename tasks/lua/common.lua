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
--                                quarantined (`reason` says why) or gone (kept 7 days); `failed_starts` are
--                                the jobs in a row that failed by its fault, `faults` how often they did, `well_ms` is
--                                when it last proved well
--   worker:<id>:held             hash job -> "cores memory owner": offers and leases. With what a beat tells of jobs that
--                                run unheld (`extra_cores`, `extra_memory_mb` of worker:<id>), all that counts as used
--   licence:<name>               set: jobs, offered or leased, that hold one; workers say how many there are (`licences`,
--                                JSON queue -> {name, count}), for all workers together
--   declared                     hash queue -> JSON of what was declared for it last: all that was ever served
--   batch:<id>                   hash: the batch's record; `complete_ms` stands once its waiter was told
--   batch:<id>:jobs, batch:<id>:open
--                                sorted set job -> index; set of those that have not ended
--   batches, owner-batches:<owner>, run-batches:<run>
--                                sorted sets batch -> sequence
--   sweep                        set: cancelled batches that may still have jobs to be ended
--   run:<id>                     hash: the run's record; run:<id>:inbox list of JSON entries, each with an id
--   run:<id>:seen                set: ids of all entries ever posted, so that a repeated post changes nothing
--   run:<id>:events              stream <sequence>-0 -> kind, at, data: what the run tells those who watch it, capped;
--                                `events` of run:<id> is the newest sequence number
--   run:<id>:told                set: keys of events that were told, so that each is told once; gone when the run ends
--   runs, owner-runs:<owner>, runs:state:<STATE>, runs:ready, runs:leased
--                                sorted sets run -> sequence, sequence, sequence, ready since, leased until
--   wake                         channel: ids of runs that became ready
--   run:<id>:checkpoints         sorted set of LangGraph's checkpoint keys, each with its registry of pending writes
--   claims:<orchestrator>        hash: its newest claim id and the run that it was answered
--   request:<owner>:<hash>       string: the newest run for that request
--   lost:<host>, lost:orchestrator:<id>
--                                sorted sets job or run -> when it was lost there; gone one lease after the last
--   jobs-index                   RediSearch index over job:<id> (tasks/search.py), for people only
--   protocol                     hash: number and version of the newest process that this installation was carried over
--                                to (tasks/protocol.py); members, member-versions: sorted set <kind>:<id> -> alive
--                                until, hash <kind>:<id> -> "version protocol", of workers and orchestrators
--   episode:<id>                 hash: one recovery and what came of it (tasks/memory.py); `content` is JSON, `hash` its
--                                SHA-256, `status` candidate, verified_success, verified_failure, rejected or revoked
--   episodes, episodes:<signature>
--                                sorted sets episode -> sequence
--   policy:<n>                   hash signature -> JSON rule: version n of the policy, which never changes; 0 is empty
--   policy:versions              hash n -> JSON: who made it, when, out of which; policy:newest, policy:active numbers
--   policy:episodes              set: episodes that any version of the policy stands on, which are never dropped
--   memory:audit                 list of JSON, newest first: what was recorded, revoked, dropped, promoted, rolled back
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

local ENDED = { SUCCEEDED = true, FAILED = true, CANCELLED = true }

-- A job's record is read once a script, and written once, by `reply`: every write of it is indexed anew.
local jobs, changes = {}, {}

local function get_job(id)
  if jobs[id] == nil then jobs[id] = read(P .. 'job:' .. id) or false end
  return jobs[id] or nil
end

local function put(job, fields)
  jobs[job.id], changes[job.id] = job, changes[job.id] or {}
  for name, value in pairs(fields) do job[name], changes[job.id][name] = value, value end
end

-- How every script ends.
local function reply(answer, more)
  for id, fields in pairs(changes) do
    local flat = {}
    for name, value in pairs(fields) do flat[#flat + 1], flat[#flat + 2] = name, value end
    redis.call('HSET', P .. 'job:' .. id, unpack(flat))
  end
  more = more or {}
  more.answer = answer
  return cjson.encode(more)
end

-- ---- events of runs, for those who watch

-- The newest events that are kept of a run, or a few more.
local EVENTS_KEPT = 10000

-- Number an event and store it; a run that has ended has nothing more to tell. `data` is JSON as it was given.
local function append_event(run, kind, data, now)
  local key = P .. 'run:' .. run
  local state = redis.call('HGET', key, 'state')
  if not state or ENDED[state] then return end
  local id = int(redis.call('HINCRBY', key, 'events', 1)) .. '-0'
  redis.call('XADD', key .. ':events', 'MAXLEN', '~', EVENTS_KEPT, id, 'kind', kind, 'at', int(now), 'data', data)
end

-- The same, but once for each key; `rows` are {key, kind, data}.
local function append_once(run, rows, now)
  for _, row in ipairs(rows) do
    if redis.call('SADD', P .. 'run:' .. run .. ':told', row[1]) == 1 then append_event(run, row[2], row[3], now) end
  end
end

local function set_state(job, state, now)
  if job.state == state then return end
  if job.state then redis.call('ZREM', P .. 'state:' .. job.state, job.id) end
  redis.call('ZADD', P .. 'state:' .. state, job.sequence, job.id)
  put(job, { state = state, changed_ms = int(now) })
  if (job.run or '') ~= '' then
    local data = { job = job.id, label = job.label, state = state, attempt = tonumber(job.attempt) }
    append_event(job.run, 'job', cjson.encode(data), now)
  end
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
    if (job.licence or '') ~= '' then redis.call('SREM', P .. 'licence:' .. job.licence, job.id) end
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

-- Reserve a job's cores, memory and licence on a worker until a moment, as an offer or a lease.
local function enter_worker(job, place, worker, moment, licence)
  redis.call('ZADD', P .. place, int(moment), job.id)
  local held = job.cores .. ' ' .. job.memory_mb .. ' ' .. job.owner
  redis.call('HSET', P .. 'worker:' .. worker .. ':held', job.id, held)
  if licence ~= '' then redis.call('SADD', P .. 'licence:' .. licence, job.id) end
  put(job, { place = place, worker = worker, licence = licence })
end

-- A worker on which a program has run is not one on which nothing starts.
local function worker_is_well(worker, now)
  local key = P .. 'worker:' .. worker
  if redis.call('EXISTS', key) == 0 then return end
  redis.call('HDEL', key, 'failed_starts', 'faults')
  redis.call('HSET', key, 'well_ms', int(now))
end

-- Add a word to a list of words without repeating it; gives the list, and how many they are.
local function with_word(words, word)
  if not string.find(' ' .. words .. ' ', ' ' .. word .. ' ', 1, true) then
    words = words == '' and word or words .. ' ' .. word
  end
  local _, count = string.gsub(words, '%S+', '')
  return words, count
end

-- Has Redis used more than a share of its memory limit? Then nothing new is accepted; gives used and limit in bytes.
local function memory_is_short(share)
  local memory = redis.call('INFO', 'memory')
  local limit, used = tonumber(memory:match('\nmaxmemory:(%d+)')), tonumber(memory:match('used_memory:(%d+)'))
  if limit > 0 and used > limit * share then return { used = used, limit = limit } end
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

-- ---- memory of recoveries

-- Add a line to the memory's account, which is only ever added to.
local function note_memory(what, who, why, more, now)
  more.what, more.who, more.why, more.at_ms = what, who, why, now
  redis.call('LPUSH', P .. 'memory:audit', cjson.encode(more))
end

-- Keep episodes that a version of the policy stands on. What was promoted before there was this set is put into it, too.
local function keep_for_policy(ids)
  local key = P .. 'policy:episodes'
  if redis.call('EXISTS', key) == 0 then
    for _, version in ipairs(redis.call('HKEYS', P .. 'policy:versions')) do
      for _, row in pairs(read(P .. 'policy:' .. version) or {}) do
        for _, id in ipairs(cjson.decode(row).episodes) do redis.call('SADD', key, id) end
      end
    end
  end
  for _, id in ipairs(ids) do redis.call('SADD', key, id) end
end

-- Take the oldest episodes out until there are no more than so many, but the newest and those of the policy.
local function drop_episodes(most, newest, now)
  local over = redis.call('ZCARD', P .. 'episodes') - most
  if over <= 0 then return end
  keep_for_policy({})
  local from = 0
  while over > 0 do
    local found = redis.call('ZRANGE', P .. 'episodes', from, from + 99)
    if #found == 0 then return end
    for _, id in ipairs(found) do
      if over <= 0 or id == newest or redis.call('SISMEMBER', P .. 'policy:episodes', id) == 1 then
        from = from + 1
      else
        local old = read(P .. 'episode:' .. id)
        redis.call('ZREM', P .. 'episodes', id)
        if old then redis.call('ZREM', P .. 'episodes:' .. old.signature, id) end
        redis.call('DEL', P .. 'episode:' .. id)
        note_memory('dropped', 'limit', 'more than ' .. most .. ' episodes', { episode = id, signature = old and old.signature }, now)
        over = over - 1
      end
    end
  end
end

local function policy_version(version, before, who, why, now)
  local row = { version = version, before = before, by = who, why = why, created_ms = now }
  redis.call('HSET', P .. 'policy:versions', version, cjson.encode(row))
  redis.call('SET', P .. 'policy:active', version)
end
