#!lua flags=allow-oom
-- Make an earlier version of the policy the active one again; 0 is the empty one. No version and no episode changes.
-- ARGV: version, who, why.   Answers: ok {before}, already, unknown.
local version, now = tonumber(ARGV[1]), now_ms()
local active = tonumber(redis.call('GET', P .. 'policy:active') or 0)
if version == active then return reply('already') end
if version ~= 0 and redis.call('HEXISTS', P .. 'policy:versions', version) == 0 then return reply('unknown') end
redis.call('SET', P .. 'policy:active', version)
note_memory('rolled_back', ARGV[2], ARGV[3], { version = version, before = active }, now)
return reply('ok', { before = active })
