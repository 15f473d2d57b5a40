#!lua flags=allow-oom
-- Read the first entries of a run's inbox, under its epoch.   ARGV: run, epoch.   Answers: ok {inbox}, fenced.
if not holds_run(ARGV[1], ARGV[2]) then return reply('fenced') end
return reply('ok', { inbox = redis.call('LRANGE', P .. 'run:' .. ARGV[1] .. ':inbox', 0, 99) })
