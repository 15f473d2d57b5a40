"""Reading pages of records out of the sets that the scripts keep."""

from __future__ import annotations

import pytest

from tasks import listing, runs
from tasks.listing import Page
from tasks.records import JobRecord, JobState, RunState
from tests.integration.store.world import BOB, QUEUE, World, new_job


def ids(page: Page[JobRecord]) -> list[str]:
    """Give the ids of a page."""
    return [row.id for row in page.rows]


@pytest.fixture
def busy(world: World) -> World:
    """Jobs of two owners in several states, some of them of a run."""
    world.worker("w1", cores=3)
    held = world.run()
    world.submit("run-1", "run-2", owner=world.run_owner(held), batch="of-run")
    world.succeed(world.start("run-1"))
    world.start("run-2")
    world.submit("ada-1", "ada-2", batch="of-ada")
    world.submit("bob-1", new_job("bob-2", program="other"), owner=BOB, batch="of-bob")
    world.hold("ada-2")
    world.cancel("bob-1")
    return world


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({}, ["bob-2", "bob-1", "ada-2", "ada-1", "run-2", "run-1"]),
        ({"state": "HELD"}, ["ada-2"]),
        ({"state": "CANCELLED"}, ["bob-1"]),
        ({"owner": "bob"}, ["bob-2", "bob-1"]),
        ({"owner": "ada", "state": "RUNNING"}, ["run-2"]),
        ({"owner": "bob", "state": "RUNNING"}, []),
        ({"queue": QUEUE}, ["ada-2", "ada-1", "run-2"]),
        ({"queue": "program.other"}, ["bob-2"]),
        ({"run": "run"}, ["run-2", "run-1"]),
        ({"run": "run", "state": "SUCCEEDED"}, ["run-1"]),
        ({"batch": "of-ada"}, ["ada-2", "ada-1"]),
        ({"batch": "of-bob", "queue": "program.other", "owner": "bob"}, ["bob-2"]),
        ({"batch": "none"}, []),
    ],
)
def test_jobs_by_each_set_and_further_conditions(busy: World, where: dict[str, str], expected: list[str]) -> None:
    page = busy.store.run(listing.jobs(**where))
    assert ids(page) == expected
    assert page.cursor == ""


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_pages_follow_each_other_without_gaps_or_repeats(world: World, count: int) -> None:
    world.submit(*(f"job-{number}" for number in range(7)), batch="batch")
    for number in (1, 4):
        world.hold(f"job-{number}")
    for where, expected in (({}, 7), ({"state": "QUEUED", "owner": "ada"}, 5), ({"batch": "batch"}, 7)):
        seen: list[str] = []
        cursor = ""
        while True:
            page = world.store.run(listing.jobs(**where, cursor=cursor, count=count))
            seen += ids(page)
            assert len(page.rows) <= count
            cursor = page.cursor
            if not cursor:
                break
        assert len(seen) == len(set(seen)) == expected


def test_a_job_submitted_between_two_pages_moves_nothing(world: World) -> None:
    world.submit("a", "b", "c", batch="batch")
    first = world.store.run(listing.jobs(count=2))
    world.submit("d")
    assert ids(first) == ["c", "b"]
    assert ids(world.store.run(listing.jobs(count=2, cursor=first.cursor))) == ["a"]


def test_more_than_a_hundred_rows_that_do_not_fit_are_passed_over(world: World) -> None:
    world.submit("wanted", owner=BOB)
    world.submit(*(f"job-{number}" for number in range(230)), batch="batch")
    assert ids(world.store.run(listing.jobs(state="QUEUED", owner="bob"))) == ["wanted"]


def test_batches_and_runs_by_owner_run_and_state(busy: World) -> None:
    assert [row.id for row in busy.store.run(listing.batches()).rows] == ["of-bob", "of-ada", "of-run"]
    assert [row.id for row in busy.store.run(listing.batches(owner="bob")).rows] == ["of-bob"]
    assert [row.id for row in busy.store.run(listing.batches(run="run")).rows] == ["of-run"]
    assert busy.store.run(listing.batches(run="run", owner="bob")).rows == ()
    busy.store.run(runs.create("second", "bob", "another"))
    assert [row.id for row in busy.store.run(listing.runs()).rows] == ["second", "run"]
    assert [row.id for row in busy.store.run(listing.runs(state=RunState.ACTIVE)).rows] == ["run"]
    assert [row.id for row in busy.store.run(listing.runs(owner="bob")).rows] == ["second"]
    assert busy.store.run(listing.runs(owner="bob", state=RunState.ACTIVE)).rows == ()


def test_one_record_of_each_kind(busy: World) -> None:
    job = busy.job("run-2")
    assert (job.state, job.run, job.batch, job.attempt, job.cores) == (JobState.RUNNING, "run", "of-run", 1, 1)
    assert job.spec["program"] == "echo"
    assert job.created is not None
    assert job.started is not None
    worker = busy.store.run(listing.worker("w1"))
    assert worker is not None
    assert (worker.queues, worker.cores, worker.workspace_seen) == ((QUEUE,), 3, True)
    assert [row.how for row in busy.store.run(listing.attempts("run-2"))] == ["open"]
    assert busy.store.run(listing.attempts("ada-2")) == ()
    for read in (listing.job, listing.batch, listing.run, listing.worker):
        assert busy.store.run(read("nobody")) is None
    assert busy.store.run(listing.declared()) == {QUEUE: {"engine": "program"}}


def test_many_workers_that_beat_in_the_same_moment_are_all_listed(world: World) -> None:
    names = {world.worker(f"w{number:03}") for number in range(130)}
    world.redis.zadd(world.key("workers"), dict.fromkeys(names, world.now_ms() + 60_000))
    assert {row.id for row in world.store.run(listing.workers()).rows} == names


def test_why_says_what_stands_before_a_job_and_what_workers_have(world: World) -> None:
    world.worker("w1", cores=2)
    world.submit("running")
    world.start("running")
    world.submit(new_job("urgent", cores=2, priority=8), new_job("first", cores=2), batch="b1")
    world.submit(new_job("asked", cores=2), owner=BOB)
    why = world.store.run(listing.ahead("asked"))
    assert (why["answer"], why["state"], why["place"], why["ahead"]) == ("ok", "QUEUED", "ready", 2)
    assert why["declared"] is True
    assert [(row["id"], row["serves"], row["cores"], row["free_cores"]) for row in why["workers"]] == [
        ("w1", True, 2, 1)
    ]
    world.submit(new_job("lonely", program="nowhere"))
    why = world.store.run(listing.ahead("lonely"))
    assert (why["declared"], [row["serves"] for row in why["workers"]]) == (False, [False])
    assert world.store.run(listing.ahead("nobody"))["answer"] == "unknown"


def test_why_says_until_when_a_failed_job_waits(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    world.give_back(world.start("a"), delay_seconds=30)
    why = world.store.run(listing.ahead("a"))
    assert 0 < why["delayed_until_ms"] - why["now_ms"] <= 30_000
