"""What memory gives back: verified, trusted, unchanged, with evidence that still stands; failures count against it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from orchestrator.recovery import episodes
from orchestrator.recovery.classify import failure_hash, result_hash
from orchestrator.recovery.select import Proposal
from tasks import memory
from tasks.memory import Content, EpisodeStatus, Evidence, Parameters, Scope
from tasks.records import JobState
from tasks.settings import Settings
from tasks.store import AsyncStore
from tests.integration.orchestrator.conftest import async_store
from tests.integration.store.world import World

SIGNATURE = "qm_agent:single_point:pyscf:dft:out_of_memory"
SUCCESS, FAILURE = EpisodeStatus.VERIFIED_SUCCESS, EpisodeStatus.VERIFIED_FAILURE


@pytest.fixture
async def store(settings: Settings) -> AsyncIterator[AsyncStore]:
    found = async_store(settings)
    yield found
    await found.client.aclose()


@pytest.fixture
def world(settings: Settings) -> World:
    """A world with a job that failed and one that was made in its place."""
    there = World(settings)
    there.worker("w", cores=2)
    there.submit("failed", "repair")
    there.end(there.start("failed"), JobState.FAILED)
    there.succeed(there.start("repair"))
    return there


def record(
    world: World,
    run: str,
    action: str = "other_engine",
    status: EpisodeStatus = SUCCESS,
    trust: float = 0.9,
    parameters: Parameters | None = None,
) -> str:
    """Record an episode of a run of its own, with the evidence of both jobs."""
    held = world.run(run)
    failure = world.job("failed").failure
    assert failure
    content = Content(
        scope=Scope(agent="qm_agent", task="single_point", engine="pyscf", family="dft"),
        error_class="out_of_memory", action=action, parameters=parameters or {},
        run=run, step=1, round=2, jobs=("failed",), repairs=("repair",),
        evidence=(
            Evidence(job="failed", what="failure", sha256=failure_hash(failure)),
            Evidence(job="repair", what="repair", sha256=result_hash(world.job("repair"))),
        ),
    )  # fmt: skip
    name = f"{run}-s1-r2"
    assert world.store.run(memory.put_episode(name, held.epoch, SIGNATURE, content, status, trust)) == "ok"
    return name


async def recalled(store: AsyncStore) -> list[str]:
    return [proposal.action for proposal in await episodes.recall(store, SIGNATURE, 0.8)]


async def test_the_action_with_the_most_verified_successes_comes_first(world: World, store: AsyncStore) -> None:
    record(world, "a", "other_engine", parameters={"engine": "orca"})
    record(world, "b", "more_resources")
    newest = record(world, "c", "other_engine", parameters={"engine": "orca"})
    found = await episodes.recall(store, SIGNATURE, 0.8)
    assert found == [
        Proposal(action="other_engine", source="memory", parameters={"engine": "orca"}, by=newest),
        Proposal(action="more_resources", source="memory", by="b-s1-r2"),
    ]
    assert await episodes.recall(store, "another:signature", 0.8) == []


async def test_an_action_that_failed_as_often_is_not_recalled(world: World, store: AsyncStore) -> None:
    record(world, "a")
    record(world, "b", status=FAILURE)
    assert await recalled(store) == []
    record(world, "c")
    assert await recalled(store) == ["other_engine"]


@pytest.mark.parametrize("status", [EpisodeStatus.CANDIDATE, EpisodeStatus.REJECTED, FAILURE])
async def test_only_a_verified_success_is_recalled(world: World, store: AsyncStore, status: EpisodeStatus) -> None:
    record(world, "a", status=status)
    assert await recalled(store) == []


async def test_what_is_not_trusted_enough_is_not_recalled(world: World, store: AsyncStore) -> None:
    record(world, "a", trust=0.79)
    assert await recalled(store) == []


async def test_what_was_revoked_is_not_recalled(world: World, store: AsyncStore) -> None:
    name = record(world, "a")
    world.store.run(memory.revoke_episode(name, "ana", "no"))
    assert await recalled(store) == []


@pytest.mark.parametrize(
    ("key", "field", "value", "why"),
    [
        ("episode:a-s1-r2", "action", "more_resources", ""),
        ("episode:a-s1-r2", "hash", "0" * 64, "its content is not the one that was recorded"),
        ("job:failed", "failure", '{"error_class":"x","message":"y"}', "its evidence, job failed, is not what it was"),
        ("job:repair", "result", '{"kind":"program","values":{}, "last_line": "z"}',
         "its evidence, job repair, is not what it was"),
        ("job:repair", "", "", "its evidence, job repair, is gone"),
    ],
)  # fmt: skip
async def test_what_was_changed_since_is_not_recalled(
    world: World, store: AsyncStore, key: str, field: str, value: str, why: str
) -> None:
    name = record(world, "a")
    if field:
        world.redis.hset(world.key(key), field, value)
    else:
        world.redis.delete(world.key(key))
    episode = await store.run(memory.episode(name))
    assert episode
    assert await episodes.why_not(store, episode, 0.8) == (why or "its content tells of another failure, action or run")
    assert await recalled(store) == []
