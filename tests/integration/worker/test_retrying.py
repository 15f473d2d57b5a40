"""A job that is done again on a real worker: from its last checkpoint, or from scratch."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from orchestrator.api.shapes import NewChange
from orchestrator.changes import Verb, change
from tasks import jobs
from tasks.celery_app import make_app, publisher
from tasks.records import JobState
from tasks.settings import Settings
from tasks.store import AsyncStore, Store, connect_async
from tests.conftest import eventually
from tests.integration.worker.conftest import StartWorker, artifact_path, job, submit, wait_for

SLOW: dict[str, object] = {"program": "countdown", "parameters": {"steps": 30, "pause": 0.1}}


@pytest.fixture
async def awaited(settings: Settings) -> AsyncIterator[AsyncStore]:
    """A store as the service has it."""
    store = AsyncStore(connect_async(settings), settings, publisher(make_app(settings)))
    yield store
    await store.client.aclose()


async def test_a_retry_computes_on_from_the_old_jobs_checkpoint_and_a_rerun_begins_anew(
    settings: Settings, submitting: Store, start_worker: StartWorker, awaited: AsyncStore
) -> None:
    start_worker()
    (old,) = submit(submitting, SLOW)
    eventually(lambda: job(submitting, old).checkpoint, what="a checkpoint is recorded")
    submitting.run(jobs.cancel(old, settings))
    wait_for(submitting, old, JobState.CANCELLED)
    for verb in (Verb.RETRY, Verb.RERUN):
        done = await change(awaited, settings, verb, NewChange(jobs=[old], id=verb.value))
        (row,) = done.changes
        record = wait_for(submitting, row.new_job, JobState.SUCCEEDED, JobState.FAILED)
        assert record.state is JobState.SUCCEEDED, record.failure
        assert record.result and record.result.kind == "program"
        assert record.result.values == {"sum": "465"}
        begin = int(artifact_path(settings, record, "log").read_text().split()[2])
        assert (begin > 0) == (verb is Verb.RETRY)
        if record.checkpoint and verb is Verb.RETRY:
            reached = job(submitting, old).checkpoint
            assert reached and record.checkpoint.number > reached.number
