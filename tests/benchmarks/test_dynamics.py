"""What the relay adds to a chain of GROMACS stages, beside the same commands by hand. Prints figures; asserts none.

make bench
"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from tasks.records import JobState
from tasks.settings import Settings
from tasks.specs import parse_spec
from tasks.store import Store
from tests.benchmarks.test_overheads import report, settings
from tests.conftest import missing
from tests.integration.dynamics.conftest import water
from tests.integration.worker.conftest import StartWorker, start_worker, submit, submitting, wait_for
from worker.engines.base import Bench
from worker.engines.gromacs import Gromacs
from worker.environment import engine_environment

__all__ = ["settings", "start_worker", "submitting"]
pytestmark = pytest.mark.benchmark

STAGES = 4


def by_hand(spec: dict[str, object], scratch: Path) -> float:
    """Run the commands of a job one after the other; give the seconds."""
    offer = Gromacs.detect()
    if offer is None:
        missing("GROMACS with the extra md")
    scratch.mkdir()
    bench = Bench(spec=parse_spec(spec), scratch=scratch, cores=1, memory_mb=2000)
    began = time.monotonic()
    for command in Gromacs(offer).prepare(bench):
        environment = {**engine_environment(), **command.environment}
        subprocess.run(command.argv, cwd=scratch, env=environment, capture_output=True, check=True)
    return time.monotonic() - began


def test_overhead_of_a_stage(
    settings: Settings, submitting: Store, start_worker: StartWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMRELAY_HOME", os.fspath(tmp_path / "by-hand-home"))
    start_worker(cores=1)
    hand, relay = [], []
    for number in range(3):
        spec = water(nvt_ps=2, npt_ps=2, production_ps=5, ensemble="NPT", seed=7 + number)
        hand.append(by_hand(spec, tmp_path / f"by-hand-{number}"))
        began = time.monotonic()
        (done,) = submit(submitting, spec, batch=f"m{number}")
        record = wait_for(submitting, done, JobState.SUCCEEDED, JobState.FAILED, seconds=280)
        relay.append(time.monotonic() - began)
        assert record.state is JobState.SUCCEEDED, record.failure
    over = [(r - h) / STAGES for r, h in zip(relay, hand, strict=True)]
    report(
        "molecular dynamics: four stages, built and analysed, by hand and by the relay",
        by_hand=", ".join(f"{value:.1f} s" for value in hand),
        by_the_relay=", ".join(f"{value:.1f} s" for value in relay),
        more_a_stage=", ".join(f"{value:+.2f} s" for value in over) + " (at most 3 s)",
    )
