"""Batches: opened with the hash of their manifest, filled in chunks, sealed; complete when sealed and empty."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tasks.errors import Conflict, LeaseLost, NotFound, Refused
from tasks.results import Checkpoint
from tasks.scripts import Call, Reply, call
from tasks.settings import Settings
from tasks.specs import AnySpec, canonical_json, dump_spec, engine_of, queue_of

#: jobs that are put into a batch by one call
CHUNK = 250
#: part of Redis' memory limit above which nothing new is accepted
MEMORY_SHARE = 0.8


@dataclass(frozen=True, kw_only=True)
class Owner:
    """Who fills a batch and is told of its end, with what proves that he still may.

    A user has neither run nor parent; a run shows its epoch; a parent job shows its attempt.
    """

    owner: str
    run: str = ""
    epoch: int = 0
    parent_job: str = ""
    parent_attempt: int = 0
    parent_claim: str = ""

    @property
    def token(self) -> tuple[str, str, str]:
        """Epoch, parent attempt and parent claim as the scripts take them."""
        return str(self.epoch), str(self.parent_attempt), self.parent_claim


@dataclass(frozen=True, kw_only=True)
class NewJob:
    """A job to be submitted: its id and its exact spec; of a retry also the restart points that it begins from."""

    id: str
    spec: AnySpec
    priority: int = 5
    retry_of: str = ""
    checkpoint: Checkpoint | None = None
    checkpoint_before: Checkpoint | None = None


@dataclass(frozen=True, kw_only=True)
class Opened:
    """An open batch: whether this call opened it, and the manifest that it was first opened with."""

    opened: bool
    manifest: str
    manifest_hash: str


def _opening(owner: Owner, count: int, manifest_hash: str, manifest: str, label: str) -> str:
    return json.dumps(
        {
            "owner": owner.owner,
            "label": label,
            "count": str(count),
            "manifest_hash": manifest_hash,
            "manifest": manifest,
            "waiter_run": owner.run,
            "waiter_job": owner.parent_job,
        }
    )


def open_batch(
    batch: str, owner: Owner, *, count: int, manifest_hash: str, manifest: str = "", label: str = ""
) -> Call[Opened]:
    """Open a batch of ``count`` jobs; repeating it changes nothing.

    Raises
    ------
    LeaseLost
        If the run or parent job is no longer held by the caller.
    Conflict
        If the batch exists with another manifest or for another owner.
    """
    record = _opening(owner, count, manifest_hash, manifest, label)

    def read(reply: Reply) -> Opened:
        if reply.answer == "fenced":
            raise LeaseLost(f"batch {batch}: its owner is no longer held by this caller")
        if reply.answer == "conflict":
            raise Conflict(f"batch {batch} exists with another manifest ({reply.details['manifest_hash'][:12]}…)")
        return Opened(**reply.details)

    return call("batch_open", batch, record, *owner.token, read=read)


def record_of(job: NewJob, owner: Owner, index: int) -> dict[str, Any]:
    """Give the fields of a new job's record, all as text."""
    spec = job.spec
    return {
        "id": job.id,
        "owner": owner.owner,
        "queue": queue_of(spec),
        "engine": engine_of(spec),
        "task": spec.task,
        "label": spec.label,
        "priority": str(job.priority),
        "cores": str(spec.resources.cores),
        "memory_mb": str(spec.resources.memory_mb),
        "walltime_seconds": str(spec.resources.walltime_seconds),
        "run": owner.run,
        "parent": owner.parent_job,
        "retry_of": job.retry_of,
        "batch_index": str(index),
        "needs_workspace": "1" if spec.inputs else "0",
        "spec": canonical_json(dump_spec(spec)),
        **_restart(job),
    }


def _restart(job: NewJob) -> dict[str, str]:
    """Give what a retry's record begins with: the files stay where the old job's attempt left them."""
    points = {"checkpoint": job.checkpoint, "checkpoint_before": job.checkpoint_before}
    fields = {name: canonical_json(point.model_dump()) for name, point in points.items() if point}
    return fields | ({"checkpoint_number": str(job.checkpoint.number)} if job.checkpoint else {})


def submit(batch: str, owner: Owner, jobs: Sequence[NewJob], settings: Settings, *, first_index: int = 0) -> Call[int]:
    """Put a chunk of jobs into an open batch; gives how many were new. Repeating it changes nothing.

    Raises
    ------
    LeaseLost, NotFound, Conflict
        If the owner is no longer held; if there is no such batch; if an id is taken or the batch is sealed.
    Refused
        If Redis has used more than 80 % of its memory limit.
    """
    return _submit(batch, owner, jobs, settings, first_index, "")


def submit_whole(
    batch: str,
    owner: Owner,
    jobs: Sequence[NewJob],
    settings: Settings,
    *,
    manifest_hash: str,
    manifest: str = "",
    label: str = "",
) -> Call[int]:
    """Open a batch, put all its jobs into it and seal it, in one call: for batches of at most one chunk.

    Raises
    ------
    LeaseLost, Conflict, Refused
        As ``open_batch``, ``submit`` and ``seal``.
    """
    return _submit(batch, owner, jobs, settings, 0, _opening(owner, len(jobs), manifest_hash, manifest, label))


def _submit(
    batch: str, owner: Owner, jobs: Sequence[NewJob], settings: Settings, first_index: int, opening: str
) -> Call[int]:
    rows = [record_of(job, owner, first_index + i) for i, job in enumerate(jobs)]

    def read(reply: Reply) -> int:
        match reply.answer:
            case "fenced":
                raise LeaseLost(f"batch {batch}: its owner is no longer held by this caller")
            case "unknown":
                raise NotFound(f"there is no batch {batch}")
            case "sealed":
                raise Conflict(f"batch {batch} is sealed and takes no more jobs")
            case "conflict" if "job" in reply.details:
                raise Conflict(f"job {reply.details['job']} exists in another batch")
            case "conflict":
                raise Conflict(f"batch {batch} exists with another manifest ({reply.details['manifest_hash'][:12]}…)")
            case "incomplete":
                raise Conflict(f"batch {batch} holds {reply.details['jobs']} of {reply.details['count']} jobs")
            case "full":
                raise memory_short(reply, "jobs")
        return int(reply.details["created"])

    times = admission(settings)
    return call("submit", batch, *owner.token, MEMORY_SHARE, json.dumps(rows), *times, opening, read=read)


def memory_short(reply: Reply, what: str) -> Refused:
    """Give the error of a script that found Redis too full for something new."""
    used, limit = reply.details["used"] / 2**20, reply.details["limit"] / 2**20
    return Refused(
        f"Redis uses {used:.0f} of {limit:.0f} MB: no new {what} until there is room again; give it more (maxmemory)"
    )


def admission(settings: Settings) -> tuple[int, int]:
    """Give the two times that every admitting script takes, in milliseconds."""
    return round(settings.offer_seconds * 1000), round(settings.reserve_after_seconds * 1000)


def seal(batch: str, owner: Owner) -> Call[None]:
    """Say that a batch has all its jobs.

    Raises
    ------
    LeaseLost, NotFound
        If the owner is no longer held; if there is no such batch.
    Conflict
        If jobs are missing.
    """

    def read(reply: Reply) -> None:
        match reply.answer:
            case "fenced":
                raise LeaseLost(f"batch {batch}: its owner is no longer held by this caller")
            case "unknown":
                raise NotFound(f"there is no batch {batch}")
            case "incomplete":
                raise Conflict(f"batch {batch} holds {reply.details['jobs']} of {reply.details['count']} jobs")

    return call("batch_seal", batch, *owner.token, read=read)


def cancel_batch(batch: str) -> Call[str]:
    """Cancel a batch as a whole: ``ok``, ``already`` or ``ended``.

    Raises
    ------
    NotFound
        If there is no such batch.
    """

    def read(reply: Reply) -> str:
        if reply.answer == "unknown":
            raise NotFound(f"there is no batch {batch}")
        return reply.answer

    return call("batch_cancel", batch, read=read)


@dataclass(frozen=True, kw_only=True)
class Swept:
    """How many jobs a sweep ended, and whether more are left."""

    swept: int
    more: bool


def sweep(settings: Settings, most: int = 500) -> Call[Swept]:
    """End jobs that still wait in cancelled batches, at most ``most`` of them."""
    return call("sweep", most, *admission(settings), read=lambda reply: Swept(**reply.details))
