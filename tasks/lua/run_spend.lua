#!lua flags=allow-oom
-- Add to what a run has used of a language model, under its epoch: it is booked before it is spent, and outlives
-- whoever spends it. Nothing falls below nought.
-- ARGV: run, epoch, calls, prompt tokens, completion tokens.   Answers: ok {calls, prompt, completion}, fenced.
if not holds_run(ARGV[1], ARGV[2]) then return reply('fenced') end
local key = P .. 'run:' .. ARGV[1]
local function add(field, amount)
  local total = math.max(0, tonumber(redis.call('HGET', key, field) or 0) + tonumber(amount))
  redis.call('HSET', key, field, int(total))
  return total
end
return reply('ok', {
  calls = add('model_calls', ARGV[3]),
  prompt = add('model_prompt_tokens', ARGV[4]),
  completion = add('model_completion_tokens', ARGV[5]),
})
