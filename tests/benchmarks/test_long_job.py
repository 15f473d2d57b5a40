"""What the relay adds to a job of more than five minutes, beside the same commands by hand. Prints figures.

make bench
"""

from __future__ import annotations

import math
import os
import time
from pathlib import Path

import pytest

from tasks.records import JobState
from tasks.settings import Settings
from tasks.store import Store
from tests.benchmarks.test_dynamics import by_hand
from tests.benchmarks.test_overheads import report, settings
from tests.integration.dynamics.conftest import water
from tests.integration.worker.conftest import StartWorker, start_worker, submit, submitting, wait_for

__all__ = ["settings", "start_worker", "submitting"]
pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(5400)]

#: seconds that the production run takes at least, on whatever host this is
LONG_SECONDS = 330
#: simulated time of the two trial runs that tell how fast this host is
TRIALS_PS = (20, 60)


def by_the_relay(store: Store, spec: dict[str, object], batch: str) -> float:
    """Submit a job and wait for its end; give the seconds."""
    began = time.monotonic()
    (done,) = submit(store, spec, batch=batch)
    record = wait_for(store, done, JobState.SUCCEEDED, JobState.FAILED, seconds=4 * LONG_SECONDS)
    assert record.state is JobState.SUCCEEDED, record.failure
    assert record.attempt == 1
    return time.monotonic() - began


def test_overhead_of_a_job_of_more_than_five_minutes(
    settings: Settings, submitting: Store, start_worker: StartWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMRELAY_HOME", os.fspath(tmp_path / "by-hand-home"))
    start_worker(cores=1)
    short, long = (by_hand(water(production_ps=ps), tmp_path / f"trial-{ps}") for ps in TRIALS_PS)
    seconds_per_ps = max(0.01, (long - short) / (TRIALS_PS[1] - TRIALS_PS[0]))
    # A checkpoint each minute, as by default; in whole 10 ps.
    spec = water(production_ps=10 * math.ceil(LONG_SECONDS / seconds_per_ps / 10), checkpoint_seconds=60)
    # By hand, by the relay, by the relay, by hand: a host that slows down or speeds up evenly favours neither.
    hand = [by_hand(spec, tmp_path / "by-hand-1")]
    relay = [by_the_relay(submitting, spec, "m1"), by_the_relay(submitting, spec, "m2")]
    hand.append(by_hand(spec, tmp_path / "by-hand-2"))
    more = sum(relay) / sum(hand) - 1
    report(
        f"molecular dynamics of {spec['production_ps']:g} ps on one core, by hand, twice by the relay, by hand",
        by_hand=", ".join(f"{value:.1f} s" for value in hand),
        by_the_relay=", ".join(f"{value:.1f} s" for value in relay),
        more=f"{more:+.2%} (at most 2 %), {(sum(relay) - sum(hand)) / 2:+.1f} s a job",
    )
