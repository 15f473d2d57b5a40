"""What expire takes back, what it holds against a job, and when it takes nothing."""

from __future__ import annotations

import pytest

from tasks import expiry, workers
from tasks.records import JobState
from tasks.settings import Settings
from tests.conftest import eventually
from tests.integration.store.world import World


def lose_on(world: World, host: str, *, number: int | None = None, beside: str = "") -> None:
    """Let job ``a`` be claimed and lost on a host, after a checkpoint of that number, perhaps with another job."""
    world.forget_losses()
    worker = world.worker(f"w-{host}-{len(world.published)}", host=host, cores=2)
    token = world.start("a")
    assert world.offers["a"].worker == worker
    if number is not None:
        world.renew(token, number=number)
    if beside:
        world.submit(beside)
        world.start(beside)
        world.lapse(beside)
    world.store.run(workers.leave(worker, "draining", world.settings))
    world.lapse("a")
    world.expire()
    if beside:
        world.cancel(beside)


def test_three_hosts_taken_down_make_a_job_poison(world: World) -> None:
    batch = world.submit("a")
    for host in ("h1", "h2"):
        lose_on(world, host)
        assert world.state("a") is JobState.QUEUED
    lose_on(world, "h3")
    record = world.job("a")
    assert record.state is JobState.FAILED
    assert record.failure is not None
    assert record.failure.error_class == "poison"
    assert "h1 h2 h3" in record.failure.message
    assert world.batch(batch).complete is not None


def test_one_host_three_times_is_not_poison(world: World) -> None:
    world.submit("a")
    for _ in range(4):
        lose_on(world, "h1")
    assert world.state("a") is JobState.QUEUED


def test_a_checkpoint_that_advances_clears_the_suspicion(world: World) -> None:
    world.submit("a")
    for host, number in (("h1", 1), ("h2", None), ("h3", 2), ("h4", None)):
        lose_on(world, host, number=number)
        assert world.state("a") is JobState.QUEUED
    lose_on(world, "h5", number=2)  # no further than before
    assert world.state("a") is JobState.FAILED


def test_a_host_that_took_other_jobs_down_as_well_is_not_held_against_a_job(world: World) -> None:
    world.submit("a")
    for host in ("h1", "h2", "h3", "h4"):
        lose_on(world, host, beside=f"beside-{host}")
    assert world.state("a") is JobState.QUEUED


def test_a_neighbour_whose_lease_ends_a_moment_later_counts_as_lost_at_the_same_time(world: World) -> None:
    world.submit("a")
    for host in ("h1", "h2"):
        lose_on(world, host)
    world.forget_losses()
    world.worker("w3", host="h3", cores=2)
    world.start("a")
    world.submit("neighbour")
    world.start("neighbour")
    soon = world.now_ms() + world.settings.lease_ms() // 4
    world.redis.zadd(world.key("leased"), {"neighbour": soon})
    world.store.run(workers.leave("w3", "draining", world.settings))
    world.lose("a")
    assert world.state("a") is JobState.QUEUED


@pytest.fixture
def hasty(world: World) -> World:
    """A world whose leases are shorter than the settings' check would allow."""
    world.settings = world.settings.model_copy(update={"lease_seconds": 0.3})
    return world


@pytest.mark.parametrize("last", ["never", "long ago", "in the future"])
def test_after_a_pause_expire_takes_nothing_for_one_lease(hasty: World, last: str) -> None:
    hasty.worker("w1")
    hasty.submit("a")
    hasty.start("a")
    if last != "never":
        hasty.expire()
        apart = -hasty.settings.lease_ms() if last == "long ago" else 3_600_000
        hasty.redis.set(hasty.key("expire:last"), hasty.now_ms() + apart)
    hasty.lapse("a")
    began = hasty.now_ms()
    first = hasty.store.run(expiry.expire(hasty.settings))
    assert (first.guarded, first.lost) == (True, ())
    taken: list[int] = []

    def expired() -> bool:
        done = hasty.store.run(expiry.expire(hasty.settings))
        if done.lost:
            taken.append(hasty.now_ms())
        return bool(taken)

    eventually(expired, seconds=5)
    assert taken[0] - began >= hasty.settings.lease_ms()


def test_what_waits_and_what_is_held_moves_along_with_a_clock_that_is_set_back(world: World) -> None:
    day_ms = 86_400_000
    worker = world.worker("w1", cores=2)
    world.submit("leased", "offered", "delayed")
    world.start("leased")
    world.redis.set(world.key("expire:last"), world.now_ms() + day_ms)
    due = world.now_ms() + 5000
    world.redis.zadd(world.key("delayed"), {"delayed": due + day_ms})
    world.redis.hset(world.key("job:delayed"), "place", "delayed")
    world.redis.zrem(world.key("ready:program.echo:ada"), "delayed")
    for name, member in (("leased", "leased"), ("offered", "offered"), ("workers", worker)):
        world.redis.zincrby(world.key(name), day_ms, member)
    assert world.store.run(expiry.expire(world.settings)).guarded
    lease, offer = world.settings.lease_ms(), world.settings.offer_seconds * 1000
    for name, member, limit in (("leased", "leased", lease), ("offered", "offered", offer), ("workers", worker, lease)):
        score = world.redis.zscore(world.key(name), member)
        assert score is not None
        assert score <= world.now_ms() + limit, name
    score = world.redis.zscore(world.key("delayed"), "delayed")
    assert score is not None
    assert abs(score - due) < 1000


def test_the_guard_lets_a_holder_that_survived_the_pause_renew(hasty: World) -> None:
    hasty.worker("w1")
    hasty.submit("a")
    token = hasty.start("a")
    hasty.lapse("a")
    assert hasty.store.run(expiry.expire(hasty.settings)).guarded
    assert hasty.renew(token) == "ok"


def test_a_lease_ends_by_itself_when_it_is_not_renewed(hasty: World) -> None:
    hasty.worker("w1")
    hasty.submit("a")
    hasty.start("a")
    eventually(lambda: hasty.store.run(expiry.expire(hasty.settings)).lost, seconds=5)
    assert hasty.state("a") is JobState.QUEUED


def test_short_leases_of_these_tests_are_not_ones_that_settings_accept(settings: Settings) -> None:
    with pytest.raises(ValueError, match="outlive its lease"):
        Settings.model_validate({**settings.model_dump(), "lease_seconds": 0.3})
