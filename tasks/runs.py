"""Runs: held under an epoch by one orchestrator at a time, spoken to through an ordered inbox."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tasks.batches import MEMORY_SHARE, memory_short
from tasks.errors import Conflict, LeaseLost, NotFound
from tasks.events import NewEvent
from tasks.records import InboxEntry, RunRecord, RunState
from tasks.scripts import Call, Reply, call
from tasks.settings import Settings
from tasks.specs import canonical_json, spec_hash

#: orchestrators taken down at one node after which a run is FAILED (DESIGN, "Life of a run")
POISON_TAKEDOWNS = 3


@dataclass(frozen=True, kw_only=True)
class Created:
    """The run that a request leads to; attached: an unfinished one for the same request."""

    run: str
    #: ``created``, ``exists`` or ``attached``
    answer: str


def create(
    run: str,
    owner: str,
    request: str,
    *,
    options: dict[str, Any] | None = None,
    attach: bool = True,
    retry_of: str = "",
) -> Call[Created]:
    """Make a run once for its id, or attach to the owner's unfinished run for the same request and options.

    ``retry_of``: the ended run whose last checkpoint it begins from.

    Raises
    ------
    Conflict
        If the id was used for another request.
    Refused
        If Redis has used more than 80 % of its memory limit.
    """
    record = {"owner": owner, "request": request, "options": canonical_json(options or {}), "retry_of": retry_of}

    def read(reply: Reply) -> Created:
        if reply.answer == "conflict":
            raise Conflict(f"run {run} exists for another request")
        if reply.answer == "full":
            raise memory_short(reply, "runs")
        return Created(run=reply.details["run"], answer=reply.answer)

    key = spec_hash([" ".join(request.split()).lower(), options or {}])
    return call("run_create", run, json.dumps(record), key, int(attach), MEMORY_SHARE, read=read)


@dataclass(frozen=True, kw_only=True)
class Held:
    """A run that this orchestrator holds; poison: it took down too many orchestrators at one node."""

    record: RunRecord
    inbox: tuple[InboxEntry, ...]
    poison: bool

    @property
    def id(self) -> str:
        """The run's id, which is LangGraph's thread id."""
        return self.record.id

    @property
    def epoch(self) -> int:
        """The epoch that proves the hold."""
        return self.record.epoch


def _inbox(reply: Reply) -> tuple[InboxEntry, ...]:
    return tuple(InboxEntry.model_validate_json(text) for text in reply.details["inbox"] or ())


def claim(orchestrator: str, settings: Settings) -> Call[Held | None]:
    """Take the run that has been ready longest, under a new epoch; None if no run is ready."""

    def read(reply: Reply) -> Held | None:
        if reply.answer == "none":
            return None
        record = RunRecord.model_validate(reply.details["run"])
        return Held(record=record, inbox=_inbox(reply), poison=reply.answer == "poison")

    return call("run_claim", orchestrator, settings.lease_ms(), POISON_TAKEDOWNS, secrets.token_hex(8), read=read)


def _fenced(run: str) -> LeaseLost:
    return LeaseLost(f"run {run} is held under a newer epoch, or has ended")


def renew(run: str, epoch: int, settings: Settings) -> Call[bool]:
    """Extend the hold on a run; gives whether its cancel was asked for.

    Raises
    ------
    LeaseLost
        If the run is no longer held under this epoch.
    """

    def read(reply: Reply) -> bool:
        if reply.answer == "fenced":
            raise _fenced(run)
        return bool(reply.details["cancel"])

    return call("run_renew", run, epoch, settings.lease_ms(), read=read)


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What a run has used of a language model."""

    calls: int
    prompt_tokens: int
    completion_tokens: int


def spend(run: str, epoch: int, *, calls: int = 0, prompt_tokens: int = 0, completion_tokens: int = 0) -> Call[Spent]:
    """Add to what a run has used of a language model, and give it all; what was booked too high is taken back.

    Raises
    ------
    LeaseLost
        If the run is no longer held under this epoch; nothing was booked.
    """

    def read(reply: Reply) -> Spent:
        if reply.answer == "fenced":
            raise _fenced(run)
        found = reply.details
        return Spent(calls=found["calls"], prompt_tokens=found["prompt"], completion_tokens=found["completion"])

    return call("run_spend", run, epoch, calls, prompt_tokens, completion_tokens, read=read)


@dataclass(frozen=True, kw_only=True)
class News:
    """What there is for a run: the first entries of its inbox, and which of its batches are complete."""

    inbox: tuple[InboxEntry, ...]
    complete: frozenset[str]


def look(run: str, epoch: int, batches: Sequence[str] = ()) -> Call[News]:
    """Look what there is for a run; entries leave its inbox only with the checkpoint that holds their effect.

    Raises
    ------
    LeaseLost
        If the run is no longer held under this epoch.
    """

    def read(reply: Reply) -> News:
        if reply.answer == "fenced":
            raise _fenced(run)
        return News(inbox=_inbox(reply), complete=frozenset(reply.details["complete"] or ()))

    return call("run_inbox", run, epoch, json.dumps(list(batches)), read=read)


def release(
    run: str,
    epoch: int,
    state: RunState,
    *,
    awaits: Sequence[str] = (),
    interrupts: Sequence[str] = (),
    error: str = "",
    answer: str = "",
) -> Call[bool]:
    """Let go of a run: it waits for batches or a person, is given back, or has ended. False: look again first.

    ``interrupts``: ids of LangGraph's interrupts that it waits in, answered to whoever claims it next.

    Raises
    ------
    LeaseLost
        If the run is no longer held under this epoch.
    """
    fields = {name: value for name, value in (("error", error), ("answer", answer)) if value}
    if interrupts:
        fields["interrupts"] = json.dumps(list(interrupts))

    def read(reply: Reply) -> bool:
        if reply.answer == "fenced":
            raise _fenced(run)
        return reply.answer == "ok"

    return call("run_release", run, epoch, state.value, json.dumps(list(awaits)), json.dumps(fields), read=read)


def post(run: str, entry: InboxEntry) -> Call[str]:
    """Say something to a run: ``ok``, ``same`` (said before), or ``ended``.

    Raises
    ------
    NotFound
        If there is no such run.
    """

    def read(reply: Reply) -> str:
        if reply.answer == "unknown":
            raise NotFound(f"there is no run {run}")
        return reply.answer

    return call("run_post", run, entry.model_dump_json(exclude_defaults=False), read=read)


@dataclass(frozen=True, kw_only=True)
class CheckpointWrite:
    """What is written of LangGraph's in one transaction: JSON documents, merges, pointers and registry members."""

    documents: tuple[tuple[str, str], ...] = ()
    merges: tuple[tuple[str, str], ...] = ()
    pointers: tuple[tuple[str, str], ...] = ()
    members: tuple[tuple[str, int, str], ...] = ()
    #: inbox entries whose effect is in it
    acks: tuple[str, ...] = ()
    #: what is told with it to those who watch the run
    events: tuple[NewEvent, ...] = ()
    #: of a checkpoint: its key, and the key of its registry of pending writes; of pending writes: empty
    checkpoint: tuple[str, ...] = ()


def write_checkpoint(run: str, epoch: int, what: CheckpointWrite) -> Call[None]:
    """Write a checkpoint or pending writes if the run is still held under this epoch.

    Raises
    ------
    LeaseLost
        If it is not; nothing was written.
    """

    def read(reply: Reply) -> None:
        if reply.answer == "fenced":
            raise _fenced(run)

    todo = {
        "documents": what.documents,
        "merges": what.merges,
        "pointers": what.pointers,
        "members": what.members,
        "acks": what.acks,
        "events": [event.row() for event in what.events],
        "checkpoint": json.dumps(what.checkpoint) if what.checkpoint else "",
    }
    return call("checkpoint_put", run, epoch, json.dumps(todo), read=read)


@dataclass(frozen=True, kw_only=True)
class CheckpointRead:
    """What is stored of a checkpoint, as JSON texts: itself and its pending writes."""

    document: str
    writes: tuple[str, ...]


def read_checkpoint(
    pointer: str, key: str, *, checkpoint_prefix: str, registry_prefix: str
) -> Call[CheckpointRead | None]:
    """Read the checkpoint under a key, or the pointer's target if the key is empty; None if there is none."""

    def read(reply: Reply) -> CheckpointRead | None:
        if reply.answer == "none":
            return None
        return CheckpointRead(document=reply.details["document"], writes=tuple(reply.details["writes"] or ()))

    return call("checkpoint_get", pointer, key, checkpoint_prefix, registry_prefix, read=read)


def prune_checkpoints(run: str, epoch: int, pointer: str, *, keep: int = 2) -> Call[int]:
    """Delete all but the newest checkpoints, never the pointer's target; gives how many were deleted.

    Raises
    ------
    LeaseLost
        If the run is no longer held under this epoch.
    """

    def read(reply: Reply) -> int:
        if reply.answer == "fenced":
            raise _fenced(run)
        return int(reply.details["deleted"])

    return call("checkpoint_prune", run, epoch, pointer, keep, read=read)
