#!lua flags=allow-oom
-- Read one record, or all attempts of a job.   ARGV: kind (job, batch, run, worker, episode, attempts), id.   Answers: ok {rows}.
local rows = {}
if ARGV[1] == 'attempts' then
  for n = 1, tonumber(redis.call('HGET', P .. 'job:' .. ARGV[2], 'attempt') or 0) do
    rows[#rows + 1] = read(P .. 'attempt:' .. ARGV[2] .. ':' .. n)
  end
else
  rows[1] = read(P .. ARGV[1] .. ':' .. ARGV[2])
end
return reply('ok', { rows = rows })
