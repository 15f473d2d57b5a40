#!lua flags=allow-oom
-- A process says that it lives and which protocol it speaks; answers whether it may work here (tasks/protocol.py).
-- A protocol higher than the installation's becomes the installation's as soon as nobody with a lower one is alive.
-- ARGV: member (<kind>:<id>), version, protocol, alive_ms (0: it leaves), first protocol that was kept.
-- Answers: ok; older {version, protocol} of the installation; held {by: [[member, version, protocol]]}.
local me, version, mine, now = ARGV[1], ARGV[2], tonumber(ARGV[3]), now_ms()
local members, versions, kept = P .. 'members', P .. 'member-versions', P .. 'protocol'

for _, gone in ipairs(redis.call('ZRANGE', members, '-inf', int(now), 'BYSCORE')) do
  redis.call('ZREM', members, gone)
  redis.call('HDEL', versions, gone)
end
if tonumber(ARGV[4]) == 0 then
  redis.call('ZREM', members, me)
  redis.call('HDEL', versions, me)
  return reply('ok')
end

local here, by = unpack(redis.call('HMGET', kept, 'number', 'version'))
-- Whoever made an installation without a number is older than the first that kept one.
local used = redis.call('EXISTS', P .. 'sequence', P .. 'workers') > 0
here = tonumber(here or (used and tonumber(ARGV[5]) - 1 or mine))
if mine < here then return reply('older', { version = by, protocol = here }) end

if mine > here then
  local holding = {}
  for _, other in ipairs(redis.call('ZRANGE', members, 0, -1)) do
    local what, number = string.match(redis.call('HGET', versions, other), '^(%S+) (%d+)$')
    if tonumber(number) < mine then holding[#holding + 1] = { other, what, tonumber(number) } end
  end
  for _, worker in ipairs(redis.call('ZRANGE', P .. 'workers', '(' .. int(now), '+inf', 'BYSCORE')) do
    local silent = redis.call('HEXISTS', versions, 'worker:' .. worker) == 0
    local what, state = unpack(redis.call('HMGET', P .. 'worker:' .. worker, 'version', 'state'))
    if silent and state ~= 'gone' then holding[#holding + 1] = { 'worker:' .. worker, what, here } end
  end
  if #holding > 0 then return reply('held', { by = holding }) end
end
if mine > here or not by then redis.call('HSET', kept, 'number', mine, 'version', version) end
redis.call('ZADD', members, int(now + tonumber(ARGV[4])), me)
redis.call('HSET', versions, me, version .. ' ' .. mine)
return reply('ok')
