"""The fenced saver: LangGraph's checkpoints in Redis, written only by whoever holds the run.

LangGraph has no lock: an orchestrator that was stopped and comes back overwrites the newer checkpoint of its successor
(FACTS, section 1). Here every write is one script that checks the run's epoch, which travels in the config beside the
thread id; a checkpoint also takes the inbox entries whose effect it holds out of the inbox.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import redis.asyncio
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.redis.aio import AsyncRedisSaver
from langgraph.checkpoint.redis.base import CHECKPOINT_PREFIX, CHECKPOINT_WRITE_PREFIX, REDIS_KEY_SEPARATOR
from langgraph.checkpoint.redis.key_registry import WRITE_KEYS_ZSET_PREFIX, CheckpointKeyRegistry
from langgraph.checkpoint.redis.util import to_storage_safe_id, to_storage_safe_str
from langgraph.checkpoint.serde.types import INTERRUPT
from langgraph.constants import START
from redisvl.exceptions import RedisSearchError

from orchestrator.migrations import migrate
from orchestrator.serde import LosslessSerializer, lossless
from orchestrator.state import Event
from tasks import runs
from tasks.errors import LeaseLost
from tasks.events import NewEvent
from tasks.faults import fault_point
from tasks.runs import CheckpointWrite
from tasks.settings import Settings
from tasks.store import AsyncStore

#: checkpoints that are kept of a run that waits
KEPT = 2


def run_config(run: str, epoch: int) -> RunnableConfig:
    """Give the config under which the graph works on a run: its thread, and the epoch that fences its writes."""
    return {"configurable": {"thread_id": run, "epoch": epoch}, "recursion_limit": 10_000}


def _text(value: Any) -> str:
    return orjson.dumps(value).decode()


def _told(event: Event | Mapping[str, Any]) -> NewEvent:
    """Give an event of the state as the store takes it; in a checkpoint that was read back it is a mapping."""
    known = Event.model_validate(event)
    return NewEvent(key=known.key, kind=known.kind, data=lossless(known.data, f"event {known.key}"))


def _carried_forward(checkpoint: Checkpoint) -> Checkpoint:
    values, versions = checkpoint["channel_values"], checkpoint["channel_versions"]
    changes = migrate(values)
    if START in values:  # the first checkpoint holds the state as input that no node has read yet
        changes[START] = {**values[START], **migrate(values[START])}
    known = versions.get("schema_version") or versions.get(START)
    # A channel without a version would be left out of the next checkpoint.
    new: ChannelVersions = dict.fromkeys(changes, known) if known else {}
    return {**checkpoint, "channel_values": {**values, **changes}, "channel_versions": {**new, **versions}}


class FencedSaver(AsyncRedisSaver):
    """LangGraph's saver with every write fenced by the run's epoch."""

    def __init__(self, client: redis.asyncio.Redis, store: AsyncStore) -> None:
        # Two installations in one Redis must not read each other's checkpoints; those under the usual prefix of keys
        # have always been LangGraph's own, and stay where they are.
        prefix = store.settings.key_prefix
        self._prefix = "" if prefix == Settings.model_fields["key_prefix"].default else prefix
        super().__init__(
            redis_client=client,
            checkpoint_prefix=f"{self._prefix}{CHECKPOINT_PREFIX}",
            checkpoint_write_prefix=f"{self._prefix}{CHECKPOINT_WRITE_PREFIX}",
        )
        self.serde = LosslessSerializer()
        self.store = store

    def _registry(self, run: str, namespace: str, checkpoint: str) -> str:
        return self._prefix + CheckpointKeyRegistry.make_write_keys_zset_key(run, namespace, checkpoint)

    async def asetup(self) -> None:
        """Make the indexes, which another orchestrator that starts at the same time may be doing as well."""
        while True:
            try:
                return await super().asetup()
            except RedisSearchError as error:
                if "already exists" not in str(error):
                    raise

    @staticmethod
    def _token(config: RunnableConfig) -> tuple[str, int]:
        configurable = config["configurable"]
        if "epoch" not in configurable:
            raise LeaseLost(f"run {configurable['thread_id']}: a write without an epoch")
        return str(configurable["thread_id"]), int(configurable["epoch"])

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read a checkpoint with its pending writes in one call; the newest if the config names none.

        What an older version wrote comes as this version has it, and is stored so with the next checkpoint.

        Raises
        ------
        NewerState
            If it was written by a newer version.
        """
        run = str(config["configurable"]["thread_id"])
        namespace = config["configurable"].get("checkpoint_ns", "")
        identity = config["configurable"].get("checkpoint_id", "")
        found = await self.store.run(
            runs.read_checkpoint(
                self._make_redis_checkpoint_latest_key(run, namespace),
                self._make_redis_checkpoint_key_cached(run, namespace, identity) if identity else "",
                checkpoint_prefix=f"{self._checkpoint_prefix}{REDIS_KEY_SEPARATOR}",
                registry_prefix=f"{self._prefix}{WRITE_KEYS_ZSET_PREFIX}{REDIS_KEY_SEPARATOR}",
            )
        )
        if found is None:
            return None
        document = orjson.loads(found.document)
        parent = document["parent_checkpoint_id"]
        stored = document["checkpoint"]
        pending = [orjson.loads(text) for text in found.writes]
        here = {"thread_id": run, "checkpoint_ns": namespace}
        return CheckpointTuple(
            config={"configurable": {**here, "checkpoint_id": document["checkpoint_id"]}},
            # Sent tasks stand in a channel of their own since checkpoints of version 4, not in pending sends.
            checkpoint=_carried_forward(
                self._load_checkpoint(stored, self._recursive_deserialize(stored.get("channel_values", {})), [])
            ),
            metadata=orjson.loads(document["metadata"]),
            parent_config={"configurable": {**here, "checkpoint_id": parent}} if parent else None,
            pending_writes=self._load_writes(self.serde, {(w["task_id"], str(w["idx"])): w for w in pending}),
        )

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
        stream_mode: str = "values",
    ) -> RunnableConfig:
        """Write a checkpoint and its pointer in one transaction.

        Raises
        ------
        LeaseLost
            If the run is no longer held under the config's epoch; nothing was written.
        LossyValue
            If the state holds what cannot come back as it was.
        """
        run, epoch = self._token(config)
        namespace = config["configurable"].get("checkpoint_ns", "")
        parent = config["configurable"].get("checkpoint_id") or ""
        identity = checkpoint["id"]
        key = self._make_redis_checkpoint_key_cached(run, namespace, identity)
        registry = self._registry(run, namespace, identity)
        document = {
            "thread_id": to_storage_safe_id(run),
            "run_id": "",
            "checkpoint_ns": to_storage_safe_str(namespace),
            "checkpoint_id": to_storage_safe_id(identity),
            "parent_checkpoint_id": to_storage_safe_id(parent) if parent else "",
            "checkpoint_ts": time.time() * 1000,
            "checkpoint": self._dump_checkpoint(checkpoint),
            "metadata": self._dump_metadata(metadata),
            "has_writes": False,
            "source": metadata.get("source", ""),
            "step": metadata.get("step", 0),
        }
        fault_point("before_checkpoint")
        consumed = checkpoint["channel_values"].get("consumed") or ()
        write = CheckpointWrite(
            documents=((key, _text(document)),),
            pointers=((self._make_redis_checkpoint_latest_key(run, namespace), key),),
            acks=tuple(consumed),
            events=tuple(_told(event) for event in checkpoint["channel_values"].get("events") or ()),
            checkpoint=(key, registry),
        )
        await self.store.run(runs.write_checkpoint(run, epoch, write))
        return {
            "configurable": {"thread_id": run, "checkpoint_ns": namespace, "checkpoint_id": identity, "epoch": epoch}
        }

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Write what a task waits in; raises as ``aput`` does.

        A graph of one node a step needs no other pending writes: the checkpoint that holds a node's effect follows at
        once, and a node that was stopped before it is run again. A wake-up is not kept either, since waking means
        "look": whoever takes over finds the interrupt, and looks.
        """
        writes = [row for row in writes if row[0] == INTERRUPT]
        if not writes:
            return
        run, epoch = self._token(config)
        namespace = config["configurable"].get("checkpoint_ns", "")
        identity = config["configurable"]["checkpoint_id"]
        documents = []
        for position, (channel, value) in enumerate(writes):
            index = WRITES_IDX_MAP.get(channel, position)
            kind, blob = self.serde.dumps_typed(value)
            document = {
                "thread_id": to_storage_safe_id(run),
                "checkpoint_ns": to_storage_safe_str(namespace),
                "checkpoint_id": to_storage_safe_id(identity),
                "task_id": task_id,
                "task_path": task_path,
                "idx": index,
                "channel": channel,
                "type": kind,
                "blob": self._encode_blob(blob),
            }
            key = self._make_redis_checkpoint_writes_key_cached(run, namespace, identity, task_id, index)
            documents.append((key, _text(document)))
        registry = self._registry(run, namespace, identity)
        write = CheckpointWrite(
            documents=tuple(documents),
            merges=((self._make_redis_checkpoint_key_cached(run, namespace, identity), '{"has_writes":true}'),),
            members=tuple((registry, position, key) for position, (key, _) in enumerate(documents)),
        )
        await self.store.run(runs.write_checkpoint(run, epoch, write))

    async def prune_run(self, run: str, epoch: int, keep: int = KEPT) -> int:
        """Delete all but the newest checkpoints of a run; raises LeaseLost as ``aput`` does."""
        pointer = self._make_redis_checkpoint_latest_key(run, "")
        return await self.store.run(runs.prune_checkpoints(run, epoch, pointer, keep=keep))
