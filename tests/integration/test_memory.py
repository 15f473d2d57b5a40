"""Redis short of memory, and without any left, while jobs run and runs wait: nothing is lost, and all goes on after."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tasks import listing, runs
from tasks.errors import Refused, Unreachable
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
from tests.integration.worker.conftest import StartWorker, job, start_worker, submit, submitting, wait_for
from tests.own_redis import server, settings

__all__ = ["server", "settings", "start_orchestrator", "start_worker", "submitting"]


def leave_free(store: Store, share: float) -> None:
    """Set Redis' memory limit so that this share of it is free (below zero: more is used than there may be)."""
    store.client.setrange("ballast", 100 * 2**20, "x")  # else a share of a small server is next to nothing
    used = int(store.client.info("memory")["used_memory"])  # type: ignore[index]
    store.client.config_set("maxmemory", int(used / (1 - share)))


def give_memory_back(store: Store) -> None:
    """Take the limit away."""
    store.client.config_set("maxmemory", 0)


@pytest.mark.slow
async def test_a_redis_short_of_memory_ends_what_it_accepted_and_takes_new_work_when_it_has_room(
    settings: Settings,
    submitting: Store,
    start_worker: StartWorker,
    start_orchestrator: Callable[[str], RunningOrchestrator],
) -> None:
    start_worker()
    start_orchestrator("one")
    create(submitting, "count 3 times to 30 pausing 0.1 in 2 rounds")
    first = [f"r1-s1-r1-{number}" for number in range(3)]
    eventually(lambda: submitting.run(listing.job(first[2])), what="the first round is submitted")
    leave_free(submitting, 0.1)
    with pytest.raises(Refused, match=r"Redis uses \d+ of \d+ MB: no new jobs until there is room again"):
        submit(submitting, {"program": "nothing"}, batch="refused")
    with pytest.raises(Refused, match=r"Redis uses \d+ of \d+ MB: no new runs until there is room again"):
        create(submitting, "count 1 times to 1 pausing 0 in 1 rounds", "r2")
    assert submitting.run(listing.run("r2")) is None
    for name in first:
        assert wait_for(submitting, name, JobState.SUCCEEDED).attempt == 1
    # The run cannot submit its second round: it says so, and is not lost

    def says_why() -> bool:
        record = submitting.run(listing.run("r1"))
        assert record
        assert record.ended is None, record.error
        return "no new jobs until there is room again" in record.error

    eventually(says_why, what="the run says what it waits for")
    # When memory is back
    give_memory_back(submitting)
    submit(submitting, {"program": "nothing"}, batch="accepted")
    store = async_store(settings)
    record = await run_in(store, "r1", "SUCCEEDED", "FAILED", seconds=60)
    await store.client.aclose()
    assert (record.state.value, record.answer, record.error) == ("SUCCEEDED", "3 SUCCEEDED", "")


@pytest.mark.slow
async def test_a_redis_without_memory_keeps_leases_and_ends_and_goes_on_when_it_has_some(
    settings: Settings,
    submitting: Store,
    start_worker: StartWorker,
    start_orchestrator: Callable[[str], RunningOrchestrator],
) -> None:
    worker = start_worker(cores=2)
    start_orchestrator("one")
    create(submitting, "count 4 times to 60 pausing 0.1 in 1 rounds")
    names = [f"r1-s1-r1-{number}" for number in range(4)]
    eventually(lambda: submitting.run(listing.job(names[3])), what="all jobs are submitted")

    def running() -> list[str]:
        return [name for name in names if job(submitting, name).checkpoint]

    eventually(lambda: len(running()) == 2, what="two of them run")
    began = running()
    leave_free(submitting, -0.5)
    with pytest.raises(Refused, match="no memory left"):
        submit(submitting, {"program": "nothing"}, batch="refused")
    # What runs is renewed, and its end counts
    for name in began:
        assert wait_for(submitting, name, JobState.SUCCEEDED).attempt == 1
        assert [a.how for a in submitting.run(listing.attempts(name))] == ["done"]
    assert worker.process.poll() is None, worker.log.read_text()
    give_memory_back(submitting)
    store = async_store(settings)
    record = await run_in(store, "r1", "SUCCEEDED", "FAILED", seconds=60)
    await store.client.aclose()
    assert (record.state.value, record.answer) == ("SUCCEEDED", "4 SUCCEEDED")
    assert {a.how for name in names for a in submitting.run(listing.attempts(name))} == {"done"}


def test_a_redis_that_takes_no_writes_is_as_one_that_is_away(submitting: Store) -> None:
    submitting.client.config_set("min-replicas-to-write", 1)
    try:
        with pytest.raises(Unreachable, match="Redis takes nothing now: NOREPLICAS"):
            submitting.run(runs.create("r1", "ana", "x"))
    finally:
        submitting.client.config_set("min-replicas-to-write", 0)
