"""The arrows in the life of a job, each a script behind one typed function."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tasks.batches import admission
from tasks.errors import NotFound
from tasks.records import JobRecord, JobState
from tasks.results import Checkpoint, Correction, Failure, Outcome, Progress
from tasks.scripts import Call, Reply, call
from tasks.settings import Settings
from tasks.specs import canonical_json


@dataclass(frozen=True, kw_only=True)
class Token:
    """The fencing token of an attempt: its number and its random claim id."""

    job: str
    attempt: int
    claim_id: str


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """An earlier attempt of a job, and how it was closed."""

    attempt: int
    claim_id: str
    how: str


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """What became of a claim: ``ok``, ``gone``, ``cancelled``, ``no_room`` or ``unknown``."""

    answer: str
    token: Token | None = None
    record: JobRecord | None = None
    earlier: tuple[Earlier, ...] = ()


def claim(job: str, worker: str, claim_id: str, task_id: str, settings: Settings) -> Call[Claimed]:
    """Turn an offer into a lease. Repeating it with the same claim id answers the same attempt."""

    def read(reply: Reply) -> Claimed:
        if reply.answer != "ok":
            return Claimed(answer=reply.answer)
        details = reply.details
        return Claimed(
            answer="ok",
            token=Token(job=job, attempt=details["attempt"], claim_id=claim_id),
            record=JobRecord.model_validate(details["job"]),
            earlier=tuple(Earlier(**row) for row in details["earlier"] or ()),
        )

    return call("claim", job, worker, claim_id, task_id, settings.lease_ms(), *admission(settings), read=read)


RenewAnswer = Literal["ok", "cancel", "yield", "fenced"]


def renew(
    token: Token,
    settings: Settings,
    *,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
    phase: str = "running",
    last_lines: Sequence[str] = (),
    corrections: Sequence[Correction] = (),
    fell_back_to: Checkpoint | Literal["scratch"] | None = None,
) -> Call[RenewAnswer]:
    """Extend a lease and store how far the attempt is; its last lines are the evidence if its host goes down.

    ``fell_back_to``: the checkpoint that the attempt began from, if the newest was damaged or missing.
    """
    began: str = fell_back_to if isinstance(fell_back_to, str) else ""
    if isinstance(fell_back_to, Checkpoint):
        began = canonical_json(fell_back_to.model_dump())
    return call(
        "renew",
        token.job,
        token.attempt,
        token.claim_id,
        settings.lease_ms(),
        canonical_json(progress.model_dump(exclude_none=True)) if progress else "",
        canonical_json(checkpoint.model_dump()) if checkpoint else "",
        phase,
        canonical_json(list(last_lines)) if last_lines else "",
        canonical_json([correction.model_dump() for correction in corrections]) if corrections else "",
        began,
        read=_answer,
    )


def _answer(reply: Reply) -> Any:
    return reply.answer


@dataclass(frozen=True, kw_only=True)
class Ended:
    """What became of the end that an attempt posted.

    ``ok``: it counts; ``same``: it was posted before; ``fenced``: it does not count; ``not_lost``: the outcome found
    on disk belongs to an attempt that was not closed as lost.
    """

    answer: str
    state: JobState | None = None


def _ended(reply: Reply) -> Ended:
    state = reply.details.get("state")
    return Ended(answer=reply.answer, state=JobState(state) if state else None)


def finish(
    token: Token,
    state: JobState,
    settings: Settings,
    *,
    outcome: Outcome | None = None,
    failure: Failure | None = None,
) -> Call[Ended]:
    """Say how an attempt ended for good: SUCCEEDED with its outcome, FAILED with why, or CANCELLED.

    The outcome's own attempt may be an earlier one that was closed as lost (its outcome file was found on disk).
    """
    fields: dict[str, str] = {}
    if outcome:
        fields["artifacts"] = canonical_json([artifact.model_dump() for artifact in outcome.artifacts])
        fields["compute_seconds"] = f"{outcome.compute_seconds:.3f}"
        if outcome.result:
            values = outcome.result.model_dump(mode="json", exclude_none=True)
            fields["result"] = canonical_json(values)
            numbers = ("energy_hartree", "homo_ev", "lumo_ev", "gap_ev", "dipole_debye")
            fields.update({name: repr(values[name]) for name in numbers if name in values})
    if failure:
        fields["failure"] = canonical_json(failure.model_dump())
    how = {JobState.SUCCEEDED: "done", JobState.FAILED: "failed", JobState.CANCELLED: "cancelled"}[state]
    accepted = outcome.attempt if outcome and state is JobState.SUCCEEDED else token.attempt
    return call(
        "finish",
        token.job,
        token.attempt,
        token.claim_id,
        state.value,
        accepted,
        how,
        json.dumps(fields),
        *admission(settings),
        read=_ended,
    )


Requeue = Literal["failed", "preempted", "walltime", "host"]


def requeue(
    token: Token, how: Requeue, settings: Settings, *, failure: Failure | None = None, delay_seconds: float = 0.0
) -> Call[Ended]:
    """Give a job back without a result; ``failed`` uses up its failure budget, the others do not.

    ``host``: by the host's fault; a worker that does nothing else is quarantined. A failure of class ``host`` (disks)
    is never held against the job; any other is once several hosts agree, or the same one has started other jobs since.
    """
    return call(
        "requeue",
        token.job,
        token.attempt,
        token.claim_id,
        how,
        canonical_json(failure.model_dump()) if failure else "",
        round(delay_seconds * 1000),
        settings.failure_budget,
        *admission(settings),
        settings.quarantine_after,
        settings.fault_hosts,
        read=_ended,
    )


def park(token: Token, batch: str, settings: Settings) -> Call[Ended]:
    """Let a job wait, without holding a slot, for a batch of its own children.

    Raises
    ------
    NotFound
        If that batch is not one of the job's own.
    """

    def read(reply: Reply) -> Ended:
        if reply.answer == "unknown":
            raise NotFound(f"batch {batch} is not one that job {token.job} filled")
        return _ended(reply)

    return call("park", token.job, token.attempt, token.claim_id, batch, *admission(settings), read=read)


def _known(job: str, name: str, settings: Settings) -> Call[Ended]:
    def read(reply: Reply) -> Ended:
        if reply.answer == "unknown":
            raise NotFound(f"there is no job {job}")
        return _ended(reply)

    return call(name, job, *admission(settings), read=read)


def hold(job: str, settings: Settings) -> Call[Ended]:
    """Keep a waiting job from starting: ``ok``, ``already``, or ``refused`` with its state."""
    return _known(job, "hold", settings)


def unhold(job: str, settings: Settings) -> Call[Ended]:
    """Let a held job start again: ``ok``, or ``refused`` with its state."""
    return _known(job, "unhold", settings)


def cancel(job: str, settings: Settings) -> Call[Ended]:
    """Cancel a job: ``ok`` (it waited), ``requested`` (it runs and is told), or ``already`` ended."""
    return _known(job, "cancel", settings)


def admit(settings: Settings) -> Call[str]:
    """Offer what there is room for."""
    return call("admit", *admission(settings), read=_answer)
