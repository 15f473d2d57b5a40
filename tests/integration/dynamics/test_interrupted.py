"""Molecular dynamics killed, stopped and damaged in the middle of a stage: each frame is there exactly once."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest

from tasks import listing
from tasks.records import JobState
from tasks.settings import Settings
from tasks.store import Store
from tests.conftest import eventually
from tests.integration.dynamics.conftest import frame_times, in_stage, result_of, water
from tests.integration.worker.conftest import StartWorker, artifact_path, job, submit, wait_for


def process_of(settings: Settings, *words: str) -> psutil.Process:
    """Find the process of this installation whose command line has these words."""
    for process in psutil.process_iter(["cmdline", "cwd"]):
        line, folder = process.info["cmdline"] or [], process.info["cwd"] or ""
        if folder.startswith(str(settings.scratch)) and all(any(word in part for part in line) for word in words):
            return process
    pytest.fail(f"no process with {words}")


def check_whole(store: Store, settings: Settings, job_id: str, picoseconds: int) -> None:
    """Assert that a job succeeded with each frame once, and that no finished stage ran twice."""
    record = wait_for(store, job_id, JobState.SUCCEEDED, JobState.FAILED, seconds=240)
    assert record.state is JobState.SUCCEEDED, record.failure
    trajectory, topology = artifact_path(settings, record, "trajectory"), artifact_path(settings, record, "run_input")
    assert frame_times(trajectory, topology) == [float(moment) for moment in range(picoseconds + 1)]
    assert result_of(store, job_id).frames == picoseconds + 1


def went_on(settings: Settings, store: Store, job_id: str) -> str:
    """Give the log of the production, which says from where it went on."""
    return artifact_path(settings, job(store, job_id), "run_log").read_text(errors="replace")


@pytest.mark.parametrize(
    "victim", ["mdrun", pytest.param("warden", marks=pytest.mark.slow), pytest.param("worker", marks=pytest.mark.slow)]
)
def test_a_run_killed_within_a_stage_goes_on_from_its_checkpoint_and_has_each_frame_once(
    settings: Settings, submitting: Store, start_worker: StartWorker, victim: str
) -> None:
    worker = start_worker(cores=1)
    (killed,) = submit(submitting, water(production_ps=60))
    in_stage(submitting, killed, "production")
    if victim == "worker":
        worker.kill()
        start_worker("two", cores=1)
    else:
        process_of(settings, *(("mdrun",) if victim == "mdrun" else ("warden",))).kill()
    check_whole(submitting, settings, killed, 60)
    assert job(submitting, killed).attempt == 2
    assert "Restarting from checkpoint, appending to previous log file." in went_on(settings, submitting, killed)
    _, second = submitting.run(listing.attempts(killed))
    assert second.checkpoint_from
    output = artifact_path(settings, job(submitting, killed), "log").read_text()
    assert "Built a box" not in output and "Steepest Descents" not in output


@pytest.mark.slow
def test_a_run_that_is_told_to_stop_writes_a_checkpoint_and_goes_on_elsewhere(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    worker = start_worker(cores=1)
    (moved,) = submit(submitting, water(production_ps=60, checkpoint_seconds=3600))
    in_stage(submitting, moved, "production", checkpoint=False)

    def under_way() -> bool:
        progress = job(submitting, moved).progress
        return progress is not None and (progress.step or 0) > 2000

    eventually(under_way, seconds=90, what="4 ps of the production")
    worker.stop()
    record = job(submitting, moved)
    assert record.state is JobState.QUEUED
    assert record.checkpoint and record.checkpoint.text.startswith("production, about step")
    assert record.failures == 0
    start_worker("two", cores=1)
    check_whole(submitting, settings, moved, 60)
    assert "Received the TERM signal" in went_on(settings, submitting, moved)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_run_longer_than_its_walltime_takes_several_attempts(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker(cores=1)
    # 60 s of them belong to writing a checkpoint.
    limits = {"cores": 1, "walltime_seconds": 75}
    (long,) = submit(submitting, water(production_ps=200, resources=limits))
    record = wait_for(submitting, long, JobState.SUCCEEDED, JobState.FAILED, seconds=800)
    assert record.state is JobState.SUCCEEDED, record.failure
    hows = [attempt.how for attempt in submitting.run(listing.attempts(long))]
    assert "walltime" in hows and hows[-1] == "done"
    check_whole(submitting, settings, long, 200)


@pytest.mark.slow
def test_a_damaged_checkpoint_is_passed_over_for_the_one_before(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    worker = start_worker(cores=1)
    (damaged,) = submit(submitting, water(production_ps=60))
    in_stage(submitting, damaged, "production")

    def both() -> bool:
        newest = job(submitting, damaged).checkpoint
        return newest is not None and any(Path(file.path).name == "production_prev.cpt" for file in newest.files)

    eventually(both, seconds=60, what="a second checkpoint")
    running = process_of(settings, "mdrun")
    scratch = Path(running.cwd())
    os.kill(running.pid, signal.SIGSTOP)
    # What the program wrote last is damaged before anybody looks at it: cut off in the middle.
    checkpoint = scratch / "production.cpt"
    whole = checkpoint.read_bytes()
    checkpoint.unlink()
    checkpoint.write_bytes(whole[: len(whole) // 2])
    os.kill(running.pid, signal.SIGKILL)
    check_whole(submitting, settings, damaged, 60)
    record = job(submitting, damaged)
    assert [one.name for one in record.corrections] == ["damaged_checkpoint"]
    assert "appending to previous log file" in went_on(settings, submitting, damaged)
    assert worker.process.poll() is None
