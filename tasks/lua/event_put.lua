#!lua flags=allow-oom
-- Tell those who watch a run what happens between its checkpoints, under its epoch; each key once.
-- ARGV: run, epoch, JSON [[key, kind, data JSON]].   Answers: ok, fenced.
if not holds_run(ARGV[1], ARGV[2]) then return reply('fenced') end
append_once(ARGV[1], cjson.decode(ARGV[3]), now_ms())
return reply('ok')
