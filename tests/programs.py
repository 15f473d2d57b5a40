"""Small real programs that tests run as `program` jobs: they count, stumble, rest, and write checkpoints."""

from __future__ import annotations

import sys
from pathlib import Path

#: counts to --steps, one step every --pause seconds, and goes on from state.json when asked to
COUNTDOWN = """
import argparse, json, os, signal, sys, time
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int)
parser.add_argument("--pause", type=float)
parser.add_argument("--restart", action="store_true")
a = parser.parse_args()
stop = []
signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
begin = json.load(open("state.json"))["step"] if a.restart else 0
print(f"starts at {begin}", flush=True)
for step in range(begin + 1, a.steps + 1):
    time.sleep(a.pause)
    with open("state.tmp", "w") as file:
        json.dump({"step": step}, file)
    os.replace("state.tmp", "state.json")
    print(f"step {step} of {a.steps}", flush=True)
    if stop:
        sys.exit(3)
print(f"sum {sum(range(a.steps + 1))}")
print("COUNTED")
"""

#: gets one step further each time that it is started, and fails unless that was the last of --steps
STUMBLE = """
import json, os, sys
steps = int(sys.argv[1])
step = json.load(open("state.json"))["step"] + 1 if "--restart" in sys.argv else 1
with open("state.tmp", "w") as file:
    json.dump({"step": step}, file)
os.replace("state.tmp", "state.json")
print(f"step {step} of {steps}")
print("ARRIVED" if step >= steps else f"stumbled at {step}")
sys.exit(0 if step >= steps else 1)
"""

#: takes --seconds and leaves no checkpoint, so that a walltime that is too short fails it for good
REST = """
import sys, time
time.sleep(float(sys.argv[1]))
print("RESTED")
"""


def programs_toml(folder: Path) -> str:
    """Write the programs into a folder and give the declarations for them."""
    (folder / "countdown.py").write_text(COUNTDOWN)
    (folder / "stumble.py").write_text(STUMBLE)
    (folder / "rest.py").write_text(REST)
    return f'''
[programs.countdown]
description = "Counts, with a checkpoint at each step"
command = ["{sys.executable}", "-S", "{folder / "countdown.py"}", "--steps", "{{steps}}", "--pause", "{{pause}}"]
success = "^COUNTED$"
progress = "step (?P<step>\\\\d+) of (?P<total>\\\\d+)"
checkpoint = ["state.json"]
restart_arguments = ["--restart"]
stop_grace_seconds = 2.0

[programs.countdown.values]
sum = "^sum (\\\\d+)$"

[programs.countdown.parameters.steps]
type = "integer"
minimum = 0
default = 3

[programs.countdown.parameters.pause]
type = "number"
minimum = 0
default = 0.0

[programs.stumble]
description = "Gets one step further each time that it is started"
command = ["{sys.executable}", "-S", "{folder / "stumble.py"}", "{{steps}}"]
success = "^ARRIVED$"
checkpoint = ["state.json"]
restart_arguments = ["--restart"]

[programs.stumble.parameters.steps]
type = "integer"
minimum = 1

[programs.rest]
description = "Takes its time, and leaves no checkpoint"
command = ["{sys.executable}", "-S", "{folder / "rest.py"}", "{{seconds}}"]
success = "^RESTED$"
stop_grace_seconds = 1.0

[programs.rest.parameters.seconds]
type = "number"
minimum = 0

[programs.nothing]
description = "Does nothing, well"
command = ["/bin/echo", "DONE", "{{word}}"]
success = "^DONE"

[programs.nothing.parameters.word]
type = "string"
default = "x"
'''
