"""Which waiting job is offered to which worker: priority, fairness, age, and what fits."""

from __future__ import annotations

from dataclasses import replace

from tasks import workers
from tasks.programs import Licence
from tests.conftest import eventually
from tests.integration.store.world import BOB, QUEUE, World, checkpoint, new_job


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


def test_no_more_jobs_are_offered_than_there_are_licences_whatever_worker_has_room(world: World) -> None:
    seats = {queue: Licence(name="seats", count=2) for queue in (QUEUE, "program.kin")}
    world.worker("w1", cores=4, licences=seats)
    world.worker("w2", cores=4, queues=("program.kin", "program.other"), licences=seats)
    world.submit("a", new_job("b", program="kin"), "c", new_job("free", program="other"), batch="batch")
    assert world.published == ["a", "b", "free"]
    first, second = world.start("a"), world.start("b")
    world.succeed(first)
    assert world.published == ["a", "b", "free", "c"]
    world.lapse("b")
    world.submit("d")
    assert world.job("d").place == "ready"
    world.expire()
    assert {world.job("b").place, world.job("d").place} == {"offered", "ready"}
    assert world.succeed(second).answer == "ok"  # a late end from the newest lost attempt
    assert world.job("d").place == "offered"


def test_a_queue_that_waits_for_licences_keeps_no_worker_from_others(world: World) -> None:
    world.settings = world.settings.model_copy(update={"reserve_after_seconds": 0.001})
    queues = (QUEUE, "program.other")
    world.worker("w1", cores=4, queues=queues, licences={QUEUE: Licence(name="seats", count=1)})
    world.submit("held", "waits")
    let_a_moment_pass(world)
    world.submit(new_job("other", program="other"))
    assert world.published == ["held", "other"]


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


def test_an_owner_is_charged_only_for_what_live_workers_hold(world: World) -> None:
    world.worker("w1", cores=4)
    world.submit(new_job("a", cores=4))
    world.start("a")
    world.lapse_worker("w1")
    world.submit("ada-1", batch="of ada")
    world.submit("bob-1", owner=BOB, batch="of bob")
    world.worker("w2")
    assert world.published == ["a", "ada-1"]


def test_a_retry_that_begins_from_a_checkpoint_goes_only_to_a_worker_that_sees_the_workspace(world: World) -> None:
    world.worker("blind", workspace_seen=False)
    world.submit(replace(new_job("retry"), checkpoint=checkpoint(3)))
    assert world.job("retry").place == "ready"
    world.worker("seeing")
    assert world.offers["retry"].worker == "seeing"
    token = world.start("retry")
    # An older restart point is none that advanced
    assert world.job("retry").checkpoint == checkpoint(3)
    world.renew(token, number=4)
    assert world.job("retry").checkpoint_before == checkpoint(3)


def test_an_offer_that_lapsed_goes_to_another_worker_if_there_is_one_with_room(world: World) -> None:
    # Given two workers alike, and a job offered to one of them, which is frozen
    world.worker("w1", cores=1)
    world.worker("w2", cores=1)
    world.submit("job")
    frozen = world.job("job").worker
    # When it does not take its offer in time
    world.lapse_offer("job")
    world.expire()
    # Then the other one gets it, and the next time only that one is passed over
    other = world.job("job").worker
    assert {frozen, other} == {"w1", "w2"}
    world.lapse_offer("job")
    world.expire()
    assert world.job("job").worker == frozen


def test_an_offer_that_lapsed_is_made_to_the_same_worker_if_there_is_no_other(world: World) -> None:
    world.worker("w1", cores=1)
    world.submit("job")
    world.lapse_offer("job")
    world.expire()
    assert world.job("job").worker == "w1"
    assert world.published == ["job", "job"]
