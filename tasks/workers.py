"""Workers: registered under an id that is new at every start, alive while their heartbeat comes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tasks.batches import admission
from tasks.programs import Licence
from tasks.scripts import Call, Reply, call
from tasks.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Registration:
    """What a worker registers.

    Attributes
    ----------
    queues
        Queues that it serves (engine and tag).
    declarations
        For each queue, what it declares for ever: engine, tasks, and of a program its parameters.
    licences
        For each queue whose jobs need one, the licence; its count is for all workers together.
    hostname
        Its name in Celery's events.
    trouble
        Why it is quarantined from the start; empty: it takes work.
    """

    id: str
    name: str
    host: str
    pid: int
    boot_id: str
    cores: int
    memory_mb: int
    queues: tuple[str, ...]
    engines: tuple[dict[str, Any], ...]
    declarations: dict[str, dict[str, Any]]
    celery_queue: str
    hostname: str
    version: str
    workspace_seen: bool
    licences: Mapping[str, Licence] = field(default_factory=dict)
    trouble: str = ""


def register(worker: Registration, settings: Settings) -> Call[str]:
    """Make a worker known; work that it has room for is offered at once."""
    record = {
        "name": worker.name,
        "host": worker.host,
        "pid": str(worker.pid),
        "boot_id": worker.boot_id,
        "cores": str(worker.cores),
        "memory_mb": str(worker.memory_mb),
        "queues": json.dumps(worker.queues),
        "engines": json.dumps(worker.engines),
        "declarations": json.dumps({queue: json.dumps(what) for queue, what in worker.declarations.items()}),
        "celery_queue": worker.celery_queue,
        "hostname": worker.hostname,
        "version": worker.version,
        "workspace_seen": "1" if worker.workspace_seen else "0",
        "licences": json.dumps({queue: licence.model_dump() for queue, licence in worker.licences.items()}),
        "state": "quarantined" if worker.trouble else "active",
        "reason": worker.trouble,
    }
    return call(
        "worker_register",
        worker.id,
        json.dumps(record),
        settings.lease_ms(),
        *admission(settings),
        read=lambda reply: reply.answer,
    )


@dataclass(frozen=True, kw_only=True)
class Heard:
    """What a heartbeat was answered: the worker's state (``unknown``: register again), and how many jobs it holds."""

    state: str
    held: int = 0


def beat(worker: str, settings: Settings, *, running: dict[str, tuple[int, int]], workspace_seen: bool) -> Call[Heard]:
    """Say that a worker lives.

    ``running``: cores and memory in MB of every job that it physically runs; those that it no longer holds count
    against its capacity.
    """

    def read(reply: Reply) -> Heard:
        return Heard(**reply.details) if reply.answer == "ok" else Heard(state=reply.answer)

    times = admission(settings)
    return call("worker_beat", worker, settings.lease_ms(), json.dumps(running), int(workspace_seen), *times, read=read)


def leave(worker: str, state: Literal["draining", "stopping", "gone"], settings: Settings) -> Call[str]:
    """Take no more work (draining), also give back what runs (stopping), or leave for good (gone).

    Offers that it did not take go to others. Answers ``ok`` or ``unknown``.
    """
    return call("worker_state", worker, state, *admission(settings), read=lambda reply: reply.answer)


def quarantine(worker: str, reason: str, settings: Settings) -> Call[str]:
    """Let a worker that takes work take none until it is resumed: ``ok``, ``refused`` (it leaves) or ``unknown``."""
    return call("worker_state", worker, "quarantined", *admission(settings), reason, read=lambda reply: reply.answer)


def resume(worker: str, settings: Settings) -> Call[str]:
    """Let a worker that drains or is quarantined take work again: ``ok``, ``refused`` (it stops) or ``unknown``."""
    return call("worker_state", worker, "active", *admission(settings), read=lambda reply: reply.answer)


def celery_queue(worker: str) -> str:
    """Give the name of the worker's own Celery queue."""
    return f"worker.{worker}"


def celery_hostname(worker: str) -> str:
    """Give the worker's name in Celery's events and in Flower."""
    return f"simrelay@{worker}"
