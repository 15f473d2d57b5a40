"""The bookkeeping of steps: manifests frozen and read back, batches opened and closed, work applied to the state."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from orchestrator.agents.base import Work
from orchestrator.asking import Part
from orchestrator.report import plan_markdown
from orchestrator.state import Dispatched, Manifest, Plan, RunState, Species, Step, StepStatus, checked, molecules_of
from tasks.batches import NewJob
from tasks.errors import Conflict
from tasks.results import Artifact, Checkpoint
from tasks.specs import canonical_json, dump_spec, parse_spec, spec_hash
from tasks.workspace import hash_file, write_artifact

#: the most rounds of jobs of a step
MAX_ROUNDS = 20


class Restart(Part):
    """Where a job begins that is made in place of another one."""

    retry_of: str = ""
    checkpoint: Checkpoint | None = None
    checkpoint_before: Checkpoint | None = None


def _batches(plan: Plan) -> list[tuple[Step, Dispatched]]:
    return [(step, step.batches[-1]) for step in plan.steps if step.status is StepStatus.RUNNING and step.batches]


def unsent(plan: Plan) -> list[tuple[Step, Dispatched]]:
    """Give the frozen batches that are not in the store yet."""
    return [(step, batch) for step, batch in _batches(plan) if not batch.sent]


def open_batches(plan: Plan) -> list[tuple[Step, Dispatched]]:
    """Give the batches that are waited for."""
    return [(step, batch) for step, batch in _batches(plan) if batch.sent and not batch.complete]


def uninterpreted(plan: Plan) -> list[tuple[Step, Dispatched]]:
    """Give the complete batches whose results no agent has looked at, and which recovery is not at work on."""
    return [(s, b) for s, b in _batches(plan) if b.complete and not b.interpreted and b.trouble != "open"]


def refused(plan: Plan) -> list[Step]:
    """Give the steps whose agent could not use what it was given, and that recovery is to look at."""
    return [step for step in plan.steps if step.status is StepStatus.FAILED and step.trouble == "open"]


def troubled(plan: Plan) -> list[tuple[Step, Dispatched]]:
    """Give the complete batches with failed jobs, or made in place of such, that recovery is to look at."""
    return [(step, batch) for step, batch in _batches(plan) if batch.complete and batch.trouble == "open"]


def update_batch(plan: Plan, number: int, batch: Dispatched) -> Plan:
    """Give the plan with a step's newest batch replaced."""
    step = plan.step(number)
    return plan.replace(step.model_copy(update={"batches": (*step.batches[:-1], batch)}))


def freeze(
    step: Step,
    work: Work,
    run: str,
    folder: Path,
    workspace: Path,
    *,
    repairs: str = "",
    prepares: bool = False,
    restarts: Sequence[Restart] = (),
) -> Dispatched:
    """Write the manifest of a round: exact specs under ids that follow from run, step and round.

    Parameters
    ----------
    repairs
        The batch whose failed jobs these are made in place of; empty: a round of the step itself.
    prepares
        Whether they only make structures for jobs that are.
    restarts
        Of a repair, one for each spec: the job that it is made in place of, and where it begins.
    """
    number = len(step.batches) + 1
    batch = f"{run}-s{step.number}-r{number}"
    rows: list[dict[str, Any]] = [{"id": f"{batch}-{i}", "spec": dump_spec(s)} for i, s in enumerate(work.specs)]
    for row, restart in zip(rows, restarts, strict=False):
        row["restart"] = restart.model_dump(mode="json", exclude_none=True)
    content = canonical_json(rows)
    path = folder / "manifests" / f"step-{step.number}-round-{number}.json"
    artifact = write_artifact(path, content, workspace, "manifest")
    return Dispatched(
        batch_id=batch,
        round=number,
        manifest=Manifest(artifact=artifact, hash=spec_hash(rows), count=len(rows)),
        core_seconds=work.core_seconds,
        repairs=repairs,
        prepares=prepares,
    )


def read_manifest(manifest: Manifest, workspace: Path) -> list[NewJob]:
    """Read a frozen manifest.

    Raises
    ------
    Conflict
        If the file is gone, or not the one that was frozen.
    """
    path = workspace / manifest.artifact.path
    try:
        found = hash_file(path)
    except FileNotFoundError:
        raise Conflict(f"{manifest.artifact.path} is gone since it was frozen; nothing of it is dispatched") from None
    if found != manifest.artifact.sha256:
        raise Conflict(f"{manifest.artifact.path} was changed after it was frozen; nothing of it is dispatched")
    return [_job(row) for row in json.loads(path.read_text())]


def _job(row: dict[str, Any]) -> NewJob:
    restart = Restart.model_validate(row.get("restart", {}))
    return NewJob(id=row["id"], spec=parse_spec(row["spec"]), **dict(restart))


def apply(
    state: RunState, works: Mapping[int, Work], folder: Path, workspace: Path, *, recovers: bool = False
) -> dict[str, Any]:
    """Give the update that the works of some steps make: rounds frozen, findings kept, statuses set.

    ``recovers``: recovery looks at a step that its agent refused before what depends on it is skipped.
    """
    plan, findings, species, history = state.plan, list(state.findings), state.species, []
    for number, work in works.items():
        step = plan.step(number)
        if work.species is not None:
            species = with_molecules(species, step, work.species)
        if work.finding is not None:
            findings.append(work.finding)
        if work.specs and len(step.batches) >= MAX_ROUNDS:
            error = f"wants another round of jobs after {MAX_ROUNDS}; a step has no more, see what its last jobs gave"
            step = step.model_copy(update={"status": StepStatus.FAILED, "error": error})
            history.append(f"step {number} failed: {error}")
        elif work.specs:
            batch = freeze(step, work, state.run_id, folder, workspace)
            step = step.model_copy(update={"status": StepStatus.RUNNING, "batches": (*step.batches, batch)})
            history.append(f"step {number}: {len(work.specs)} jobs frozen as {batch.batch_id}")
        elif work.error:
            # Of failed jobs it has made what it could by now.
            looked = step.status is StepStatus.RUNNING and step.batches[-1].trouble == "settled"
            trouble = "open" if recovers and not looked else "settled"
            step = step.model_copy(update={"status": StepStatus.FAILED, "error": work.error, "trouble": trouble})
            history.append(f"step {number} failed: {work.error}")
        else:
            step = step.model_copy(update={"status": StepStatus.DONE})
            history.append(f"step {number} done")
        plan = plan.replace(step)
    before, plan = plan, plan.with_hopeless_skipped()
    for old, new in zip(before.steps, plan.steps, strict=True):
        if old.status is not new.status:
            history.append(f"step {new.number} skipped: it needs a step that failed")
    return checked(plan=plan, findings=tuple(findings), species=species, history=history)


def with_molecules(species: tuple[Species, ...], step: Step, known: tuple[Species, ...]) -> tuple[Species, ...]:
    """Give a run's molecules with those of a step as it knows them now: its own changed, or others that it found."""
    before = {(one.smiles, one.found_by) for one in molecules_of(step, species)}
    changed = {(one.smiles, one.found_by): one for one in known}
    if changed.keys() <= before:
        return tuple(_now(one, changed.get((one.smiles, one.found_by), one)) for one in species)
    kept = tuple(one for one in species if one.found_by != step.number)
    return (*kept, *(one.model_copy(update={"found_by": step.number}) for one in known))


def _now(before: Species, known: Species) -> Species:
    """Give a molecule as a step knows it; what another step made of it meanwhile, or failed at, stays."""
    if before.error and not known.error:
        known = known.model_copy(update={"error": before.error})
    if known.geometry is None and before.geometry is not None:
        return known.model_copy(update={"geometry": before.geometry, "geometry_level": before.geometry_level})
    return known


def write_plan_file(state: RunState, folder: Path, workspace: Path) -> Artifact:
    """Rewrite the run's ``plan.md``."""
    return write_artifact(folder / "plan.md", plan_markdown(state), workspace, "plan")
