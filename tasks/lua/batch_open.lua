#!lua
-- Open a batch with its count and the hash of its manifest; an existing one answers the manifest it was opened with.
-- ARGV: batch, JSON record (owner, label, count, manifest_hash, manifest, waiter_run, waiter_job), epoch, parent
--       attempt, parent claim.   Answers: ok {manifest, opened}, fenced, conflict {manifest_hash}.
local row = cjson.decode(ARGV[2])
if not owner_holds(row, ARGV[3], ARGV[4], ARGV[5]) then return reply('fenced') end
return reply(open_batch(ARGV[1], row, now_ms()))
