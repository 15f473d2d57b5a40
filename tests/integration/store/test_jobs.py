"""The life of a job in the store: claimed, renewed, ended, given back, held, cancelled."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tasks import expiry, jobs, listing, workers
from tasks.errors import NotFound
from tasks.jobs import Token
from tasks.records import JobState
from tasks.results import Progress
from tests.integration.store.world import World, new_job

ENDED = (JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED)


# ---- claims


def test_of_two_claimants_one_wins(world: World) -> None:
    world.worker("w1", cores=4)
    world.submit("a")
    assert [world.claim("a", claim_id=name).answer for name in ("first", "second")] == ["ok", "gone"]
    assert world.job("a").attempt == 1


def test_only_the_worker_of_the_offer_may_claim(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    world.worker("w2")
    assert world.claim("a", worker="w2").answer == "gone"
    assert world.claim("a").answer == "ok"


def test_a_claim_whose_reply_was_lost_is_answered_with_the_same_attempt(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    first = world.claim("a", claim_id="c")
    again = world.claim("a", claim_id="c")
    assert again.answer == "ok"
    assert again.token == first.token
    assert world.job("a").attempt == 1
    assert again.token is not None
    world.succeed(again.token)
    assert world.claim("a", claim_id="c").answer == "gone"


def test_a_late_message_of_an_older_offer_does_nothing(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    old = world.offers["a"].task_id
    world.give_back(world.start("a"), "preempted")
    assert world.claim("a", task_id=old).answer == "gone"
    assert world.claim("a").answer == "ok"


def test_a_claim_of_an_unknown_job_says_so(world: World) -> None:
    assert world.store.run(jobs.claim("nobody", "w1", "c", "t", world.settings)).answer == "unknown"


@pytest.mark.parametrize("wrong", ["claim id", "attempt"])
def test_a_wrong_token_is_refused_everywhere(world: World, wrong: str) -> None:
    world.worker("w1")
    world.submit("a")
    token = world.start("a")
    attempt, claim_id = (1, "another") if wrong == "claim id" else (2, token.claim_id)
    false = Token(job="a", attempt=attempt, claim_id=claim_id)
    before = world.job("a")
    assert world.renew(false, number=1) == "fenced"
    assert world.succeed(false).answer == "fenced"
    assert world.give_back(false).answer == "fenced"
    assert world.park(false, "batch").answer == "fenced"
    assert world.job("a") == before


def test_a_worker_that_still_runs_something_else_is_not_given_more_than_it_has_room_for(world: World) -> None:
    world.worker("w1", cores=2)
    world.submit(new_job("a", cores=2))
    beat = workers.beat("w1", world.settings, running={"old": (1, 100)}, workspace_seen=True)
    assert world.store.run(beat).state == "active"
    assert world.claim("a").answer == "no_room"
    assert (world.state("a"), world.job("a").place) == (JobState.QUEUED, "ready")
    world.store.run(workers.beat("w1", world.settings, running={}, workspace_seen=True))
    assert world.claim("a").answer == "ok"


def test_a_lost_attempt_that_runs_on_counts_even_if_its_job_is_offered_there_again(world: World) -> None:
    world.worker("w1", cores=3)
    world.submit(new_job("a", cores=2))
    world.start("a")
    world.lapse("a")
    world.store.run(expiry.expire(world.settings))  # guarded: nothing is taken
    world.expire()
    assert world.offers["a"].worker == "w1"
    world.store.run(workers.beat("w1", world.settings, running={"a": (2, 100)}, workspace_seen=True))
    assert world.claim("a").answer == "no_room"


# ---- heartbeats


def test_a_renewal_extends_the_lease_and_keeps_progress_and_both_newest_checkpoints(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    token = world.start("a")
    world.lapse("a")
    world.store.run(jobs.renew(token, world.settings, progress=Progress(text="step 3", step=3, total=9)))
    assert world.expire().lost == ()
    world.renew(token, number=1)
    world.renew(token, number=2)
    world.renew(token, number=2)
    record = world.job("a")
    assert record.progress == Progress(text="step 3", step=3, total=9)
    assert [c.number for c in (record.checkpoint_before, record.checkpoint) if c] == [1, 2]


def test_renewals_of_a_worker_that_stops_answer_yield(world: World) -> None:
    world.worker("w1")
    world.submit("a", "b")
    token = world.start("a")
    assert world.store.run(workers.leave("w1", "draining", world.settings)) == "ok"
    assert world.renew(token) == "ok"
    world.store.run(workers.leave("w1", "stopping", world.settings))
    assert world.renew(token) == "yield"
    world.give_back(token, "preempted")
    assert [world.job(job).place for job in ("a", "b")] == ["ready", "ready"]
    world.store.run(workers.leave("w1", "gone", world.settings))
    assert world.store.run(listing.workers()).rows == ()
    assert world.store.run(workers.beat("w1", world.settings, running={}, workspace_seen=True)).state == "unknown"


def test_a_worker_that_leaves_hands_its_offers_to_others(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    world.worker("w2")
    world.store.run(workers.leave("w1", "draining", world.settings))
    assert world.offers["a"].worker == "w2"


def test_a_worker_whose_heartbeat_stopped_is_gone_and_its_offers_go_to_others(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    world.worker("w2")
    world.lapse_worker("w1")
    assert world.expire().gone_workers == ("w1",)
    assert world.offers["a"].worker == "w2"
    assert [row.id for row in world.store.run(listing.workers()).rows] == ["w2"]


# ---- ends


def test_a_success_posted_before_the_cancel_was_seen_stands(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    token = world.start("a")
    assert world.cancel("a").answer == "requested"
    assert world.succeed(token).state is JobState.SUCCEEDED


def test_a_failure_posted_after_the_cancel_was_asked_for_ends_cancelled(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    token = world.start("a")
    world.cancel("a")
    assert world.end(token, JobState.FAILED).state is JobState.CANCELLED


def test_the_end_works_past_the_lease_until_expire_has_taken_it(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    token = world.start("a")
    world.lapse("a")
    assert world.succeed(token).answer == "ok"
    assert world.job("a").accepted_attempt == 1


@pytest.mark.parametrize("place", ["ready", "offered", "held"])
def test_a_late_success_is_accepted_wherever_the_job_waits(world: World, place: str) -> None:
    world.worker("w1")
    batch = world.submit("a")
    token = world.start("a")
    if place == "ready":
        world.store.run(workers.leave("w1", "draining", world.settings))
    world.lose("a")
    if place == "held":
        world.hold("a")
    assert world.job("a").place == ("" if place == "held" else place)
    assert world.succeed(token).state is JobState.SUCCEEDED
    assert world.job("a").place == ""
    assert world.batch(batch).complete is not None
    assert world.redis.hlen(world.key("worker:w1:held")) == 0


def test_cancel_wins_over_a_late_success(world: World) -> None:
    world.worker("w1")
    batch = world.submit("a")
    token = world.start("a")
    world.lose("a")
    world.cancel_batch(batch)
    assert world.succeed(token).state is JobState.CANCELLED
    assert world.job("a").accepted_attempt is None


@pytest.mark.parametrize("held", [False, True])
def test_a_late_failure_uses_the_budget_once(world: World, held: bool) -> None:
    world.worker("w1")
    world.submit("a")
    token = world.start("a")
    world.lose("a")
    if held:
        world.hold("a")
    assert world.give_back(token).answer == "ok"
    assert world.give_back(token).answer == "same"
    assert world.job("a").failures == 1
    assert world.state("a") is (JobState.HELD if held else JobState.QUEUED)


@pytest.mark.parametrize("how", ["preempted", "walltime"])
def test_a_lost_attempt_cannot_say_afterwards_that_it_gave_its_job_back(world: World, how: jobs.Requeue) -> None:
    world.worker("w1")
    world.submit("a")
    token = world.start("a")
    world.lose("a")
    assert world.give_back(token, how).answer == "fenced"


def test_the_failure_budget_ends_a_job(world: World) -> None:
    world.worker("w1")
    batch = world.submit("a")
    for failures in range(1, world.settings.failure_budget):
        assert world.give_back(world.start("a")).state is JobState.QUEUED
        assert world.job("a").failures == failures
    assert world.give_back(world.start("a")).state is JobState.FAILED
    record = world.job("a")
    assert record.failure is not None
    assert record.failure.message == "it failed"
    assert world.batch(batch).failed == 1
    assert [row.how for row in world.store.run(listing.attempts("a"))] == ["failed"] * world.settings.failure_budget


@pytest.mark.parametrize("how", ["preempted", "walltime", "lost"])
def test_being_lost_preempted_or_out_of_walltime_does_not_use_the_budget(world: World, how: str) -> None:
    world.worker("w1")
    world.submit("a")
    for _ in range(world.settings.failure_budget + 1):
        token = world.start("a")
        if how == "lost":
            world.lose("a")
        else:
            world.give_back(token, "preempted" if how == "preempted" else "walltime")
    assert (world.state("a"), world.job("a").failures) == (JobState.QUEUED, 0)


def test_a_failed_job_waits_before_it_is_tried_again(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    world.give_back(world.start("a"), delay_seconds=60)
    assert (world.job("a").place, world.state("a")) == ("delayed", JobState.QUEUED)
    world.expire()
    assert world.published == ["a"]
    world.lapse_delay("a")
    world.expire()
    assert world.published == ["a", "a"]


# ---- hold, unhold, cancel


def bring(world: World, state: str) -> Token | None:
    """Bring job ``a`` into a state; gives the token of its newest attempt."""
    if state != "ready":
        world.worker("w1", cores=2)
    world.submit("a")
    if state in ("ready", "offered"):
        return None
    if state == "HELD":
        world.hold("a")
        return None
    token = world.start("a")
    ends: dict[str, Callable[[], object]] = {
        "RUNNING": lambda: None,
        "delayed": lambda: world.give_back(token, delay_seconds=60),
        "SUCCEEDED": lambda: world.succeed(token),
        "FAILED": lambda: world.end(token, JobState.FAILED),
        "CANCELLED": lambda: world.end(token, JobState.CANCELLED),
        "PARKED": lambda: (world.open("kids", 1, world.parent(token)), world.park(token, "kids")),
    }
    ends[state]()
    return token


STATES = ("ready", "offered", "delayed", "HELD", "RUNNING", "PARKED", "SUCCEEDED", "FAILED", "CANCELLED")


@pytest.mark.parametrize("state", STATES)
def test_cancel_in_every_state(world: World, state: str) -> None:
    bring(world, state)
    answer = world.cancel("a").answer
    if state == "RUNNING":
        assert (answer, world.cancel("a").answer) == ("requested", "requested")
        assert (world.state("a"), world.job("a").cancel_requested) == (JobState.RUNNING, True)
        return
    assert answer == ("already" if state in ENDED else "ok")
    assert world.state("a") is (JobState(state) if state in ENDED else JobState.CANCELLED)
    assert world.job("a").place == ""
    assert world.cancel("a").answer == "already"
    assert world.redis.zcard(world.key("offered")) == 0


@pytest.mark.parametrize("state", STATES)
def test_hold_and_unhold_in_every_state(world: World, state: str) -> None:
    bring(world, state)
    before = world.state("a")
    if state in ("ready", "offered", "delayed"):
        assert world.hold("a").answer == "ok"
        assert world.hold("a").answer == "already"
        assert (world.state("a"), world.job("a").place) == (JobState.HELD, "")
        assert world.unhold("a").answer == "ok"
        assert world.unhold("a").answer == "refused"
        assert world.job("a").place == ("ready" if state == "ready" else "offered")
    elif state == "HELD":
        assert world.hold("a").answer == "already"
        assert world.unhold("a").answer == "ok"
        assert world.job("a").place == "offered"
    else:
        for act in (world.hold, world.unhold):
            said = act("a")
            assert (said.answer, said.state) == ("refused", before)
        assert world.state("a") is before


def test_a_held_jobs_message_does_nothing(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    world.hold("a")
    assert world.claim("a").answer == "gone"


def test_what_is_unknown_is_not_found(world: World) -> None:
    for act in (world.hold, world.unhold, world.cancel, world.cancel_batch):
        with pytest.raises(NotFound):
            act("nobody")


@pytest.mark.parametrize("state", ENDED)
def test_terminal_states_never_change(world: World, state: JobState) -> None:
    token = bring(world, state)
    assert token is not None
    before = world.job("a"), world.batch("batch-of-a")
    world.hold("a")
    world.unhold("a")
    world.cancel("a")
    world.claim("a")
    world.renew(token, number=5)
    world.succeed(token)
    world.end(token, JobState.FAILED)
    world.give_back(token)
    world.park(token, "kids")
    world.cancel_batch("batch-of-a")
    world.sweep()
    world.expire()
    assert (world.job("a"), world.batch("batch-of-a")) == before
