"""A worker that is told to stop, as systemd and containers do: SIGTERM to its main process."""

from __future__ import annotations

from tasks import listing
from tasks.records import JobState
from tasks.settings import Settings
from tasks.store import Store
from tests.conftest import eventually
from tests.integration.worker.conftest import StartWorker, artifact_path, job, submit, wait_for


def test_a_stopped_worker_gives_its_job_back_with_a_checkpoint_and_another_goes_on(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    # Given a running job, and nobody else to take it
    first_worker = start_worker("one")
    (first,) = submit(submitting, {"program": "countdown", "parameters": {"steps": 60, "pause": 0.1}})
    eventually(lambda: job(submitting, first).progress, what="progress")
    # When its worker is told to stop
    first_worker.stop()
    # Then it has left in order, and the job waits with what it had reached
    assert first_worker.process.returncode == 0
    assert submitting.run(listing.workers()).rows == ()
    waiting = job(submitting, first)
    assert waiting.state is JobState.QUEUED
    assert waiting.checkpoint
    assert waiting.failures == 0
    # and another one goes on from there
    start_worker("two")
    record = wait_for(submitting, first, JobState.SUCCEEDED, JobState.FAILED)
    assert [attempt.how for attempt in submitting.run(listing.attempts(first))] == ["preempted", "done"]
    assert int(artifact_path(settings, record, "log").read_text().split()[2]) > 0
