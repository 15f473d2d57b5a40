#!lua
-- Make a rule out of episodes that agree: a new version of the policy, which never changes, becomes the active one.
-- ARGV: signature, JSON {action, parameters, episodes}, JSON list of the episodes, support needed, who.
-- Answers: ok {version}, same {version}, refused {why}.
local signature, row, who, now = ARGV[1], ARGV[2], ARGV[5], now_ms()
local action, seen, support = cjson.decode(row).action, {}, 0
for _, id in ipairs(cjson.decode(ARGV[3])) do
  local one = read(P .. 'episode:' .. id)
  if not one or one.status ~= 'verified_success' or one.signature ~= signature or one.action ~= action then
    return reply('refused', { why = 'episode ' .. id .. ' is no verified success of ' .. action })
  end
  if not seen[one.run] then seen[one.run], support = true, support + 1 end
end
if support < tonumber(ARGV[4]) then
  return reply('refused', { why = 'only ' .. support .. ' independent verified successes, of ' .. ARGV[4] .. ' needed' })
end
local active = tonumber(redis.call('GET', P .. 'policy:active') or 0)
local rules = read(P .. 'policy:' .. active) or {}
if rules[signature] == row then return reply('same', { version = active }) end
local version = redis.call('INCR', P .. 'policy:newest')
rules[signature] = row
for name, value in pairs(rules) do redis.call('HSET', P .. 'policy:' .. version, name, value) end
keep_for_policy(cjson.decode(ARGV[3]))
policy_version(version, active, who, 'promoted ' .. action .. ' for ' .. signature, now)
note_memory('promoted', who, action, { signature = signature, version = version, before = active }, now)
return reply('ok', { version = version })
