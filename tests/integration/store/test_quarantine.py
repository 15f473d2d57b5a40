"""Jobs that do not start: the host's fault at first, its worker's quarantine, and the job's own fault in the end."""

from __future__ import annotations

from tasks import jobs, listing, workers
from tasks.jobs import Token
from tasks.records import JobState, WorkerRecord
from tasks.results import Failure
from tests.conftest import eventually
from tests.integration.store.world import World

NO_SCRATCH = Failure(error_class="host", message="No space left on device", before_start=True)
NO_LIBRARY = Failure(error_class="not_started", message="libx.so: cannot open shared object file", before_start=True)


def not_started(world: World, token: Token, failure: Failure = NO_SCRATCH) -> JobState:
    """Give a job back whose program did not start."""
    ended = world.store.run(jobs.requeue(token, "host", world.settings, failure=failure))
    assert (ended.answer, ended.state is not None) == ("ok", True)
    return world.state(token.job)


def worker(world: World, name: str) -> WorkerRecord:
    """Read a worker."""
    record = world.store.run(listing.worker(name))
    assert record
    return record


def test_a_worker_on_which_nothing_starts_is_quarantined_and_takes_nothing_until_it_is_resumed(world: World) -> None:
    world.worker("w1")
    world.submit("a", "b", "c", "d")
    for name in ("a", "b"):
        assert not_started(world, world.start(name), NO_SCRATCH) is JobState.QUEUED
        world.hold(name)
        assert worker(world, "w1").state == "active"
    not_started(world, world.start("c"))
    assert worker(world, "w1").state == "quarantined"
    assert worker(world, "w1").reason == "3 jobs in a row did not start: No space left on device"
    assert (world.job("c").failures, world.job("c").place, world.job("d").place) == (0, "ready", "ready")
    assert {a.how for a in world.store.run(listing.attempts("c"))} == {"host"}
    beat = world.store.run(workers.beat("w1", world.settings, running={}, workspace_seen=True))
    assert (beat.state, beat.held) == ("quarantined", 0)
    assert world.store.run(workers.resume("w1", world.settings)) == "ok"
    assert (worker(world, "w1").state, worker(world, "w1").reason) == ("active", "")
    # and it counts from the beginning
    not_started(world, world.start("c"))
    assert worker(world, "w1").state == "active"


def test_a_single_job_needs_twice_as_many_failed_starts_and_is_to_blame_if_the_worker_then_proves_well(
    world: World,
) -> None:
    world.worker("w1")
    world.submit("a")
    for _ in range(2 * world.settings.quarantine_after):
        assert worker(world, "w1").state == "active"
        not_started(world, world.start("a"), NO_LIBRARY)
    assert worker(world, "w1").state == "quarantined"
    assert (world.job("a").failures, world.job("a").faults) == (0, 2 * world.settings.quarantine_after)
    began = world.now_ms()
    eventually(lambda: world.now_ms() > began + 1, what="the worker proves well later than the job's last fault")
    assert world.store.run(workers.resume("w1", world.settings)) == "ok"
    not_started(world, world.start("a"), NO_LIBRARY)
    assert world.job("a").failures == 1


def test_a_job_that_starts_between_ends_the_row(world: World) -> None:
    world.worker("w1")
    for number in range(2 * world.settings.quarantine_after):
        world.submit(f"bad-{number}")
        not_started(world, world.start(f"bad-{number}"))
        world.hold(f"bad-{number}")
        world.submit(f"good-{number}")
        world.give_back(world.start(f"good-{number}"), "preempted")
        world.hold(f"good-{number}")
        assert worker(world, "w1").state == "active"


def fail_on_hosts(world: World, failure: Failure) -> list[str]:
    """Let a job fail to start on as many hosts as it may blame; gives how its attempts ended."""
    world.submit("a")
    for number in range(world.settings.fault_hosts):
        world.worker(f"w{number}")
        not_started(world, world.start("a"), failure)
        world.store.run(workers.leave(f"w{number}", "draining", world.settings))
    return [a.how for a in world.store.run(listing.attempts("a"))]


def test_a_job_that_starts_on_no_host_uses_up_its_budget(world: World) -> None:
    assert fail_on_hosts(world, NO_LIBRARY) == ["host", "host", "failed"]
    assert world.job("a").failures == 1


def test_broken_disks_are_never_held_against_a_job(world: World) -> None:
    assert fail_on_hosts(world, NO_SCRATCH) == ["host", "host", "host"]
    assert (world.job("a").failures, world.state("a")) == (0, JobState.QUEUED)


def test_a_job_that_does_not_start_where_others_have_since_is_itself_to_blame(world: World) -> None:
    world.worker("w1")
    world.submit("bad")
    assert not_started(world, world.start("bad"), NO_LIBRARY) is JobState.QUEUED
    not_started(world, world.start("bad"), NO_LIBRARY)
    assert world.job("bad").failures == 0  # for all that is known, nothing starts there
    world.hold("bad")
    world.submit("good")
    world.succeed(world.start("good"))
    world.unhold("bad")
    not_started(world, world.start("bad"), NO_LIBRARY)
    assert world.job("bad").failures == 1


def test_a_job_goes_to_another_host_than_the_one_that_could_not_start_it(world: World) -> None:
    world.worker("w1", cores=1)
    world.submit("a")
    token = world.start("a")
    world.worker("w2", cores=2)  # the looser fit
    not_started(world, token)
    assert world.offers["a"].worker == "w2"


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
