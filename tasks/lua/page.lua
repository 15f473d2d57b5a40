#!lua flags=allow-oom
-- One page of records out of a sorted set, newest first, with further conditions on their fields.
-- ARGV: set, kind (job, batch, run, worker, episode), cursor (score to begin below; '' for the newest), count, JSON {field: value},
--       most rows to look at.   Answers: ok {rows, cursor ('' at the end)}.
local set, kind, count, most = P .. ARGV[1], ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[6])
local names, values = {}, {}
for name, value in pairs(cjson.decode(ARGV[5])) do names[#names + 1], values[#values + 1] = name, value end
local top, cursor, rows, looked = ARGV[3] == '' and '+inf' or '(' .. ARGV[3], '', {}, 0
while #rows < count and looked < most do
  local found = redis.call('ZREVRANGEBYSCORE', set, top, '-inf', 'WITHSCORES', 'LIMIT', looked, 100)
  if #found == 0 then break end
  for i = 1, #found, 2 do
    local key, fits = P .. kind .. ':' .. found[i], true
    cursor, looked = found[i + 1], looked + 1
    if #names > 0 then
      for at, value in ipairs(redis.call('HMGET', key, unpack(names))) do fits = fits and value == values[at] end
    end
    if fits then rows[#rows + 1] = read(key) end
    if #rows >= count or looked >= most then break end
  end
end
if cursor ~= '' and #redis.call('ZREVRANGEBYSCORE', set, '(' .. cursor, '-inf', 'LIMIT', 0, 1) == 0 then cursor = '' end
return reply('ok', { rows = rows, cursor = cursor })
