"""Wall clocks that jump, on hosts and under Redis: no lease is taken away early, and none is held for ever."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.stack.redis_server import RedisServer
from tasks import listing
from tasks.records import JobState
from tasks.settings import Settings
from tasks.store import Store
from tests.clocks import Clock
from tests.conftest import eventually, settings_for
from tests.integration.orchestrator.conftest import (
    RunningOrchestrator,
    async_store,
    create,
    run_in,
    start_orchestrator,
)
from tests.integration.worker.conftest import StartWorker, job, start_worker, submit, submitting, wait_for

__all__ = ["start_orchestrator", "start_worker", "submitting"]

DAY = 86_400.0
COUNT = {"program": "countdown", "parameters": {"steps": 200, "pause": 0.1}}


@pytest.fixture
def clock(tmp_path: Path) -> Clock:
    """The wall clock of what is started with its variables."""
    return Clock(tmp_path)


@pytest.fixture
def server(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[RedisServer]:
    """A Redis of this test's own that goes by that clock."""
    server = RedisServer(tmp_path / "redis")
    with monkeypatch.context() as patched:
        for name, value in clock.variables.items():
            patched.setenv(name, value)
        server.start()
    yield server
    server.stop()


@pytest.fixture
def settings(server: RedisServer, tmp_path: Path) -> Settings:
    """Settings on this test's own Redis."""
    return settings_for(server, tmp_path)


def redis_is_ahead(store: Store, seconds: float) -> bool:
    """Tell whether the clock under Redis is that far from the true one."""
    found, _ = store.client.time()  # type: ignore[misc]
    return abs(found - time.time() - seconds) < 10


def attempts(store: Store, name: str) -> list[str]:
    """Give how a job's attempts ended."""
    return [attempt.how for attempt in store.run(listing.attempts(name))]


@pytest.mark.parametrize(
    "steps",
    [(30.0, 0.0), (DAY, 0.0), (-DAY, 0.0)],
)
@pytest.mark.slow
def test_a_clock_under_redis_that_jumps_and_comes_back_takes_no_lease_away(
    submitting: Store, start_worker: StartWorker, clock: Clock, steps: tuple[float, float]
) -> None:
    start_worker(cores=2)
    names = submit(submitting, COUNT, COUNT)
    eventually(lambda: all(job(submitting, name).checkpoint for name in names), what="both run")
    for step in steps:
        before = [job(submitting, name).progress for name in names]
        clock.step(step)
        eventually(lambda step=step: redis_is_ahead(submitting, step), what="the clock under Redis has jumped")

        def both_go_on(before: list[object] = before) -> bool:
            return all(job(submitting, name).progress != old for name, old in zip(names, before, strict=True))

        eventually(both_go_on, what="both go on, and several rounds of expiry have been done")
    for name in names:
        assert wait_for(submitting, name, JobState.SUCCEEDED, seconds=60).failures == 0
        assert attempts(submitting, name) == ["done"]


@pytest.mark.slow
def test_a_worker_that_dies_while_redis_clock_is_ahead_is_missed_soon_after_it_is_right_again(
    settings: Settings, submitting: Store, start_worker: StartWorker, clock: Clock
) -> None:
    first = start_worker("first", cores=1)
    (name,) = submit(submitting, COUNT)
    eventually(lambda: job(submitting, name).checkpoint, what="it runs")
    clock.step(DAY)
    before = job(submitting, name).progress
    eventually(lambda: job(submitting, name).progress != before, what="it is renewed until tomorrow")
    first.kill()
    clock.step(0)
    start_worker("second", cores=1)
    # the guard of one lease, the lease itself, and a beat
    eventually(
        lambda: attempts(submitting, name)[0] == "lost", seconds=2 * settings.lease_seconds + 5, what="it is taken back"
    )
    assert wait_for(submitting, name, JobState.SUCCEEDED, seconds=60).worker.startswith("second")


@pytest.mark.slow
async def test_hosts_whose_clocks_jump_lose_nothing(
    settings: Settings,
    submitting: Store,
    start_worker: StartWorker,
    start_orchestrator: Callable[..., RunningOrchestrator],
    tmp_path: Path,
) -> None:
    (tmp_path / "host").mkdir()
    host = Clock(tmp_path / "host")
    toml = settings.home / "programs.toml"  # the simulations go by the true clock: they have none to look at
    toml.write_text(toml.read_text().replace("stop_grace", 'environment = { LD_PRELOAD = "" }\nstop_grace', 1))
    worker = start_worker(**host.variables)
    orchestrator = start_orchestrator("one", **host.variables)
    create(submitting, "count 2 times to 50 pausing 0.1 in 2 rounds")
    for number, step in ((1, DAY), (2, -DAY)):
        names = [f"r1-s1-r{number}-{i}" for i in range(2)]
        eventually(lambda names=names: submitting.run(listing.job(names[1])), seconds=40, what="they are submitted")
        eventually(lambda names=names: all(job(submitting, name).checkpoint for name in names), what="both run")
        host.step(step)
    store = async_store(settings)
    record = await run_in(store, "r1", "SUCCEEDED", "FAILED", seconds=60)
    await store.client.aclose()
    assert record.answer == "2 SUCCEEDED", record.error
    for name in (f"r1-s1-r{number}-{i}" for number in (1, 2) for i in range(2)):
        assert attempts(submitting, name) == ["done"]
    assert record.epoch == 3, "claimed to begin, and once after each round"
    assert (worker.process.poll(), orchestrator.process.poll()) == (None, None)
