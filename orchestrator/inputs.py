"""Files to work on, as users name them: turned at the gate into the exact file, with its hash.

``{"job": "<id>", "role": "orbitals"}`` is an artifact of that job's accepted attempt, ``{"file": "<id>"}`` a file that
was put into the workspace; what is an exact file already is left alone.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from orchestrator.problems import Problem, of_error
from orchestrator.state import Plan, Source
from orchestrator.storage import find_file
from tasks import listing
from tasks.errors import InputError
from tasks.jobspec import InputFile
from tasks.records import JobRecord, JobState
from tasks.results import Artifact, QuantumResult
from tasks.specs import WavefunctionSpec
from tasks.store import AsyncStore
from tasks.wavefunctions import SOURCE_ROLES

_REMEDY = 'Write {"job": "<id>", "role": "<role>"}, or {"file": "<id>"} for what `simrelay file put` took.'
#: what a reference to a file that a user put into the workspace begins with
FILE = "file:"
#: what a request speaks of: "the last job", "my previous calculation", "job 3f2a91c0de-0", "file 8336…"
NAMED_JOB = re.compile(
    r"\b(?:(?:the|my|its)\s+)?(?:(?:last|latest|previous|most recent)\s+(?:quantum\s+|dft\s+)?(?:job|calculation)"
    r"|file\s+[`'\"]?(?P<file>[0-9a-f]{64})[`'\"]?"
    r"|job\s+[`'\"]?(?P<id>(?=[\w.-]*\d)[A-Za-z0-9][A-Za-z0-9._-]{2,63})(?<!\.)[`'\"]?)",
    re.IGNORECASE,
)
#: pages of the newest jobs that are looked through for the last one with orbitals
_LOOKED_THROUGH = 50


async def resolve_inputs(
    jobs: Sequence[dict[str, Any]], store: AsyncStore, workspace: Path
) -> tuple[list[dict[str, Any]], list[Problem]]:
    """Give jobs with their inputs as exact files, and what is wrong, all at once."""
    resolved: list[dict[str, Any]] = []
    problems: list[Problem] = []
    known: dict[str, JobRecord | None] = {}
    for row, job in enumerate(jobs):
        inputs = job.get("inputs")
        if not isinstance(inputs, dict):
            resolved.append(job)
            continue
        exact: dict[str, Any] = {}
        for name, reference in inputs.items():
            try:
                exact[name] = await _resolve(f"inputs.{name}", reference, store, workspace, known)
            except InputError as error:
                problems.append(of_error(error, row))
        resolved.append({**job, "inputs": exact})
    return resolved, problems


async def _resolve(
    field: str, reference: object, store: AsyncStore, workspace: Path, known: dict[str, JobRecord | None]
) -> object:
    if not isinstance(reference, dict):
        raise InputError(field, str(reference), "names no file", _REMEDY)
    unknown = set(reference) - {"job", "role", "file", "path", "sha256", "size_bytes"}
    if unknown or ("job" in reference) + ("file" in reference) + ("path" in reference) != 1:
        raise InputError(field, ", ".join(map(str, reference)), "names no file", _REMEDY)
    if "path" in reference:
        return reference
    if "file" in reference:
        found = await asyncio.to_thread(find_file, workspace, str(reference["file"]), field)
        return found.model_dump()
    job = str(reference["job"])
    if job not in known:
        known[job] = await store.run(listing.job(job))
    return of_job(field, job, known[job], str(reference.get("role") or "")).model_dump()


def of_job(field: str, job: str, record: JobRecord | None, role: str) -> InputFile:
    """Give the artifact of a job; without a role its orbitals.

    Raises
    ------
    InputError
        If the job is not there, has not succeeded, or has no such artifact.
    """
    if record is None:
        raise InputError(field, job, "is not a job", "See `simrelay job list` for their ids.")
    if record.state is not JobState.SUCCEEDED:
        remedy = "Wait until it has succeeded." if not record.state.ended else "Compute it again, and take that job."
        raise InputError(field, job, f"is a job that is {record.state.value}, and has no results", remedy)
    roles = (role,) if role else SOURCE_ROLES
    found = next((a for wanted in roles for a in record.artifacts if a.role == wanted), None)
    if found is None:
        there = ", ".join(a.role for a in record.artifacts) or "nothing"
        what = f"the role {role!r}" if role else "orbitals"
        problem = f"is a job without an artifact of {what}; it has {there}"
        raise InputError(field, job, problem, "Name one of these, or another job.")
    return input_file(found)


def input_file(artifact: Artifact) -> InputFile:
    """Give an artifact as a file to work on."""
    return InputFile(path=artifact.path, sha256=artifact.sha256, size_bytes=artifact.size_bytes)


def complete_analysis(spec: WavefunctionSpec, offered: frozenset[str]) -> WavefunctionSpec:
    """Choose the engine of an analysis: ours where it is offered, else Multiwfn; nothing else is left open."""
    if spec.engine != "auto":
        return spec
    engines = {queue.partition("@")[0] for queue in offered}
    other = "multiwfn" if "multiwfn" in engines and "wavefunction" not in engines else "wavefunction"
    return WavefunctionSpec.model_validate({**spec.model_dump(), "engine": other})


def named_job(text: str) -> str:
    """Give the job that a request names: ``last``, an id, ``file:`` and the id of a file, or empty if it names none."""
    match = NAMED_JOB.search(text)
    if not match:
        return ""
    return f"{FILE}{match['file']}" if match["file"] else match["id"] or "last"


async def settle_sources(plan: Plan, owner: str, store: AsyncStore) -> Plan:
    """Give a plan whose steps name the exact files, or the molecules, of the earlier jobs that they work on.

    Raises
    ------
    InputError
        If there is no such job, or it left no orbitals, or its molecule is not known.
    """
    for step in plan.steps:
        if step.goal.source_job and step.agent == "chemistry_agent":
            if not step.goal.molecules:
                smiles, label = await earlier_molecule(step.goal.source_job, owner, store, plan)
                settled = {"molecules": (smiles,), "query": label}
                plan = plan.replace(step.model_copy(update={"goal": step.goal.model_copy(update=settled)}))
        elif step.goal.source_job and step.goal.source is None:
            source = await earlier_job(step.goal.source_job, owner, store)
            plan = plan.replace(step.model_copy(update={"goal": step.goal.model_copy(update={"source": source})}))
    return plan


async def earlier_job(reference: str, owner: str, store: AsyncStore) -> Source:
    """Find the orbitals that a request names: of a job by its id, of the owner's last one that left any, or of a file.

    Raises
    ------
    InputError
        If there is none.
    """
    field = "request"
    if reference.startswith(FILE):
        found = await asyncio.to_thread(find_file, store.settings.workspace, reference.removeprefix(FILE), field)
        return Source(job_id="", label=PurePosixPath(found.path).stem, file=found)
    if reference != "last":
        record = await store.run(listing.job(reference))
        return _earlier(record, of_job(field, reference, record, ""))
    cursor = ""
    for _ in range(_LOOKED_THROUGH):
        page = await store.run(listing.jobs(state=JobState.SUCCEEDED, owner=owner, cursor=cursor, count=100))
        for record in page.rows:
            if any(artifact.role in SOURCE_ROLES for artifact in record.artifacts):
                return _earlier(record, of_job(field, record.id, record, ""))
        cursor = page.cursor
        if not cursor:
            break
    problem = f"asks for the last job, but {owner} has none that succeeded and left orbitals"
    remedy = "Name a molecule, for example 'Plot the LUMO of tetramethylammonium', or a job by its id."
    raise InputError(field, "the last job", problem, remedy)


async def earlier_molecule(reference: str, owner: str, store: AsyncStore, plan: Plan) -> tuple[str, str]:
    """Find the molecule of a job that a request names: its SMILES, and what people call it.

    Raises
    ------
    InputError
        If there is no such job, or it was computed from coordinates alone.
    """
    # "The last job" of an analysis in the same plan is the same one.
    for step in plan.steps:
        if step.goal.source is not None and step.goal.source_job == reference and step.goal.source.smiles:
            return step.goal.source.smiles, step.goal.source.label
    remedy = "Give the molecule's SMILES in quotes instead."
    if reference.startswith(FILE):
        raise InputError("request", "the file", "holds orbitals, and says nothing about bonds", remedy)
    if reference != "last":
        record = await store.run(listing.job(reference))
        if record is None:
            raise InputError("request", reference, "is not a job", "See `simrelay job list` for their ids.")
        if not (found := _molecule(record)):
            raise InputError("request", reference, "is a job whose molecule has no SMILES", remedy)
        return found
    page = await store.run(listing.jobs(state=JobState.SUCCEEDED, owner=owner, count=100))
    newest = next((found for record in page.rows if (found := _molecule(record))), None)
    if newest is None:
        problem = f"asks for the last job, but {owner} has none that succeeded and whose molecule has a SMILES"
        raise InputError("request", "the last job", problem, remedy)
    return newest


def _molecule(record: JobRecord) -> tuple[str, str] | None:
    molecule = record.spec.get("molecule") or {}
    smiles = str(molecule.get("smiles") or "")
    return (smiles, record.label or str(molecule.get("name") or "") or smiles) if smiles else None


def _earlier(record: JobRecord | None, file: InputFile) -> Source:
    if record is None:  # of_job has refused it
        raise TypeError("a job that is not there has no orbitals")
    molecule = record.spec.get("molecule") or {}
    level = record.result.level if isinstance(record.result, QuantumResult) else ""
    return Source(
        job_id=record.id,
        label=record.label or molecule.get("name") or record.id,
        level=level,
        smiles=str(molecule.get("smiles") or ""),
        file=file,
    )
