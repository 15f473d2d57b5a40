"""`program` jobs, from submission to result, on real workers."""

from __future__ import annotations

import pytest

from tasks import jobs, listing
from tasks.records import JobState
from tasks.settings import Settings
from tasks.store import Store
from tasks.workspace import attempt_folder
from tests.conftest import eventually
from tests.integration.worker.conftest import StartWorker, artifact_path, job, submit, wait_for

COUNT = {"program": "countdown", "parameters": {"steps": 4}}
SLOW = {"program": "countdown", "parameters": {"steps": 40, "pause": 0.1}}


def test_a_job_runs_and_its_values_and_log_are_kept(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    (first,) = submit(submitting, COUNT)
    record = wait_for(submitting, first, JobState.SUCCEEDED, JobState.FAILED)
    assert record.state is JobState.SUCCEEDED, record.failure
    assert record.result and record.result.kind == "program"
    assert record.result.values == {"sum": "10"}
    assert "COUNTED" in artifact_path(settings, record, "log").read_text()
    assert record.accepted_attempt == 1
    (attempt,) = submitting.run(listing.attempts(first))
    assert attempt.how == "done"


@pytest.mark.slow
def test_a_killed_workers_job_goes_on_from_its_checkpoint_on_another(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    workers = {name: start_worker(name) for name in ("one", "two")}
    (first,) = submit(submitting, SLOW)
    eventually(lambda: job(submitting, first).checkpoint, what="a checkpoint is recorded")
    workers[job(submitting, first).worker.rpartition("-")[0]].kill()
    record = wait_for(submitting, first, JobState.SUCCEEDED, seconds=40)
    log = artifact_path(settings, record, "log").read_text()
    begin = int(log.split()[2])
    assert begin > 0, log
    assert record.result and record.result.kind == "program"
    assert record.result.values == {"sum": "820"}
    assert [a.how for a in submitting.run(listing.attempts(first))] == ["lost", "done"]


@pytest.mark.slow
def test_an_attempt_says_from_which_checkpoint_it_went_on_when_the_newest_is_damaged(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    worker = start_worker("one")
    (first,) = submit(submitting, SLOW)
    eventually(lambda: job(submitting, first).checkpoint_before, what="two checkpoints are recorded")
    worker.kill()
    newest, before = job(submitting, first).checkpoint, job(submitting, first).checkpoint_before
    assert newest and before
    (settings.workspace / newest.files[0].path).write_bytes(b"damaged")
    start_worker("two")
    wait_for(submitting, first, JobState.SUCCEEDED, seconds=40)
    second = submitting.run(listing.attempts(first))[1]
    assert second.checkpoint_from == before


def test_cancelling_a_running_job_ends_its_program_and_keeps_what_it_had_reached(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    (first,) = submit(submitting, SLOW)
    eventually(lambda: job(submitting, first).progress, what="progress")
    assert submitting.run(jobs.cancel(first, submitting.settings)).answer == "requested"
    assert wait_for(submitting, first, JobState.CANCELLED, seconds=10).ended
    (attempt,) = submitting.run(listing.attempts(first))
    folder = attempt_folder(settings.workspace, first, attempt.attempt, attempt.claim_id)
    assert "1" in (folder / "output.log").read_text().split()
    assert list((folder / "checkpoints").glob("*/*"))
