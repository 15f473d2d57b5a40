#!lua flags=allow-oom
-- Read what any worker has ever declared.   Answers: ok {declared: {queue: JSON}}.
return reply('ok', { declared = read(P .. 'declared') or {} })
