#!lua
-- Make a run, once for its id; or attach to the run for the same request that has not ended and is not to be cancelled.
-- ARGV: run, JSON record (owner, request, options, retry_of), request hash, attach (0 or 1), memory share above which a new one is
--       refused.   Answers: created, exists, conflict, attached {run}, full.
local id, row, now = ARGV[1], cjson.decode(ARGV[2]), now_ms()
local pointer = P .. 'request:' .. row.owner .. ':' .. ARGV[3]
local old = read(P .. 'run:' .. id)
if old then
  local same = old.owner == row.owner and old.request == row.request and old.options == row.options
    and (old.retry_of or '') == (row.retry_of or '')
  return reply(same and 'exists' or 'conflict', { run = id })
end
if ARGV[4] == '1' then
  local other = redis.call('GET', pointer)
  local run = other and read(P .. 'run:' .. other)
  if run and not ENDED[run.state] and run.cancel_requested ~= '1' then return reply('attached', { run = other }) end
end
local short = memory_is_short(tonumber(ARGV[5]))
if short then return reply('full', short) end
local sequence = int(redis.call('INCR', P .. 'sequence'))
local flat = { 'id', id, 'sequence', sequence, 'state', 'QUEUED', 'epoch', '0', 'created_ms', int(now), 'changed_ms', int(now), 'takedowns', '0' }
for name, value in pairs(row) do flat[#flat + 1], flat[#flat + 2] = name, value end
redis.call('HSET', P .. 'run:' .. id, unpack(flat))
redis.call('SET', pointer, id)
redis.call('ZADD', P .. 'runs', sequence, id)
redis.call('ZADD', P .. 'owner-runs:' .. row.owner, sequence, id)
redis.call('ZADD', P .. 'runs:state:QUEUED', sequence, id)
make_ready(id, now)
return reply('created', { run = id })
