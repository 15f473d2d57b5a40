#!lua flags=allow-oom
-- Read the policy: its active version with the rules, all versions, and the newest lines of the memory's account.
-- ARGV: most lines of the account.
-- Answers: ok {active, rules {signature: JSON}, versions [JSON], audit [JSON], newest first}.
local active = tonumber(redis.call('GET', P .. 'policy:active') or 0)
local most = tonumber(ARGV[1])
return reply('ok', {
  active = active,
  rules = read(P .. 'policy:' .. active) or {},
  versions = redis.call('HVALS', P .. 'policy:versions'),
  audit = most > 0 and redis.call('LRANGE', P .. 'memory:audit', 0, most - 1) or {},
})
