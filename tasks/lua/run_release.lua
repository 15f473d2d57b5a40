#!lua flags=allow-oom
-- Let go of a run: it waits, or has ended. Refused while there is something for it (DESIGN, rule 5).
-- Every end but SUCCEEDED marks its open batches cancelled in the same script (rule 6). Every end is told: last, and once.
-- ARGV: run, epoch, state, JSON list of awaited batches, JSON fields.
-- Answers: ok, fenced, refused {why}.
local id, state, now = ARGV[1], ARGV[3], now_ms()
if not holds_run(id, ARGV[2]) then return reply('fenced') end
local inbox = P .. 'run:' .. id .. ':inbox'
if state == 'WAITING' or state == 'NEEDS_PERSON' or state == 'SUCCEEDED' then
  if redis.call('EXISTS', inbox) == 1 then return reply('refused', { why = 'inbox' }) end
end
if state == 'WAITING' or state == 'NEEDS_PERSON' then
  for _, batch in ipairs(cjson.decode(ARGV[4])) do
    if batch_complete(batch) then return reply('refused', { why = batch }) end
  end
elseif ENDED[state] then
  for _, batch in ipairs(redis.call('ZRANGE', P .. 'run-batches:' .. id, 0, -1)) do
    if state == 'SUCCEEDED' and not batch_complete(batch) then return reply('refused', { why = batch }) end
    if state ~= 'SUCCEEDED' then mark_cancelled(batch) end
  end
  redis.call('DEL', inbox, P .. 'run:' .. id .. ':told')
  local fields = cjson.decode(ARGV[5])
  local data = { state = state, error = fields.error or '', answer = fields.answer or '' }
  append_event(id, 'done', cjson.encode(data), now)
end
local sequence = redis.call('HGET', P .. 'run:' .. id, 'sequence')
redis.call('ZREM', P .. 'runs:leased', id)
redis.call('ZREM', P .. 'runs:state:ACTIVE', id)
redis.call('ZADD', P .. 'runs:state:' .. state, sequence, id)
local flat = { 'state', state, 'changed_ms', int(now), 'holder', '', 'error', '' }
if ENDED[state] then flat[#flat + 1], flat[#flat + 2] = 'ended_ms', int(now) end
for name, value in pairs(cjson.decode(ARGV[5])) do flat[#flat + 1], flat[#flat + 2] = name, value end
redis.call('HSET', P .. 'run:' .. id, unpack(flat))
if state == 'QUEUED' then make_ready(id, now) end
return reply('ok')
