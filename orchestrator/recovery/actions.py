"""The actions that change a job so that it may succeed: each a small function from a failed job to what is tried next.

None: the action does not fit this job, or would change nothing. Wanted parameters are those of an episode or a rule
that is followed. What changes the meaning of a result says so in its consequence; nothing else changes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from orchestrator.chemistry.geometry import SEED, other_conformer, same_structure
from orchestrator.recovery.classify import Failed, FailureEvent
from orchestrator.recovery.record import Action
from tasks.errors import InputError
from tasks.memory import Parameters
from tasks.methods import Family, capable_engines, find_method
from tasks.records import JobRecord, JobState
from tasks.results import Checkpoint, QuantumResult
from tasks.specs import AnySpec, QuantumSpec, dump_spec, parse_spec

#: times as much memory or walltime
_FACTOR = 2.0
#: no job is asked to run longer than that by itself
_LONGEST_SECONDS = 30 * 86_400
#: error classes that more of the one or of the other does nothing about
_MEMORY = {"out_of_memory", "killed"}
_WALLTIME = {"walltime", "step_timeout"}
#: the next smaller basis set of the same kind
_SMALLER = {
    "def2-QZVP": "def2-TZVP", "def2-TZVPP": "def2-TZVP", "def2-TZVPD": "def2-SVPD", "def2-TZVP": "def2-SVP",
    "aug-cc-pVTZ": "aug-cc-pVDZ", "cc-pVQZ": "cc-pVTZ", "cc-pVTZ": "cc-pVDZ", "6-311++G**": "6-31++G**",
    "6-311G**": "6-31G**", "6-31++G**": "6-31+G*", "6-31G**": "6-31G*",
}  # fmt: skip
#: what is taken where no smaller basis set is
_COARSEST = "GFN2-xTB"
_SMALLER_BASIS, _TIGHT_BINDING = "smaller_basis", "tight_binding"
#: the parameter that says what a starting structure was relaxed with
_RELAXED = "relaxed_with"


@dataclass(frozen=True, kw_only=True)
class Means:
    """What there is to repair with: queues that workers declared, and the memory of the largest live one (0: none)."""

    offered: frozenset[str] = frozenset()
    memory_mb: int = 0


@dataclass(frozen=True, kw_only=True)
class Change:
    """What is computed in place of a failed job."""

    spec: AnySpec
    #: what is computed before it and gives its starting structure; None: it begins at once
    prepare: AnySpec | None = None
    checkpoint: Checkpoint | None = None
    checkpoint_before: Checkpoint | None = None
    parameters: Parameters = field(default_factory=dict)
    #: what a reader has to know about the result; empty: it means the same
    consequence: str = ""


Maker = Callable[[Failed, Means, Parameters], Change | None]


def resume(failed: Failed, means: Means, wanted: Parameters) -> Change | None:
    """Go on from the job's own last restart point, with a new budget of attempts."""
    if failed.checkpoint is None:
        return None
    return Change(spec=failed.spec, checkpoint=failed.checkpoint, checkpoint_before=failed.checkpoint_before)


def other_engine(failed: Failed, means: Means, wanted: Parameters) -> Change | None:
    """Compute exactly the same with another program that a worker has declared."""
    spec = failed.spec
    if not isinstance(spec, QuantumSpec):
        return None
    tag = f"@{spec.tag}" if spec.tag else ""
    able = [e for e in capable_engines(spec.demand) if e != spec.engine and f"{e}{tag}" in means.offered]
    if not able:
        return None
    engine = str(wanted["engine"]) if wanted.get("engine") in able else able[0]
    reason = f"recovery: {spec.engine} failed ({failed.failure.error_class})"
    return Change(spec=_with(spec, engine=engine, engine_reason=reason[:200]), parameters={"engine": engine})


def other_start_geometry(failed: Failed, means: Means, wanted: Parameters) -> Change | None:
    """Optimise from another conformer, and from what GFN2-xTB makes of it first where a worker has that.

    A calculation at a given geometry keeps that. A rigid molecule has no other conformer: then what GFN2-xTB makes of
    its own structure is the other start.
    """
    spec = failed.spec
    if not isinstance(spec, QuantumSpec) or not spec.task.startswith("optimisation") or not spec.molecule.smiles:
        return None
    if not spec.molecule.xyz:
        return None
    seed = int(wanted.get("seed", SEED + 1))
    made = other_conformer(spec.molecule.smiles, spec.molecule.xyz, seed)
    begins = _with(spec, molecule={**spec.molecule.model_dump(exclude_none=True), "xyz": made.xyz}) if made else spec
    # An episode that did without is followed to the letter.
    first = relaxed_first(begins, means) if _RELAXED in wanted or not wanted else None
    if made is None and first is None:
        return None
    parameters: Parameters = {"seed": seed} if made else {}
    ways = [f"{made.method}, seed {seed}"] if made else []
    if first:
        parameters[_RELAXED] = _COARSEST
        ways.append(f"relaxed with {_COARSEST} first")
    return Change(
        spec=begins,
        prepare=first,
        parameters=parameters,
        consequence=f"optimised from another structure ({', '.join(ways)}), and may be another conformer",
    )


def relaxed_first(spec: AnySpec, means: Means) -> AnySpec | None:
    """Give the job that relaxes the structure of another one with GFN2-xTB; None: no worker has it, or it does not fit.

    It keeps charge, multiplicity, solvent and resources.
    """
    if not isinstance(spec, QuantumSpec) or not _offers_xtb(spec, means):
        return None
    if find_method(spec.method).family is Family.TIGHT_BINDING:
        return None
    try:
        return _with(
            spec,
            task="optimisation",
            engine_reason=f"recovery: relaxes the structure that {spec.engine} failed at",
            **_tight_binding(spec),
        )
    except InputError:
        return None  # such as a solvent that it knows nothing of


def from_relaxed(
    event: FailureEvent, changes: Mapping[str, Change], made: Mapping[str, JobRecord]
) -> dict[str, Change]:  # fmt: skip
    """Give the changes whose structures are there: each job begins at what was relaxed for it.

    Parameters
    ----------
    made
        The relaxing jobs, by the job that each was made for.
    """
    found = {}
    before = {one.root: one.spec for one in event.failed}
    for root, change in changes.items():
        record = made.get(root)
        result = record.result if record and record.state is JobState.SUCCEEDED else None
        if not isinstance(change.spec, QuantumSpec) or not isinstance(result, QuantumResult) or not result.xyz:
            continue
        began = before[root]
        if isinstance(began, QuantumSpec) and same_structure(began.molecule.xyz or "", result.xyz):
            continue  # it would fail in the same way
        molecule = {**change.spec.molecule.model_dump(exclude_none=True), "xyz": result.xyz}
        found[root] = replace(change, spec=_with(change.spec, molecule=molecule), prepare=None)
    return found


def more_resources(failed: Failed, means: Means, wanted: Parameters) -> Change | None:
    """Give the job twice the memory or walltime, as far as a worker has it; from its restart point if it has one."""
    kind, now = failed.failure.error_class, failed.spec.resources
    changes: dict[str, int] = {}
    parameters: Parameters = {}
    if kind not in _WALLTIME:
        most = means.memory_mb or math.inf
        memory = int(min(now.memory_mb * float(wanted.get("memory_factor", _FACTOR)), most))
        if memory > now.memory_mb:
            changes["memory_mb"], parameters["memory_factor"] = memory, round(memory / now.memory_mb, 2)
    if kind not in _MEMORY:
        walltime = int(min(now.walltime_seconds * float(wanted.get("walltime_factor", _FACTOR)), _LONGEST_SECONDS))
        if walltime > now.walltime_seconds:
            changes["walltime_seconds"] = walltime
            parameters["walltime_factor"] = round(walltime / now.walltime_seconds, 2)
    if not changes:
        return None
    return Change(
        spec=_with(failed.spec, resources={**now.model_dump(), **changes}),
        checkpoint=failed.checkpoint,
        checkpoint_before=failed.checkpoint_before,
        parameters=parameters,
    )


def coarser_method(failed: Failed, means: Means, wanted: Parameters) -> Change | None:
    """Take the next smaller basis set, or tight binding where there is none."""
    spec = failed.spec
    if not isinstance(spec, QuantumSpec) or find_method(spec.method).family is Family.TIGHT_BINDING:
        return None
    smaller = _SMALLER.get(spec.basis or "")
    step = _TIGHT_BINDING if wanted.get("step") == _TIGHT_BINDING or not smaller else _SMALLER_BASIS
    changes: dict[str, Any] = {"basis": smaller}
    if step == _TIGHT_BINDING:
        if not _offers_xtb(spec, means):
            return None
        changes = _tight_binding(spec)
    coarser = _with(spec, **changes)
    now, before = level_words(coarser), level_words(spec)
    consequence = f"computed with {now} instead of {before}: do not compare its numbers with any at {before}"
    # Which basis set that is depends on the job, so that what is remembered of one holds for another.
    return Change(spec=coarser, parameters={"step": step}, consequence=consequence)


#: what each action that makes jobs does; ``skip`` and ``ask`` make none
MAKERS: Mapping[Action, Maker] = {
    Action.RESUME: resume,
    Action.ENGINE: other_engine,
    Action.GEOMETRY: other_start_geometry,
    Action.RESOURCES: more_resources,
    Action.COARSER: coarser_method,
}


def level_words(spec: AnySpec) -> str:
    """Give the level of a quantum spec as people write it."""
    if not isinstance(spec, QuantumSpec):
        return ""
    return f"{spec.method}/{spec.basis}" if spec.basis else spec.method


def _offers_xtb(spec: QuantumSpec, means: Means) -> bool:
    return (f"xtb@{spec.tag}" if spec.tag else "xtb") in means.offered


def _tight_binding(spec: QuantumSpec) -> dict[str, Any]:
    """Give what turns a quantum spec into one of tight binding."""
    model = "ALPB" if spec.solvent else None
    return {"method": _COARSEST, "basis": None, "dispersion": None, "solvent_model": model, "engine": "xtb"}


def _with(spec: AnySpec, **changes: object) -> AnySpec:
    """Give a spec with some fields changed, checked anew; None takes a field out."""
    data = {**dump_spec(spec), **changes}
    return parse_spec({name: value for name, value in data.items() if value is not None})
