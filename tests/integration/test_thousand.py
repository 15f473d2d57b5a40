"""A thousand jobs in one batch with a run waiting behind them: one resume, and every job counted once."""

from __future__ import annotations

from collections import Counter

import pytest

from orchestrator.steps import open_batches
from tasks import listing
from tasks.records import JobState
from tasks.settings import Settings
from tasks.store import Store
from tests.integration.orchestrator.conftest import create, holding, run_in
from tests.integration.worker.conftest import StartWorker, start_worker, submitting

__all__ = ["start_worker", "submitting"]


@pytest.mark.slow
async def test_a_thousand_jobs_wake_their_run_once_and_are_counted_once(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, "count 1000 times to 0 pausing 0 in 1 rounds")
    async with holding(settings) as holder:
        await run_in(holder.store, "r1", "WAITING")
        assert len(open_batches((await holder.view("r1")).plan)) == 1
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED", seconds=240)
        batch = await holder.store.run(listing.batch("r1-s1-r1"))
        whole = listing.WholeBatch("r1-s1-r1")
        while call := whole.following():
            whole.take(await holder.store.run(call))
    assert [job.batch_index for job in whole.records] == list(range(1000))
    assert all(job.attempt == 1 and job.place == "" for job in whole.records)
    states = Counter(job.state for job in whole.records)
    assert record.answer == "1000 SUCCEEDED"
    assert record.epoch == 2  # claimed when it was made, and once more when the batch was complete
    assert states == {JobState.SUCCEEDED: 1000}
    assert batch
    assert (batch.succeeded, batch.failed, batch.cancelled) == (1000, 0, 0)
