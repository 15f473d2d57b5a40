"""Batches in the store: filled in chunks, sealed, complete once, cancelled as a whole."""

from __future__ import annotations

import pytest

from tasks import batches, listing, runs
from tasks.errors import Conflict, LeaseLost, NotFound
from tasks.records import JobState
from tests.integration.store.world import BOB, World, new_job


def test_a_batch_is_filled_in_chunks_while_its_first_jobs_end(world: World) -> None:
    world.worker("w1")
    world.open("batch", 4)
    assert world.fill("batch", [new_job("a"), new_job("b")]) == 2
    world.succeed(world.start("a"))
    world.end(world.start("b"), JobState.FAILED)
    assert world.batch("batch").complete is None
    assert world.fill("batch", [new_job("c"), new_job("d")], first_index=2) == 2
    world.succeed(world.start("c"))
    world.seal("batch")
    assert world.batch("batch").complete is None
    world.cancel("d")
    record = world.batch("batch")
    assert (record.succeeded, record.failed, record.cancelled) == (2, 1, 1)
    assert record.complete is not None
    held = world.run()
    assert world.store.run(runs.look(held.id, held.epoch, ["batch", "no batch"])).complete == {"batch"}


@pytest.mark.parametrize("state", ["QUEUED", "HELD", "RUNNING", "PARKED"])
def test_a_batch_whose_last_job_is_cancelled_completes(world: World, state: str) -> None:
    world.worker("w1")
    world.submit("a", "b", batch="batch")
    world.succeed(world.start("a"))
    token = world.start("b") if state in ("RUNNING", "PARKED") else None
    if state == "HELD":
        world.hold("b")
    if state == "PARKED" and token:
        world.open("kids", 1, world.parent(token))
        world.park(token, "kids")
    assert world.state("b") is JobState(state)
    world.cancel("b")
    if state == "RUNNING" and token:
        assert world.batch("batch").complete is None
        world.end(token, JobState.CANCELLED)
    assert world.batch("batch").complete is not None


def test_an_empty_batch_is_complete_when_sealed(world: World) -> None:
    world.open("batch", 0)
    world.seal("batch")
    assert world.batch("batch").complete is not None


def test_a_batch_that_lacks_jobs_cannot_be_sealed(world: World) -> None:
    world.open("batch", 2)
    world.fill("batch", [new_job("a")])
    with pytest.raises(Conflict, match="1 of 2"):
        world.seal("batch")
    assert not world.batch("batch").sealed


def test_a_sealed_batch_takes_no_new_jobs_but_a_repeated_chunk(world: World) -> None:
    batch = world.submit("a")
    assert world.fill(batch, [new_job("a")]) == 0
    with pytest.raises(Conflict, match="sealed"):
        world.fill(batch, [new_job("a"), new_job("b")])
    assert world.store.run(listing.job("b")) is None
    world.seal(batch)


def test_opening_a_batch_again_changes_nothing(world: World) -> None:
    assert world.open("batch", 2, manifest="m").opened
    before = world.batch("batch")
    again = world.open("batch", 2, manifest="m")
    assert (again.opened, again.manifest) == (False, "m")
    assert world.batch("batch") == before


def test_the_same_batch_with_another_manifest_or_owner_is_a_conflict(world: World) -> None:
    world.open("batch", 2)
    with pytest.raises(Conflict):
        world.open("batch", 2, manifest_hash="another")
    with pytest.raises(Conflict):
        world.open("batch", 2, BOB)
    with pytest.raises(Conflict):
        world.open("batch", 2, world.run_owner(world.run()))
    assert world.batch("batch").owner == "ada"


def test_a_run_cannot_open_its_batch_again_with_another_manifest(world: World) -> None:
    owner = world.run_owner(world.run())
    world.open("batch", 2, owner)
    with pytest.raises(Conflict):
        world.open("batch", 2, owner, manifest_hash="another")


def test_a_job_cannot_be_in_two_batches_and_nothing_of_the_chunk_is_taken(world: World) -> None:
    world.submit("a", batch="first")
    world.open("second", 2)
    with pytest.raises(Conflict, match="job a exists"):
        world.fill("second", [new_job("b"), new_job("a")])
    assert world.store.run(listing.job("b")) is None


@pytest.mark.parametrize("act", ["fill", "seal", "cancel"])
def test_an_unknown_batch_is_not_found(world: World, act: str) -> None:
    acts = {
        "fill": lambda: world.fill("none", [new_job("a")]),
        "seal": lambda: world.seal("none"),
        "cancel": lambda: world.cancel_batch("none"),
    }
    with pytest.raises(NotFound):
        acts[act]()


def test_a_run_is_told_of_a_completion_once(world: World) -> None:
    world.worker("w1")
    held = world.run()
    owner = world.run_owner(held)
    world.submit("a", owner=owner, batch="batch")
    token = world.start("a")
    for _ in range(2):
        world.succeed(token)
        world.seal("batch", owner)
    assert [entry.id for entry in world.store.run(runs.look("run", held.epoch)).inbox] == ["batch:batch"]
    world.store.run(runs.write_checkpoint("run", held.epoch, runs.CheckpointWrite(acks=("batch:batch",))))
    world.succeed(token)
    world.seal("batch", owner)
    world.cancel("a")
    assert world.store.run(runs.look("run", held.epoch)).inbox == ()


def test_a_completion_unparks_its_parent_once(world: World) -> None:
    world.worker("w1", cores=2)
    world.submit("parent")
    token = world.start("parent")
    owner = world.parent(token)
    world.submit("kid-1", "kid-2", owner=owner, batch="kids")
    world.park(token, "kids")
    world.succeed(world.start("kid-1"))
    assert world.state("parent") is JobState.PARKED
    last = world.start("kid-2")
    world.succeed(last)
    assert world.state("parent") is JobState.QUEUED
    second = world.start("parent")
    world.succeed(last)
    assert world.park(token, "kids").answer == "same"
    assert world.state("parent") is JobState.RUNNING
    assert world.succeed(second).answer == "ok"


def test_a_parent_parks_only_on_a_batch_of_its_own(world: World) -> None:
    world.worker("w1", cores=2)
    world.submit("parent")
    token = world.start("parent")
    world.open("of a user", 1)
    for batch in ("of a user", "none"):
        with pytest.raises(NotFound):
            world.park(token, batch)
    assert world.state("parent") is JobState.RUNNING


def test_a_parked_parent_can_fill_no_batch(world: World) -> None:
    world.worker("w1")
    world.submit("parent")
    token = world.start("parent")
    owner = world.parent(token)
    world.open("kids", 1, owner)
    world.park(token, "kids")
    with pytest.raises(LeaseLost):
        world.fill("kids", [new_job("kid")], owner)


def test_cancelling_a_batch_twice_or_after_its_end(world: World) -> None:
    world.worker("w1")
    batch = world.submit("a")
    assert [world.cancel_batch(batch), world.cancel_batch(batch)] == ["ok", "already"]
    ended = world.submit("b")
    world.sweep()
    world.succeed(world.start("b"))
    assert world.cancel_batch(ended) == "ended"
    assert not world.batch(ended).cancel_mark


def test_a_cancelled_batch_of_a_thousand_is_swept_in_chunks(world: World) -> None:
    world.worker("w1", cores=2)
    world.open("batch", 1000)
    for first in range(0, 1000, batches.CHUNK):
        rows = [new_job(f"job-{number}") for number in range(first, first + batches.CHUNK)]
        world.fill("batch", rows, first_index=first)
    world.seal("batch")
    token = world.start("job-0")
    world.cancel_batch("batch")
    chunks = [world.sweep(400) for _ in range(3)]
    assert [(chunk.swept, chunk.more) for chunk in chunks] == [(400, True), (400, True), (199, False)]
    assert world.renew(token) == "cancel"
    world.end(token, JobState.CANCELLED)
    record = world.batch("batch")
    assert (record.cancelled, record.complete is not None) == (1000, True)
    assert world.redis.exists(world.key("queues"), world.key("offered"), world.key("leased"), world.key("sweep")) == 0


def test_the_sweep_follows_the_children_of_the_parents_that_it_ends(world: World) -> None:
    world.worker("w1", cores=2)
    batch = world.submit("parent")
    token = world.start("parent")
    world.submit("kid", owner=world.parent(token), batch="kids")
    world.park(token, "kids")
    world.hold("kid")
    world.cancel_batch(batch)
    while world.sweep(1).more:
        assert world.batch(batch).cancel_mark
    assert [world.state(job) for job in ("parent", "kid")] == [JobState.CANCELLED] * 2
    assert world.batch("kids").complete is not None
