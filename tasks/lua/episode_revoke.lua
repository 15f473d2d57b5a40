#!lua flags=allow-oom
-- Take an episode out of what is recalled, for good; it stays for the record.
-- ARGV: episode, who, why.   Answers: ok, already, unknown.
local id, now = ARGV[1], now_ms()
local key = P .. 'episode:' .. id
local old = read(key)
if not old then return reply('unknown') end
if old.status == 'revoked' then return reply('already') end
redis.call('HSET', key, 'status', 'revoked', 'changed_ms', int(now), 'by', ARGV[2], 'why', ARGV[3])
note_memory('revoked', ARGV[2], ARGV[3], { episode = id, signature = old.signature }, now)
return reply('ok')
