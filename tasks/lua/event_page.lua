#!lua flags=allow-oom
-- Read the events of a run that follow a number; `first` is the oldest that is kept, `last` the newest of all.
-- ARGV: run, number, most.   Answers: ok {state, first, last, events: [{number, kind, at_ms, data}]}, unknown.
local key = P .. 'run:' .. ARGV[1]
local state, last = unpack(redis.call('HMGET', key, 'state', 'events'))
if not state then return reply('unknown') end
local events, oldest = {}, redis.call('XRANGE', key .. ':events', '-', '+', 'COUNT', 1)[1]
for _, row in ipairs(redis.call('XRANGE', key .. ':events', int(tonumber(ARGV[2]) + 1) .. '-0', '+', 'COUNT', ARGV[3])) do
  local event = { number = tonumber(string.match(row[1], '^%d+')) }
  for i = 1, #row[2], 2 do event[row[2][i]] = row[2][i + 1] end
  events[#events + 1] = event
end
local first = oldest and tonumber(string.match(oldest[1], '^%d+')) or 1
return reply('ok', { state = state, first = first, last = tonumber(last or '0'), events = events })
