#!lua flags=allow-oom
-- Mark a batch as cancelled: from then on none of its jobs starts; `sweep` ends those that wait (DESIGN, rule 7).
-- ARGV: batch.   Answers: ok, already, unknown, ended.
local id = ARGV[1]
local batch = read(P .. 'batch:' .. id)
if not batch then return reply('unknown') end
if batch.cancel_mark == '1' then return reply('already') end
if batch_complete(id) then return reply('ended') end
mark_cancelled(id)
return reply('ok')
