"""Completions that come too early, twice, or just when a run is about to wait: it is never missed, and never stuck."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from langchain_core.runnables import RunnableConfig

from orchestrator.graph import Supervisor
from orchestrator.holder import Holder
from orchestrator.state import RunState
from orchestrator.steps import open_batches
from tasks import listing, runs
from tasks.records import InboxEntry
from tasks.runs import Held
from tasks.settings import Settings
from tasks.store import Store
from tests.counting import COUNTING, plan_counting
from tests.integration.orchestrator.conftest import async_store, create, run_in, until
from tests.integration.worker.conftest import StartWorker


async def complete(holder: Holder, batch: str) -> None:
    """Wait until a batch is complete."""

    async def look() -> bool:
        record = await holder.store.run(listing.batch(batch))
        return bool(record and record.complete)

    await until(look, what=f"{batch} is complete")


class WaitsBeforeItsRelease(Holder):
    """A holder that is slow between its interrupt's checkpoint and letting go of the run."""

    async def _wait(self, held: Held, snapshot: Any) -> bool:
        await complete(self, f"{held.id}-s1-r1")
        return await super()._wait(held, snapshot)


class LooksLate(Supervisor):
    """A graph whose waiting node comes to look only when everything is over."""

    async def await_batches(self, state: RunState, config: RunnableConfig) -> dict[str, Any]:
        for _, batch in open_batches(state.plan):

            async def over(batch_id: str = batch.batch_id) -> bool:
                record = await self.store.run(listing.batch(batch_id))
                return bool(record and record.complete)

            await until(over, what=f"{batch.batch_id} is complete")
        return await super().await_batches(state, config)


async def drive(holder: Holder) -> None:
    """Claim the one run that is ready and work on it until it is let go."""
    await holder.setup()
    held = await holder.store.run(runs.claim(holder.id, holder.settings))
    assert held
    await holder._drive(held)


def holder_of(settings: Settings, kind: type[Holder] = Holder) -> Holder:
    return kind(settings, async_store(settings), "o1", agents=COUNTING, plan=plan_counting)


async def test_a_batch_that_completes_before_the_run_is_let_go_is_seen_at_once(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, "count 2 times to 1 pausing 0 in 1 rounds")
    holder = holder_of(settings, WaitsBeforeItsRelease)
    await drive(holder)  # once: it is never WAITING in between
    record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED", "WAITING")
    assert (record.state, record.answer, record.epoch) == ("SUCCEEDED", "2 SUCCEEDED", 1)


async def test_a_batch_that_completes_before_the_interrupt_is_checkpointed_needs_no_interrupt(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, "count 1 times to 1 pausing 0 in 1 rounds")
    holder = holder_of(settings)
    parts = {field.name: getattr(holder.supervisor, field.name) for field in fields(holder.supervisor)}
    holder.supervisor = LooksLate(**parts)
    await drive(holder)
    record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED", "WAITING")
    assert (record.state, record.answer, record.epoch) == ("SUCCEEDED", "1 SUCCEEDED", 1)


async def test_waking_a_run_twice_and_for_nothing_is_harmless(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    create(submitting, "count 1 times to 1 pausing 0 in 1 rounds")
    holder = holder_of(settings)
    await drive(holder)
    for number in range(2):
        submitting.run(runs.post("r1", InboxEntry(id=f"look-{number}", kind="look")))
    await drive(holder)
    record = await run_in(holder.store, "r1", "WAITING")
    assert submitting.client.llen(f"{settings.key_prefix}run:r1:inbox") == 0
    start_worker()
    await complete(holder, "r1-s1-r1")
    # The same completion is told once more, as a late message would.
    assert submitting.run(runs.post("r1", InboxEntry(id="batch:r1-s1-r1", kind="batch", batch="r1-s1-r1"))) == "same"
    await drive(holder)
    record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED")
    assert record.answer == "1 SUCCEEDED"
