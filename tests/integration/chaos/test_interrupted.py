"""What interrupts an attempt is not held against its job: its warden killed, stopped, frozen; its pool child."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tasks import listing
from tasks.records import JobState
from tasks.settings import Settings
from tasks.store import Store
from tests.chaos.processes import Running, belonging, children, processes, running
from tests.conftest import eventually
from tests.integration.worker.conftest import StartWorker, job, start_worker, submit, submitting, wait_for
from worker import orphans

__all__ = ["start_worker", "submitting"]

COUNT = {"program": "countdown", "parameters": {"steps": 40, "pause": 0.1}}


def computing(settings: Settings, store: Store, job_id: str) -> Running:
    """Wait until a job's program runs and has reported; give its processes."""
    eventually(lambda: job(store, job_id).progress, what="progress")
    (found,) = running(settings.scratch)
    assert found.simulation
    return found


def hows(store: Store, job_id: str) -> list[str]:
    """Give how each attempt of a job ended."""
    return [attempt.how for attempt in store.run(listing.attempts(job_id))]


@pytest.mark.parametrize(
    ("blow", "said"),
    [
        pytest.param(signal.SIGKILL, "its warden was killed", marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, "its warden was told to stop", marks=pytest.mark.slow),
        pytest.param(signal.SIGSTOP, "its warden was frozen", marks=pytest.mark.slow),
    ],
)
def test_a_struck_warden_is_not_the_job_s_fault_and_its_program_ends(
    blow: signal.Signals, said: str, settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    (first,) = submit(submitting, {**COUNT, "parameters": {"steps": 90, "pause": 0.1}})
    hit = computing(settings, submitting, first)
    os.kill(hit.warden, blow)
    eventually(lambda: hit.simulation not in processes(), what="the program is ended")
    record = wait_for(submitting, first, JobState.SUCCEEDED, JobState.FAILED)
    assert record.state is JobState.SUCCEEDED
    assert record.failures == 0
    assert hows(submitting, first) == ["preempted", "done"]
    (interrupted, _) = submitting.run(listing.attempts(first))
    assert interrupted.failure
    assert said in interrupted.failure.message
    assert hit.warden not in processes()


def test_a_killed_program_is_a_failure_of_its_job(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    (first,) = submit(submitting, COUNT)
    os.kill(computing(settings, submitting, first).simulation, signal.SIGKILL)
    assert wait_for(submitting, first, JobState.SUCCEEDED).failures == 1
    assert hows(submitting, first) == ["failed", "done"]


@pytest.mark.slow
def test_a_worker_whose_pool_child_was_killed_has_its_cores_and_its_disk_back(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    # Given a worker of one core, which computes
    start_worker(cores=1)
    (first,) = submit(submitting, COUNT)
    hit = computing(settings, submitting, first)
    # When the pool child dies, and leaves its notes behind
    os.kill(hit.child, signal.SIGKILL)
    # Then the same worker has room for the job again
    record = wait_for(submitting, first, JobState.SUCCEEDED, JobState.FAILED, seconds=40)
    assert record.state is JobState.SUCCEEDED
    assert hows(submitting, first) == ["lost", "done"]
    eventually(lambda: not list(settings.scratch.glob("b1-*")), what="scratch is removed")


def test_a_worker_ends_and_removes_what_a_dead_one_left(settings: Settings, start_worker: StartWorker) -> None:
    # Given an attempt whose worker died at once, and a program of it that left session and warden
    code = """
import subprocess, sys
from pathlib import Path
from tasks.settings import load_settings
from worker import orphans
from worker.sessions import MARK
settings = load_settings()
scratch = orphans.own(settings, "b9-0-1-c1a1", settings.scratch / "running" / "gone" / "b9-0")
subprocess.Popen(["sleep", "600"], env={MARK: "b9-0-1-c1a1"}, cwd=scratch, start_new_session=True)
"""
    variables = {**os.environ, "SIMRELAY_HOME": str(settings.home)}
    subprocess.run([sys.executable, "-c", code], env=variables, check=True)
    assert [p.command[0] for p in belonging(settings.home)] == ["sleep"]
    # and one whose owner lives
    alive = orphans.own(settings, "b9-1-1-c1a2", settings.scratch / "running" / "here" / "b9-1")
    # When a worker starts
    start_worker()
    # Then it ends the one, and leaves the other alone
    eventually(lambda: not (settings.scratch / "b9-0-1-c1a1").exists(), what="scratch is removed")
    assert not [p for p in belonging(settings.home) if p.command[0] == "sleep"]
    assert alive.is_dir()


@pytest.mark.parametrize(
    ("changes", "dead"),
    [
        ({}, False),
        ({"start_ticks": 1}, True),  # the number was given to another process since
        ({"boot_id": "before"}, True),
        ({"boot_id": "before", "host": "elsewhere"}, False),  # a host that shares the scratch may be alive
        ({"start_ticks": 1, "pid_namespace": "pid:[1]"}, False),  # a container's numbers mean nothing here
    ],
)
def test_only_a_provably_dead_owner_loses_what_it_had(
    changes: dict[str, object], dead: bool, settings: Settings
) -> None:
    orphans.own(settings, "a-1-c", Path("note"))
    noted = json.loads((settings.scratch / "owners" / "a-1-c").read_text())
    assert orphans.Owner(**{**noted, **changes}).dead is dead


@pytest.mark.slow
def test_a_pool_child_that_is_told_to_stop_gives_its_job_back(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    worker = start_worker(cores=1)
    (first,) = submit(submitting, COUNT)
    hit = computing(settings, submitting, first)
    assert hit.child in children(worker.process.pid)
    os.kill(hit.child, signal.SIGTERM)
    record = wait_for(submitting, first, JobState.SUCCEEDED, JobState.FAILED, seconds=40)
    assert record.state is JobState.SUCCEEDED
    assert record.failures == 0
