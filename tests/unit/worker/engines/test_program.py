"""Declared programs, run for real: a small counter that checkpoints, is killed, and goes on."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from tasks.errors import InputError
from tasks.programs import ProgramDeclaration
from tasks.results import ProgramResult
from tasks.specs import ProgramSpec
from tests.conftest import eventually
from tests.unit.worker.harness import keep, program_bench, run, start
from worker.engines.base import Exit, Offer
from worker.engines.program import Program

COUNTER = """
import argparse, os, pathlib, time
parser = argparse.ArgumentParser()
parser.add_argument("--to", type=int)
parser.add_argument("--say")
parser.add_argument("--pause", type=float, default=0)
parser.add_argument("--restart")
given = parser.parse_args()
at = int(pathlib.Path(given.restart).read_text()) if given.restart else 0
print("begins at", at, os.environ["OMP_NUM_THREADS"], os.environ["FLAVOUR"], flush=True)
while at < given.to:
    at += 1
    pathlib.Path("new").write_text(str(at))
    os.replace("new", "state")
    print(f"step {at} of {given.to}, total = {at * at}", flush=True)
    time.sleep(given.pause)
if given.say == "well":
    pathlib.Path("final.dat").write_text("done")
print("ended", given.say, flush=True)
"""


@pytest.fixture
def counter(tmp_path: Path) -> Program:
    source = tmp_path / "counter.py"
    source.write_text(COUNTER)
    declaration = {
        "command": [sys.executable, str(source), "--to", "{to}", "--say", "{say}", "--pause={pause}"],
        "success": "^ended (well|badly)$",
        "progress": r"step (?P<step>\d+) of (?P<total>\d+)",
        "values": {"total": r"total = (\d+)", "absent": "never (.)"},
        "checkpoint": ["state"],
        "results": ["final.dat"],
        "restart_arguments": ["--restart", "state"],
        "environment": {"FLAVOUR": "sour"},
        "stop_grace_seconds": 3,
        "parameters": {
            "to": {"type": "integer", "minimum": 1},
            "say": {"type": "string", "default": "well"},
            "pause": {"type": "number", "default": 0},
        },
    }
    offer = Offer(engine="program", version="", command=())
    return Program(offer, {"counter": ProgramDeclaration.model_validate(declaration)})


def spec(**parameters: str | int | float | bool) -> ProgramSpec:
    return ProgramSpec(program="counter", parameters={"to": 5, **parameters})


def test_values_and_results_of_a_program_that_ended_well_are_collected(counter: Program, tmp_path: Path) -> None:
    bench = program_bench(spec(), tmp_path / "scratch")
    assert counter.progress(bench) is None
    assert counter.snapshot(bench) is None
    exits = run(counter, bench)
    assert counter.ended_well(bench, exits)
    collected = counter.collect(bench)
    assert collected.result == ProgramResult(values={"total": "25"}, last_line="ended well")
    assert collected.files == {name: bench.scratch / file for name, file in FILES.items()}
    progress = counter.progress(bench)
    assert progress is not None
    assert (progress.step, progress.total, progress.text) == (5, 5, "step 5 of 5, total = 25")
    assert "begins at 0 2 sour" in (bench.scratch / "output.log").read_text()
    assert counter.stop_grace(bench.spec) == 3


FILES = {"final.dat": "final.dat", "log": "output.log"}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"say": "nothing"}, "ended without the mark of success (exit code 0)"),
        ({"say": "badly"}, "did not leave final.dat"),
        ({"pause": -1}, "ended without the mark of success (exit code 1)"),
    ],
)
def test_without_its_mark_and_its_results_a_program_has_failed(
    counter: Program, tmp_path: Path, parameters: dict[str, str | int | float | bool], message: str
) -> None:
    bench = program_bench(spec(**parameters), tmp_path / "scratch")
    exits = run(counter, bench)
    assert not counter.ended_well(bench, exits)
    failure = counter.diagnose(bench, exits)
    assert failure.error_class == "program_failed"
    assert message in failure.message
    assert failure.evidence


def test_a_killed_program_goes_on_from_its_checkpoint(counter: Program, tmp_path: Path) -> None:
    bench = program_bench(spec(to=1000, pause=0.01), tmp_path / "killed")
    (command,) = counter.prepare(bench)
    process = start(command, bench.scratch)
    eventually(lambda: counter.snapshot(bench) is not None)
    process.send_signal(signal.SIGKILL)
    exits = [Exit(code=process.wait())]
    assert not counter.ended_well(bench, exits)
    assert counter.diagnose(bench, exits).error_class == "killed"

    checkpoint = keep(counter, bench, tmp_path / "checkpoint")
    reached = int((checkpoint / "state").read_text())
    again = program_bench(spec(to=reached + 3), tmp_path / "again", checkpoint)
    exits = run(counter, again)
    assert counter.ended_well(again, exits)
    assert f"begins at {reached} " in (again.scratch / "output.log").read_text()


def test_an_incomplete_checkpoint_is_neither_kept_nor_used(counter: Program, tmp_path: Path) -> None:
    bench = program_bench(spec(), tmp_path / "scratch", tmp_path / "nothing there")
    (bench.scratch / "state").touch()
    assert counter.snapshot(bench) is None
    (command,) = counter.prepare(bench)
    assert "--restart" not in command.argv


def test_wrong_parameters_and_unknown_programs_are_refused(counter: Program, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"parameters\.to: 0 is out of range"):
        counter.prepare(program_bench(spec(to=0), tmp_path / "one"))
    with pytest.raises(InputError, match="is not declared by any worker"):
        counter.prepare(program_bench(ProgramSpec(program="other"), tmp_path / "two"))
