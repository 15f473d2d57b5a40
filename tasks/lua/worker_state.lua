#!lua flags=allow-oom
-- A worker takes no more work (draining), gives back what it runs as well (stopping: renewals answer yield), leaves
-- (gone), is quarantined with a reason (from active only), or takes work again (active, from draining or quarantined).
-- Offers that it did not take go to others.
-- ARGV: worker, state, offer_ms, reserve_ms, reason or ''.   Answers: ok, unknown, refused {state}.
local id, to, now = ARGV[1], ARGV[2], now_ms()
local key = P .. 'worker:' .. id
local state = redis.call('HGET', key, 'state')
if not state or state == 'gone' and to ~= 'gone' then return reply('unknown') end
if to == 'active' then
  if state == 'stopping' then return reply('refused', { state = state }) end
  redis.call('HDEL', key, 'reason')
  worker_is_well(id, now)
elseif to == 'quarantined' then
  if state ~= 'active' then return reply('refused', { state = state }) end
  redis.call('HSET', key, 'reason', ARGV[5])
end
redis.call('HSET', key, 'state', to)
local left = 0
if to ~= 'active' then left = take_offers_back(id, now) end
if to == 'gone' and left == 0 then
  redis.call('ZREM', P .. 'workers', id)
  redis.call('EXPIRE', key, 7 * 86400)
end
return reply('ok', { offers = admit(now, tonumber(ARGV[3]), tonumber(ARGV[4])) })
