"""Redis killed, and Redis stopped for longer than the lease, while jobs run and a run waits."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable

import pytest

from orchestrator.stack.redis_server import RedisServer
from tasks import listing
from tasks.records import JobState
from tasks.settings import Settings
from tasks.store import Store
from tests.conftest import eventually
from tests.integration.orchestrator.conftest import (
    RunningOrchestrator,
    async_store,
    create,
    run_in,
    start_orchestrator,
)
from tests.integration.worker.conftest import StartWorker, job, start_worker, submitting
from tests.own_redis import server, settings

__all__ = ["server", "settings", "start_orchestrator", "start_worker", "submitting"]


def kill_and_restart(server: RedisServer, settings: Settings) -> None:
    """Kill Redis as a crash would, and start it again."""
    server.kill()
    server.start()


def stop_for_longer_than_the_lease(server: RedisServer, settings: Settings) -> None:
    """Freeze Redis until all leases have run out."""
    assert server.process
    server.process.send_signal(signal.SIGSTOP)
    time.sleep(settings.lease_seconds + 1)  # the outage itself: nothing can be polled meanwhile
    server.process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize(
    "outage", [kill_and_restart, pytest.param(stop_for_longer_than_the_lease, marks=pytest.mark.slow)]
)
async def test_an_outage_of_redis_loses_nothing_and_takes_no_lease_away(
    outage: Callable[[RedisServer, Settings], None],
    server: RedisServer,
    settings: Settings,
    submitting: Store,
    start_worker: StartWorker,
    start_orchestrator: Callable[[str], RunningOrchestrator],
) -> None:
    start_worker()
    start_orchestrator("one")
    create(submitting, "count 3 times to 150 pausing 0.1 in 1 rounds")
    job_id = "r1-s1-r1-0"
    eventually(lambda: submitting.run(listing.job(job_id)), what="the jobs are submitted")
    eventually(lambda: job(submitting, job_id).checkpoint, what="a checkpoint is recorded")
    await asyncio.to_thread(outage, server, settings)
    store = async_store(settings)
    record = await run_in(store, "r1", "SUCCEEDED", "FAILED", seconds=90)
    await store.client.aclose()
    assert record.answer == "3 SUCCEEDED"
    for number in range(3):
        found = job(submitting, f"r1-s1-r1-{number}")
        assert found.state is JobState.SUCCEEDED
        assert [a.how for a in submitting.run(listing.attempts(found.id))] == ["done"], found.id
