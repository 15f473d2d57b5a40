#!lua flags=allow-oom
-- Put what a person or a batch says into a run's inbox, once for its id, and wake the run.
-- ARGV: run, JSON entry with id and kind.   Answers: ok, same, ended {state}, unknown.
local id, entry, now = ARGV[1], cjson.decode(ARGV[2]), now_ms()
local state = redis.call('HGET', P .. 'run:' .. id, 'state')
if not state then return reply('unknown') end
if ENDED[state] then return reply('ended', { state = state }) end
if entry.kind == 'cancel' then redis.call('HSET', P .. 'run:' .. id, 'cancel_requested', '1') end
return reply(post(id, entry.id, ARGV[2], now) and 'ok' or 'same', { state = state })
