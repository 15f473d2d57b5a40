#!lua
-- Open a batch with its count and the hash of its manifest; an existing one answers the manifest it was opened with.
-- ARGV: batch, JSON record (owner, label, count, manifest_hash, manifest, waiter_run, waiter_job), epoch, parent
--       attempt, parent claim.   Answers: ok {manifest, opened}, fenced, conflict {manifest_hash}.
-- A parent job may come back with another manifest: its next attempt adopts the stored one (DESIGN, rule 8).
local id, row = ARGV[1], cjson.decode(ARGV[2])
if not owner_holds(row, ARGV[3], ARGV[4], ARGV[5]) then return reply('fenced') end
local key = P .. 'batch:' .. id
local old = read(key)
if old then
  if old.owner ~= row.owner or old.waiter_run ~= row.waiter_run or old.waiter_job ~= row.waiter_job
    or row.waiter_job == '' and old.manifest_hash ~= row.manifest_hash then
    return reply('conflict', { manifest_hash = old.manifest_hash })
  end
  return reply('ok', { opened = false, manifest = old.manifest, manifest_hash = old.manifest_hash })
end
local now = now_ms()
local sequence = int(redis.call('INCR', P .. 'sequence'))
local flat = { 'id', id, 'sequence', sequence, 'created_ms', int(now), 'sealed', '0', 'cancel_mark', '0',
  'succeeded', '0', 'failed', '0', 'cancelled', '0' }
for name, value in pairs(row) do flat[#flat + 1], flat[#flat + 2] = name, value end
redis.call('HSET', key, unpack(flat))
redis.call('ZADD', P .. 'batches', sequence, id)
redis.call('ZADD', P .. 'owner-batches:' .. row.owner, sequence, id)
if row.waiter_run ~= '' then redis.call('ZADD', P .. 'run-batches:' .. row.waiter_run, sequence, id) end
if row.waiter_job ~= '' then redis.call('SADD', P .. 'job:' .. row.waiter_job .. ':batches', id) end
return reply('ok', { opened = true, manifest = row.manifest, manifest_hash = row.manifest_hash })
