#!lua flags=allow-oom
-- Tell which of these batches are complete.   ARGV: JSON list of batches.   Answers: ok {complete}.
local complete = {}
for _, id in ipairs(cjson.decode(ARGV[1])) do
  if batch_complete(id) then complete[#complete + 1] = id end
end
return reply('ok', { complete = complete })
