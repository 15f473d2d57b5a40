"""Jobs that do not start: the host's fault at first, its worker's quarantine, and the job's own fault in the end."""

from __future__ import annotations

from tasks import jobs, listing, workers
from tasks.jobs import FAULT_HOSTS, QUARANTINE_AFTER, Token
from tasks.records import JobState, WorkerRecord
from tasks.results import Failure
from tests.integration.store.world import World

NO_SCRATCH = Failure(error_class="host", message="No space left on device", before_start=True)


def not_started(world: World, token: Token) -> JobState:
    """Give a job back whose program did not start."""
    ended = world.store.run(jobs.requeue(token, "host", world.settings, failure=NO_SCRATCH))
    assert (ended.answer, ended.state is not None) == ("ok", True)
    return world.state(token.job)


def worker(world: World, name: str) -> WorkerRecord:
    """Read a worker."""
    record = world.store.run(listing.worker(name))
    assert record
    return record


def test_a_worker_on_which_nothing_starts_is_quarantined_and_takes_nothing_until_it_is_resumed(world: World) -> None:
    world.worker("w1")
    world.submit("a", "b")
    for _ in range(QUARANTINE_AFTER - 1):
        assert not_started(world, world.start("a")) is JobState.QUEUED
        assert worker(world, "w1").state == "active"
    not_started(world, world.start("a"))
    assert worker(world, "w1").state == "quarantined"
    assert worker(world, "w1").reason == "3 jobs in a row did not start: No space left on device"
    assert (world.job("a").failures, world.job("a").place, world.job("b").place) == (0, "ready", "ready")
    assert {a.how for a in world.store.run(listing.attempts("a"))} == {"host"}
    beat = world.store.run(workers.beat("w1", world.settings, running={}, workspace_seen=True))
    assert (beat.state, beat.held) == ("quarantined", 0)
    assert world.store.run(workers.resume("w1", world.settings)) == "ok"
    assert (worker(world, "w1").state, worker(world, "w1").reason) == ("active", "")
    # and it counts from the beginning
    not_started(world, world.start("a"))
    assert worker(world, "w1").state == "active"


def test_a_job_that_starts_between_ends_the_row(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    for _ in range(QUARANTINE_AFTER):
        not_started(world, world.start("a"))
        world.give_back(world.start("a"), "preempted")
        assert worker(world, "w1").state == "active"


def test_a_job_that_starts_on_no_host_uses_up_its_budget(world: World) -> None:
    names = [f"w{n}" for n in range(FAULT_HOSTS)]
    world.submit("a")
    for name in names:
        world.worker(name)
        not_started(world, world.start("a"))
        world.store.run(workers.leave(name, "draining", world.settings))
    assert world.job("a").failures == 1
    assert [a.how for a in world.store.run(listing.attempts("a"))] == ["host", "host", "failed"]


def test_a_poison_jobs_failure_holds_what_it_last_said_on_each_host(world: World) -> None:
    world.submit("bad")
    for n in range(3):
        world.worker(f"w{n}")
        token = world.start("bad")
        world.store.run(jobs.renew(token, world.settings, last_lines=() if n == 1 else (f"cycle {n}", "allocating")))
        world.store.run(workers.leave(f"w{n}", "draining", world.settings))
        world.lose("bad")
        world.forget_losses()
    record = world.job("bad")
    assert record.state is JobState.FAILED
    assert record.failure
    assert record.failure.message.endswith("host-of-w0 host-of-w1 host-of-w2")
    assert record.failure.evidence == (
        "host-of-w0: cycle 0",
        "host-of-w0: allocating",
        "host-of-w1: no output was seen",
        "host-of-w2: cycle 2",
        "host-of-w2: allocating",
    )
