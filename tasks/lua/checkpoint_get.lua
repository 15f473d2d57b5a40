#!lua flags=allow-oom
-- Read a checkpoint of LangGraph with its pending writes, in one call.
-- ARGV: pointer key, checkpoint key ('': the pointer's target), prefix of checkpoint keys, prefix of their registries of
--       pending writes.   Answers: ok {document, writes}, none.
local key = ARGV[2] ~= '' and ARGV[2] or redis.call('GET', ARGV[1])
local document = key and redis.call('JSON.GET', key)
if not document then return reply('none') end
local writes = {}
for _, name in ipairs(redis.call('ZRANGE', ARGV[4] .. string.sub(key, #ARGV[3] + 1), 0, -1)) do
  writes[#writes + 1] = redis.call('JSON.GET', name) or nil
end
return reply('ok', { document = document, writes = writes })
