"""Whether an action repaired what it was chosen for: a check that fits each one. Chosen is never repaired.

What a job is asked to compute is compared field by field, so that no action changes more than it says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.chemistry.geometry import broken_bonds
from orchestrator.recovery.classify import Failed
from orchestrator.recovery.record import Action
from tasks.memory import Check
from tasks.records import AttemptRecord, JobRecord, JobState
from tasks.results import QuantumResult
from tasks.specs import AnySpec, QuantumSpec, dump_spec, engine_of, parse_spec

#: raised when a check changes its meaning, so that older verdicts can be told apart
VERSION = 1
#: what an action may change in a spec
_MAY_CHANGE: dict[Action, frozenset[str]] = {
    Action.RESUME: frozenset(),
    Action.ENGINE: frozenset({"engine", "engine_reason"}),
    Action.GEOMETRY: frozenset({"molecule"}),
    Action.RESOURCES: frozenset({"resources"}),
    Action.COARSER: frozenset({"method", "basis", "dispersion", "solvent_model", "engine"}),
}


@dataclass(frozen=True, kw_only=True)
class Repaired:
    """A job that was made in place of a failed one, and how it ended."""

    before: Failed
    record: JobRecord
    attempts: tuple[AttemptRecord, ...] = ()
    #: the job that made its starting structure, where there was one
    prepared: JobRecord | None = None


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a validator found; ``judged``: it could say anything at all."""

    passed: bool
    judged: bool
    checks: tuple[Check, ...]
    validator: str


def validate(action: Action, jobs: Sequence[Repaired]) -> Verdict:
    """Judge an action by all jobs that it made; it repaired what failed only if every one of them is right."""
    checks = tuple(check for job in jobs for check in _checks(action, job))
    judged = bool(jobs) and all(job.record.state is not JobState.CANCELLED for job in jobs)
    return Verdict(
        passed=judged and all(check.passed for check in checks),
        judged=judged,
        checks=checks,
        validator=f"{action}/{VERSION}",
    )


def unprepared(jobs: Sequence[JobRecord]) -> Verdict:
    """Judge an action whose starting structures could not be made: nothing of it was executed."""
    judged = not all(job.state is JobState.CANCELLED for job in jobs)
    why = "; ".join(dict.fromkeys(job.failure.message.rstrip(".") for job in jobs if job.failure))
    text = f"no other starting structure: {why or 'relaxed, it is the one that failed'}"
    check = Check(name="prepared", passed=False, text=text if judged else "was cancelled")
    return Verdict(passed=False, judged=judged, checks=(check,), validator=f"{Action.GEOMETRY}/{VERSION}")


def _checks(action: Action, job: Repaired) -> list[Check]:
    record, spec = job.record, parse_spec(job.record.spec)
    if record.state is not JobState.SUCCEEDED:
        failure = record.failure
        why = f"{failure.message.rstrip('.')} [{failure.error_class}]" if failure else "ended without a result"
        return [Check(name="succeeded", passed=False, text=why if record.state is JobState.FAILED else "was cancelled")]
    found = [
        Check(name="succeeded", passed=record.result is not None, text=f"job {record.id} succeeded"),
        _only_that_changed(action, job.before.spec, spec),
    ]
    if action is Action.RESUME:
        found.append(_used_its_checkpoint(job))
    if job.prepared is not None:
        found.append(_began_as_prepared(spec, job.prepared))
    if action is Action.ENGINE:
        ran = getattr(record.result, "engine", "")
        text = f"computed by {ran or 'an engine that does not say so'}"
        found.append(Check(name="other_engine", passed=ran == engine_of(spec) != engine_of(job.before.spec), text=text))
    if isinstance(spec, QuantumSpec) and isinstance(record.result, QuantumResult):
        found += _physics(spec, record.result)
    return found


def _only_that_changed(action: Action, before: AnySpec, after: AnySpec) -> Check:
    mine, theirs = dump_spec(before), dump_spec(after)
    changed = {name for name in {*mine, *theirs} if mine.get(name) != theirs.get(name)}
    if "molecule" in changed and action is Action.GEOMETRY:
        # The molecule stays the same; only where its atoms begin may differ.
        same = all(mine["molecule"].get(key) == theirs["molecule"].get(key) for key in ("smiles", "name"))
        changed = changed if same else changed | {"smiles"}
    more = sorted(changed - _MAY_CHANGE[action])
    text = f"it changed {', '.join(more)} as well" if more else "nothing else was changed"
    return Check(name="nothing_else_changed", passed=not more, text=text)


def _used_its_checkpoint(job: Repaired) -> Check:
    asked = job.before.checkpoint
    first = next((attempt for attempt in job.attempts if attempt.checkpoint_from), None)
    used = first.checkpoint_from if first else None
    good = asked is not None and used is not None and used.number >= asked.number
    text = f"went on from restart point {used.number}" if used else "did not go on from a restart point"
    return Check(name="used_checkpoint", passed=good, text=text)


def _began_as_prepared(spec: AnySpec, prepared: JobRecord) -> Check:
    made = prepared.result.xyz if isinstance(prepared.result, QuantumResult) else None
    good = isinstance(spec, QuantumSpec) and bool(made) and spec.molecule.xyz == made
    text = f"began at the structure of job {prepared.id}" if good else f"did not begin at that of job {prepared.id}"
    return Check(name="prepared", passed=good, text=text)


def _is_at_level(spec: QuantumSpec, level: str) -> bool:
    """Tell whether a result's level, as a paper would write it (``UB3LYP-D3(BJ)/def2-SVP (…)``), is that of a spec."""
    basis = f"/{re.escape(spec.basis)}" if spec.basis else ""
    dispersion = r"-D\S*?" if spec.dispersion else ""
    return re.fullmatch(rf"U?{re.escape(spec.method)}{dispersion}{basis}", level.partition(" (")[0]) is not None


def _physics(spec: QuantumSpec, result: QuantumResult) -> list[Check]:
    found = [Check(name="level", passed=_is_at_level(spec, result.level), text=f"at {result.level or 'no level'}")]
    if spec.task.startswith("optimisation") and spec.molecule.smiles and result.xyz:
        broken = broken_bonds(spec.molecule.smiles, result.xyz)
        text = f"it is no longer this molecule: {', '.join(broken)}" if broken else "still the same molecule"
        found.append(Check(name="connectivity", passed=not broken, text=text))
    if spec.task == "optimisation_frequencies":
        text = f"{result.imaginary_modes or 0} imaginary modes"
        found.append(Check(name="minimum", passed=not result.imaginary_modes, text=text))
    return found
