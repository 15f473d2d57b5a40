#!lua flags=allow-oom
-- A worker's own heartbeat. What it physically runs of jobs that it no longer holds counts against its capacity.
-- ARGV: worker, alive_ms, JSON {job: [cores, memory_mb]} of what it runs, workspace seen (0 or 1), offer_ms, reserve_ms.
-- Answers: ok {state, held (its offers and leases)}, unknown (register again).
local id, now = ARGV[1], now_ms()
local state = redis.call('HGET', P .. 'worker:' .. id, 'state')
if not state or state == 'gone' then return reply('unknown') end
local extra_cores, extra_memory = 0, 0
for job, needs in pairs(cjson.decode(ARGV[3])) do
  local record = get_job(job)
  if not record or record.place ~= 'leased' or record.worker ~= id then -- an offer to come is not what runs
    extra_cores, extra_memory = extra_cores + needs[1], extra_memory + needs[2]
  end
end
redis.call('HSET', P .. 'worker:' .. id, 'beat_ms', int(now), 'extra_cores', int(extra_cores),
  'extra_memory_mb', int(extra_memory), 'workspace_seen', ARGV[4])
redis.call('ZADD', P .. 'workers', int(now + tonumber(ARGV[2])), id)
local offers = admit(now, tonumber(ARGV[5]), tonumber(ARGV[6]))
return reply('ok', { state = state, held = redis.call('HLEN', P .. 'worker:' .. id .. ':held'), offers = offers })
