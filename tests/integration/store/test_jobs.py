"""The life of a job in the store: offers and who gets them, claims, ends, and what a job may cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from orchestrator.stack.redis_server import RedisServer
from tasks import expiry, jobs, listing, workers
from tasks.errors import NotFound, Refused
from tasks.jobs import Token
from tasks.records import JobState
from tasks.results import Progress
from tasks.settings import Settings
from tests.conftest import eventually
from tests.integration.store.world import BOB, QUEUE, World, new_job

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
    assert world.store.run(beat) == "active"
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
    assert world.store.run(workers.beat("w1", world.settings, running={}, workspace_seen=True)) == "unknown"


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


# ---- who is offered next


def test_a_job_that_does_not_fit_waits_while_smaller_ones_run(world: World) -> None:
    world.worker("w1", cores=4)
    world.submit(new_job("first", cores=2))
    world.start("first")
    world.submit(new_job("large", cores=3), "small-1", "small-2", "small-3")
    assert world.published == ["first", "small-1", "small-2"]


def let_a_moment_pass(world: World) -> None:
    """Return when the server's clock has gone on by more than a millisecond."""
    began = world.now_ms()
    eventually(lambda: world.now_ms() > began + 2)


def test_a_job_passed_over_for_long_has_a_worker_kept_free_for_it(world: World) -> None:
    world.settings = world.settings.model_copy(update={"reserve_after_seconds": 0.001})
    world.worker("w1", cores=4)
    world.submit(new_job("first", cores=2))
    first = world.start("first")
    world.submit(new_job("large", cores=3))
    let_a_moment_pass(world)
    world.submit("small-1", "small-2")
    assert world.published == ["first"]
    world.succeed(first)
    assert world.published == ["first", "large", "small-1"]


def test_a_worker_is_not_kept_for_a_job_that_it_could_never_hold(world: World) -> None:
    world.settings = world.settings.model_copy(update={"reserve_after_seconds": 0.001})
    world.worker("w1", cores=4)
    world.submit(new_job("huge", cores=64))
    let_a_moment_pass(world)
    world.submit("small")
    assert world.published == ["small"]


def test_hundreds_of_jobs_that_no_worker_can_hold_do_not_stop_other_owners(world: World) -> None:
    world.worker("w1", cores=4)
    world.submit(*(new_job(f"huge-{n}", cores=64, priority=9) for n in range(250)), owner=BOB, batch="huge")
    world.submit("small")
    assert world.published == ["small"]


def test_a_large_worker_is_filled_in_one_call(world: World) -> None:
    world.submit(*(f"job-{n}" for n in range(120)), batch="many")
    world.worker("w1", cores=100, memory_mb=100_000)
    assert world.published == [f"job-{n}" for n in range(100)]


def test_priority_comes_before_fairness_and_fairness_before_age(world: World) -> None:
    world.submit("ada-1", "ada-2", "ada-3", batch="of ada")
    world.submit("bob-1", owner=BOB, batch="of bob")
    world.submit(new_job("ada-urgent", priority=9), batch="urgent")
    world.worker("w1", cores=5)
    assert world.published == ["ada-urgent", "bob-1", "ada-1", "ada-2", "ada-3"]


def test_two_owners_share_by_the_cores_that_they_hold(world: World) -> None:
    world.submit(*(new_job(f"ada-{n}", cores=2) for n in range(4)), batch="of ada")
    world.submit(*(new_job(f"bob-{n}") for n in range(8)), owner=BOB, batch="of bob")
    world.worker("w1", cores=8)
    held = {
        name: sum(world.job(job).cores for job in world.published if job.startswith(name)) for name in ("ada", "bob")
    }
    assert held == {"ada": 4, "bob": 4}


def test_cores_and_memory_are_both_respected(world: World) -> None:
    world.worker("w1", cores=4, memory_mb=1000)
    world.submit(
        new_job("a", cores=1, memory_mb=700), new_job("b", cores=1, memory_mb=400), new_job("c", cores=4, memory_mb=64)
    )
    world.submit(new_job("d", cores=3, memory_mb=300))
    assert world.published == ["a", "d"]


def test_the_fullest_worker_that_fits_is_taken(world: World) -> None:
    world.worker("large", cores=8)
    world.worker("small", cores=2)
    world.submit("a")
    assert world.offers["a"].worker == "small"


def test_a_tag_leads_to_a_queue_that_only_workers_with_it_serve(world: World) -> None:
    world.worker("w1", cores=4)
    world.submit(new_job("tagged", tag="gpu"), "plain")
    assert world.published == ["plain"]
    world.worker("w2", queues=(QUEUE, f"{QUEUE}@gpu"))
    assert world.offers["tagged"].worker == "w2"


def test_a_worker_that_has_not_seen_the_workspace_gets_only_fresh_jobs(world: World) -> None:
    world.worker("w1")
    world.submit("started")
    token = world.start("started")
    world.worker("w2", workspace_seen=False)
    world.store.run(workers.leave("w1", "draining", world.settings))
    world.give_back(token, "preempted")
    world.submit("fresh")
    assert world.published == ["started", "fresh"]
    world.succeed(world.start("fresh"))
    world.store.run(workers.beat("w2", world.settings, running={}, workspace_seen=True))
    assert world.offers["started"].worker == "w2"


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


# ---- poison


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


# ---- the guard of expire


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


# ---- Redis without memory


@pytest.fixture
def tight(world: World, server: RedisServer) -> Iterator[World]:
    """A world whose Redis gets its memory limit back afterwards."""
    yield world
    world.redis.config_set("maxmemory", 0)


def used_memory(world: World) -> int:
    """Read how much memory the server uses."""
    return int(world.redis.info("memory")["used_memory"])


def test_above_80_percent_of_its_memory_nothing_new_is_accepted(tight: World) -> None:
    tight.worker("w1")
    tight.open("batch", 2)
    tight.fill("batch", [new_job("a")])
    tight.redis.config_set("maxmemory", int(used_memory(tight) / 0.9))
    with pytest.raises(Refused, match="MB"):
        tight.fill("batch", [new_job("b")], first_index=1)
    assert tight.store.run(listing.job("b")) is None
    tight.redis.config_set("maxmemory", used_memory(tight) * 2)
    assert tight.fill("batch", [new_job("b")], first_index=1) == 1


def test_with_no_memory_left_what_runs_still_goes_on_and_ends(tight: World) -> None:
    tight.worker("w1", cores=6)
    tight.submit("parent")
    parent = tight.start("parent")
    owner = tight.parent(parent)
    tight.open("kids", 5, owner)
    names = ("renewed", "succeeds", "fails", "lost")
    tight.fill("kids", [new_job(name) for name in names], owner)
    tokens = {name: tight.start(name) for name in names}
    tight.fill("kids", [new_job("claimed")], owner, first_index=4)
    tight.redis.config_set("maxmemory", used_memory(tight) // 2)
    with pytest.raises(Refused):
        tight.open("another", 1)
    with pytest.raises(Refused):
        tight.submit("more", batch="kids", owner=owner)
    tight.seal("kids", owner)
    assert tight.renew(tokens["renewed"], number=1) == "ok"
    assert tight.succeed(tokens["succeeds"]).answer == "ok"
    assert tight.give_back(tokens["fails"]).answer == "ok"
    assert tight.park(parent, "kids").state is JobState.PARKED
    assert tight.claim("claimed").answer == "ok"
    tight.lose("lost")
    tight.worker("w2")
    assert tight.cancel("lost").answer == "ok"
    assert tight.cancel_batch("kids") == "ok"
    assert tight.sweep().swept == 1


def test_an_owner_is_charged_only_for_what_live_workers_hold(world: World) -> None:
    world.worker("w1", cores=4)
    world.submit(new_job("a", cores=4))
    world.start("a")
    world.lapse_worker("w1")
    world.submit("ada-1", batch="of ada")
    world.submit("bob-1", owner=BOB, batch="of bob")
    world.worker("w2")
    assert world.published == ["a", "ada-1"]


def test_short_leases_of_these_tests_are_not_ones_that_settings_accept(settings: Settings) -> None:
    with pytest.raises(ValueError, match="outlive its lease"):
        Settings.model_validate({**settings.model_dump(), "lease_seconds": 0.3})
