"""What still works when Redis has no memory left, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from orchestrator.stack.redis_server import RedisServer
from tasks import listing
from tasks.errors import Refused
from tasks.records import JobState
from tests.integration.store.world import World, new_job


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
