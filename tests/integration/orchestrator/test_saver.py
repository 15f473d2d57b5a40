"""The fenced saver: what an overtaken orchestrator writes does not count, and what would be lossy is refused."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import Checkpoint, empty_checkpoint
from langgraph.checkpoint.redis.aio import AsyncRedisSaver
from langgraph.checkpoint.serde.types import INTERRUPT, RESUME
from langgraph.types import Interrupt

from orchestrator.saver import FencedSaver, run_config
from orchestrator.serde import LossyValue
from tasks import runs
from tasks.errors import LeaseLost
from tasks.records import InboxEntry
from tasks.settings import Settings
from tasks.store import Store, connect
from tests.integration.orchestrator.conftest import async_store, create, holding, run_in
from tests.integration.worker.conftest import StartWorker


def checkpoint(values: dict[str, Any]) -> Checkpoint:
    """Give a checkpoint with these channel values."""
    return {**empty_checkpoint(), "channel_values": values}


async def put(saver: FencedSaver, epoch: int, values: dict[str, Any]) -> Any:
    config = run_config("r1", epoch)
    config["configurable"]["checkpoint_ns"] = ""
    return await saver.aput(config, checkpoint(values), {"source": "loop", "step": 1}, {})


@pytest.fixture
async def saver(settings: Settings) -> FencedSaver:
    """A saver that is set up."""
    store = async_store(settings)
    saver = FencedSaver(store.client, store)
    await saver.asetup()
    return saver


async def test_a_late_checkpoint_and_late_writes_of_an_overtaken_orchestrator_are_refused(
    saver: FencedSaver, store: Store, settings: Settings
) -> None:
    store.run(runs.create("r1", "ana", "x"))
    first = store.run(runs.claim("o1", settings))
    assert first
    stored = await put(saver, first.epoch, {"answer": "early"})
    store.client.zadd(f"{settings.key_prefix}runs:leased", {"r1": 1})  # the lease has run out
    store.client.set(f"{settings.key_prefix}expire:last", _now(store))
    store.client.set(f"{settings.key_prefix}expire:guard", 0)
    from tasks import expiry

    assert store.run(expiry.expire(settings)).runs == ("r1",)
    second = store.run(runs.claim("o2", settings))
    assert second
    assert second.epoch == first.epoch + 1
    await put(saver, second.epoch, {"answer": "newer"})
    with pytest.raises(LeaseLost):
        await put(saver, first.epoch, {"answer": "late"})
    with pytest.raises(LeaseLost):
        await saver.aput_writes(stored, [(INTERRUPT, "late")], "task")
    with pytest.raises(LeaseLost):
        await saver.prune_run("r1", first.epoch)
    found = await saver.aget_tuple(run_config("r1", second.epoch))
    assert found
    assert found.checkpoint["channel_values"]["answer"] == "newer"


async def test_a_checkpoint_is_read_back_as_langgraphs_own_saver_reads_it(
    saver: FencedSaver, store: Store, settings: Settings
) -> None:
    store.run(runs.create("r1", "ana", "x"))
    held = store.run(runs.claim("o1", settings))
    assert held
    config = run_config("r1", held.epoch)
    assert await saver.aget_tuple(config) is None
    first = await put(saver, held.epoch, {"answer": "one", "list": [1, {"a": None}]})
    await saver.aput_writes(first, [("answer", "two"), ("history", ["x"])], "task")
    config["configurable"] |= {"checkpoint_ns": "", "checkpoint_id": first["configurable"]["checkpoint_id"]}
    second = await saver.aput(config, checkpoint({"answer": "two"}), {"source": "loop", "step": 2}, {})
    await saver.aput_writes(second, [(INTERRUPT, (Interrupt(value={"batches": ["b"]}, id="i"),))], "other")
    for wanted in (run_config("r1", 0), first, second):
        ours = await saver.aget_tuple(wanted)
        theirs = await AsyncRedisSaver.aget_tuple(saver, wanted)
        assert ours and theirs
        assert ours.checkpoint == theirs.checkpoint
        assert ours.metadata == theirs.metadata
        assert ours.pending_writes == theirs.pending_writes
        for mine, other in ((ours.config, theirs.config), (ours.parent_config, theirs.parent_config)):
            assert mine == other


async def test_of_a_tasks_writes_only_what_it_waits_in_is_kept_and_the_newest_takes_the_place_of_the_last(
    saver: FencedSaver, store: Store, settings: Settings
) -> None:
    store.run(runs.create("r1", "ana", "x"))
    held = store.run(runs.claim("o1", settings))
    assert held
    stored = await put(saver, held.epoch, {"answer": "one"})
    for channel, value in (("answer", "two"), (RESUME, ["look"]), (INTERRUPT, "first"), (INTERRUPT, "second")):
        await saver.aput_writes(stored, [(channel, value)], "task")
    found = await saver.aget_tuple(run_config("r1", held.epoch))
    assert found
    assert found.pending_writes == [("task", INTERRUPT, "second")]


async def test_inbox_entries_leave_with_the_checkpoint_that_holds_their_effect(
    saver: FencedSaver, store: Store, settings: Settings
) -> None:
    store.run(runs.create("r1", "ana", "x"))
    for name in ("first", "second"):
        store.run(runs.post("r1", InboxEntry(id=name, kind="look")))
    held = store.run(runs.claim("o1", settings))
    assert held
    await put(saver, held.epoch, {"consumed": ["first"]})
    assert [entry.id for entry in store.run(runs.look("r1", held.epoch)).inbox] == ["second"]


async def test_two_checkpoints_are_kept_and_the_newest_is_never_pruned(
    saver: FencedSaver, store: Store, settings: Settings
) -> None:
    store.run(runs.create("r1", "ana", "x"))
    held = store.run(runs.claim("o1", settings))
    assert held
    for number in range(5):
        stored = await put(saver, held.epoch, {"answer": str(number)})
        await saver.aput_writes(stored, [(INTERRUPT, str(number))], "task")
    await saver.prune_run("r1", held.epoch)
    assert len(store.client.keys("checkpoint:r1:*")) == 2
    assert len(store.client.keys("checkpoint_write:r1:*")) == 1
    found = await saver.aget_tuple(run_config("r1", held.epoch))
    assert found
    assert found.checkpoint["channel_values"]["answer"] == "4"


@pytest.mark.parametrize("value", [Decimal("1.5"), Path("/x"), frozenset({1}), float("nan"), {1: 2}, b"x", {"a": [1j]}])
async def test_a_value_that_would_not_come_back_as_it_was_is_refused(
    saver: FencedSaver, store: Store, settings: Settings, value: object
) -> None:
    store.run(runs.create("r1", "ana", "x"))
    held = store.run(runs.claim("o1", settings))
    assert held
    with pytest.raises(LossyValue):
        await put(saver, held.epoch, {"answer": value})


def _now(store: Store) -> int:
    seconds, micros = store.client.time()
    return int(seconds) * 1000 + int(micros) // 1000


async def test_orchestrators_that_start_at_once_on_an_empty_redis_do_not_trip_over_each_other(
    settings: Settings,
) -> None:
    connect(settings).flushall()
    stores = [async_store(settings) for _ in range(8)]
    await asyncio.gather(*(FencedSaver(store.client, store).asetup() for store in stores))
    for store in stores:
        await store.client.aclose()


async def test_installations_in_one_redis_do_not_read_each_others_checkpoints(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, "count 2 times to 1 pausing 0 in 1 rounds")
    async with holding(settings) as holder:
        await run_in(holder.store, "r1", "SUCCEEDED")
    other = settings.model_copy(update={"key_prefix": "other:"})
    create(Store(submitting.client, other), "count after a question")
    async with holding(other, "o2") as holder:
        await run_in(holder.store, "r1", "NEEDS_PERSON")
        assert (await holder.view("r1")).request == "count after a question"
    async with holding(settings, "o3") as holder:
        assert (await holder.view("r1")).finished
