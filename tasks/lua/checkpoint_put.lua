#!lua flags=allow-oom
-- Write a checkpoint of LangGraph and its pointer, or pending writes, in one transaction that checks the run's epoch;
-- inbox entries whose effect it holds leave the inbox here and nowhere else (DESIGN, rule 4), and its events are told.
-- ARGV: run, epoch, JSON {documents: [[key, json]], merges: [[key, json]], pointers: [[key, value]],
--       members: [[key, score, member]], acks: [entry id], events: [[key, kind, data JSON]],
--       checkpoint: '' for pending writes, else JSON [its key, the key of its registry of pending writes]}.
-- Answers: ok, fenced.
local id = ARGV[1]
if not holds_run(id, ARGV[2]) then return reply('fenced') end
local todo = cjson.decode(ARGV[3])
for _, pair in ipairs(todo.documents) do redis.call('JSON.SET', pair[1], '$', pair[2]) end
for _, pair in ipairs(todo.merges) do redis.call('JSON.MERGE', pair[1], '$', pair[2]) end
for _, pair in ipairs(todo.pointers) do redis.call('SET', pair[1], pair[2]) end
for _, row in ipairs(todo.members) do redis.call('ZADD', row[1], row[2], row[3]) end
if todo.checkpoint ~= '' then
  redis.call('HSET', P .. 'run:' .. id, 'takedowns', '0')
  local known = P .. 'run:' .. id .. ':checkpoints'
  if not redis.call('ZSCORE', known, todo.checkpoint) then
    redis.call('ZADD', known, redis.call('HINCRBY', P .. 'run:' .. id, 'checkpoints', 1), todo.checkpoint)
  end
end
append_once(id, todo.events, now_ms())
local inbox = P .. 'run:' .. id .. ':inbox'
local gone = {}
for _, ack in ipairs(todo.acks) do gone[ack] = true end
if #todo.acks > 0 then
  for _, text in ipairs(redis.call('LRANGE', inbox, 0, -1)) do
    if gone[cjson.decode(text).id] then redis.call('LREM', inbox, 1, text) end
  end
end
return reply('ok')
