"""What failed: the jobs of a round that gave no result, also after repairs, put together by the kind of their failure.

Failures of one molecule among several count like those of all. What a person cancelled is no failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.recovery.record import KEPT_JOBS
from orchestrator.state import Dispatched, Step
from tasks.memory import Evidence, Scope
from tasks.methods import find_method
from tasks.records import JobRecord, JobState
from tasks.results import Checkpoint, Failure
from tasks.specs import AnySpec, QuantumSpec, engine_of, parse_spec, spec_hash

#: error class of a failure that is not one of a job: what a step was given cannot be used
INVALID_INPUT = "invalid_input"
_NO_REASON = Failure(error_class="no_result", message="It ended without a result.")


@dataclass(frozen=True, kw_only=True)
class Round:
    """One batch of a step with the records of its jobs, in the order of its manifest."""

    batch: Dispatched
    records: tuple[JobRecord, ...]


@dataclass(frozen=True, kw_only=True)
class Failed:
    """A job that gave no result, as it is to be repaired.

    Attributes
    ----------
    root
        The job of the step's own round; repairs are made in its place.
    job
        The one whose failure this is: the root, or a repair of it that failed in another way.
    """

    root: str
    job: str
    spec: AnySpec
    failure: Failure
    attempt: int = 0
    checkpoint: Checkpoint | None = None
    checkpoint_before: Checkpoint | None = None


@dataclass(frozen=True, kw_only=True)
class FailureEvent:
    """Jobs of a step that failed in the same way; nothing in the signature is of this run only."""

    scope: Scope
    error_class: str
    message: str
    failed: tuple[Failed, ...] = ()
    evidence: tuple[Evidence, ...] = ()

    @property
    def signature(self) -> str:
        """The words that make failures the same: agent, task, engine, kind of theory, error class."""
        return signature(self.scope, self.error_class)

    @property
    def jobs(self) -> tuple[str, ...]:
        """The first of the jobs that failed, by the round of the step itself."""
        return tuple(one.root for one in self.failed[:KEPT_JOBS])


def signature(scope: Scope, error_class: str) -> str:
    """Give the signature of a failure: ``qm_agent:optimisation:pyscf:dft:scf_not_converged``."""
    return ":".join(part or "-" for part in (scope.agent, scope.task, scope.engine, scope.family, error_class))


def own_rounds(step: Step) -> tuple[Dispatched, ...]:
    """Give the rounds that the step's agent asked for, without repairs of them."""
    return tuple(batch for batch in step.batches if not batch.repairs)


def newest_round(step: Step) -> tuple[Dispatched, ...]:
    """Give the batch of the agent's newest round, and those that repair it, oldest first."""
    first = own_rounds(step)[-1].batch_id
    return tuple(batch for batch in step.batches if first in (batch.batch_id, batch.repairs))


def merged(rounds: Sequence[Round]) -> tuple[JobRecord, ...]:
    """Give the jobs of a round with each that was repaired in place of the one that failed."""
    repaired = {
        record.retry_of: record
        for one in rounds[1:]
        for record in one.records
        if record.state is JobState.SUCCEEDED and not one.batch.prepares
    }
    return tuple(repaired.get(record.id, record) for record in rounds[0].records)


def failed_jobs(rounds: Sequence[Round]) -> tuple[Failed, ...]:
    """Give the jobs that are still without a result.

    A repair that failed in another way got further, and is what goes on from there; one that failed in the same way
    changed nothing, and is forgotten.
    """
    found = []
    for record in merged(rounds):
        if record.state is not JobState.FAILED:
            continue
        repairs = [r for one in rounds[1:] for r in one.records if r.retry_of == record.id]
        if any(repair.state is JobState.CANCELLED for repair in repairs):
            continue
        preparing = {r.id for one in rounds[1:] if one.batch.prepares for r in one.records}
        others = [r for r in repairs if r.id not in preparing and _class_of(r) != _class_of(record)]
        newest = others[-1] if others else record
        found.append(
            Failed(
                root=record.id,
                job=newest.id,
                spec=parse_spec(newest.spec),
                failure=newest.failure or _NO_REASON,
                attempt=newest.attempt,
                checkpoint=newest.checkpoint,
                checkpoint_before=newest.checkpoint_before,
            )
        )
    return tuple(found)


def classify(agent: str, failed: Sequence[Failed]) -> tuple[FailureEvent, ...]:
    """Put failed jobs together by the signature of their failure."""
    events: dict[str, list[Failed]] = {}
    for one in failed:
        events.setdefault(signature(scope_of(agent, one.spec), one.failure.error_class), []).append(one)
    return tuple(
        FailureEvent(
            scope=scope_of(agent, group[0].spec),
            error_class=group[0].failure.error_class,
            message=group[0].failure.message,
            failed=tuple(group),
            evidence=tuple(
                Evidence(job=one.job, what="failure", sha256=failure_hash(one.failure)) for one in group[:KEPT_JOBS]
            ),
        )
        for group in events.values()
    )


def scope_of(agent: str, spec: AnySpec) -> Scope:
    """Give where a job belongs, without anything of its run."""
    family = find_method(spec.method).family.value if isinstance(spec, QuantumSpec) else ""
    return Scope(agent=agent, task=str(spec.task), engine=engine_of(spec), family=family)


def failure_hash(failure: Failure) -> str:
    """Give the SHA-256 of a failure's decisive lines."""
    return spec_hash([failure.error_class, failure.message, list(failure.evidence)])


def result_hash(record: JobRecord) -> str:
    """Give the SHA-256 of a job's result."""
    return spec_hash(record.result.model_dump(mode="json") if record.result else None)


def _class_of(record: JobRecord) -> str:
    return (record.failure or _NO_REASON).error_class
