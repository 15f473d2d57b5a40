-- Admission: what follows `common.lua` in every script. Which ready job is offered next, and to which worker.

local function load_worker(id, usage)
  local w = read(P .. 'worker:' .. id)
  if not w then return nil end
  w.id = id
  w.free_cores = tonumber(w.cores) - tonumber(w.extra_cores or 0)
  w.free_memory = tonumber(w.memory_mb) - tonumber(w.extra_memory_mb or 0)
  w.licences = cjson.decode(w.licences or '{}')
  for _, held in ipairs(redis.call('HVALS', P .. 'worker:' .. id .. ':held')) do
    local cores, memory, owner = string.match(held, '^(%d+) (%d+) (.*)$')
    w.free_cores = w.free_cores - tonumber(cores)
    w.free_memory = w.free_memory - tonumber(memory)
    if usage then usage[owner] = (usage[owner] or 0) + tonumber(cores) end
  end
  return w
end

-- Is a licence left for one more job of a queue? Licences are counted over all workers.
local function licence_left(w, queue)
  local licence = w.licences[queue]
  return not licence or redis.call('SCARD', P .. 'licence:' .. licence.name) < licence.count
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

-- Offer the next ready jobs, by priority, then fair share between owners, then age, to workers with room for them. A queue
-- whose licences are all taken is not looked at.
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
      for _, queue in ipairs(cjson.decode(w.queues)) do
        if licence_left(w, queue) then w.serves[queue], served[queue] = true, true end
      end
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
        and (w.workspace_seen == '1' or fresh) and licence_left(w, job.queue)
        and (not chosen or fits_better(w, chosen, job)) then chosen = w end
    end
    if chosen then
      leave(job)
      local licence, offers_made = chosen.licences[job.queue], int(tonumber(job.offers) + 1)
      enter_worker(job, 'offered', chosen.id, now + offer_ms, licence and licence.name or '')
      local task_id = job.id .. '.' .. offers_made
      put(job, { offers = offers_made, task_id = task_id, offered_ms = int(now) })
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
            and (w.workspace_seen == '1' or fresh) and licence_left(w, job.queue)
            and (not keep or w.free_cores > keep.free_cores) then keep = w end
        end
        if keep then keep.kept, room = true, room - 1 end
      end
    end
  end
  return offers
end
