"""The design agent: a swarm over cations, and its best candidates handed to the steps that verify them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from orchestrator.agents.base import Agent, Context, JobResult, Work
from orchestrator.agents.qm_table import number
from orchestrator.chemistry.molecules import identify
from orchestrator.chemistry.swarms import complete_swarm
from orchestrator.phrases import counted
from orchestrator.state import Column, Finding, Picture, Quantity, Species, Step, Table
from tasks.errors import InputError
from tasks.results import Artifact, Ranked, SwarmResult
from tasks.specs import SwarmSpec
from tasks.swarms import PROPERTIES
from tasks.workspace import intact, write_artifact

_PICTURES = {
    "progress_figure": ("swarm-progress.png", "Scores of the swarm by step; numbers count different molecules."),
    "structures_figure": (
        "swarm-structures.png",
        "The best candidates with their scores, which rank and predict nothing.",
    ),
}
_CAVEATS = (
    "Properties are those of the isolated cation in implicit water (GFN2-xTB, ALPB), not of one bound to the backbone,"
    " which enters by the ion exchange capacity alone.",
    "LUMO and gap are proxies for the resistance to hydroxide; neither degradation nor conductivity was computed.",
)


class DesignAgent(Agent):
    """Searches families of cations for a backbone by particle swarm."""

    name: ClassVar[str] = "hem_agent"
    description: ClassVar[str] = "Design of cations for membranes: particle swarm over fragments, ranked by GFN2-xTB"
    abilities: ClassVar[tuple[str, ...]] = (
        "search tetraalkylammonium, pyrrolidinium, piperidinium, morpholinium, imidazolium and spiro cations",
        "rank by LUMO, gap, hydroxide SN2 barrier and descriptors, with desirability curves and weights",
    )
    tools: ClassVar[tuple[str, ...]] = ("particle swarm", "xtb", "RDKit")

    def plan_jobs(self, step: Step, context: Context) -> Work:
        """Give the one exact spec of the swarm."""
        if step.goal.swarm is None:
            return Work(error="the step names no swarm")
        return Work(specs=(complete_swarm(step.goal.swarm),))

    def interpret(self, step: Step, context: Context, results: Sequence[JobResult]) -> Work:
        """Rank what the swarm found, and make its best candidates the molecules of the run."""
        job = results[0]
        if job.state != "SUCCEEDED" or not isinstance(job.result, SwarmResult) or not isinstance(job.spec, SwarmSpec):
            reason = f"{job.failure.message} [{job.failure.error_class}]" if job.failure else f"ended {job.state}"
            remedy = f" {job.failure.remedy}" if job.failure and job.failure.remedy else ""
            return Work(error=f"the swarm gave no candidates: {reason}{remedy}")
        result, spec = job.result, job.spec
        species = tuple(_species(rank, one) for rank, one in enumerate(result.ranking[: step.goal.candidates], 1))
        pictures = _pictures(job.artifacts, context)
        finding = Finding(
            step=step.number,
            agent=self.name,
            stage="ranked",
            summary=_summary(result, spec),
            table=_table(result, spec),
            artifacts=(*job.artifacts, *(picture.file for picture in pictures)),
            notes=_notes(result, spec),
            values=tuple(
                Quantity(species=one.name, name="score", value=r.score, unit="")
                for one, r in zip(species, result.ranking, strict=False)
            ),
            pictures=pictures,
            level=", ".join(filter(None, (result.level, f"{result.engine} ({result.engine_version})"))),
            compute_seconds=job.compute_seconds,
        )
        return Work(finding=finding, species=species)


def _species(rank: int, one: Ranked) -> Species:
    identity = identify(one.smiles)
    return Species(
        name=f"candidate {rank}",
        smiles=identity.smiles,
        formula=identity.formula,
        mass_dalton=round(identity.mass_dalton, 3),
        charge=identity.charge,
        multiplicity=identity.multiplicity,
        atoms=identity.atoms,
    )


def _pictures(artifacts: Sequence[Artifact], context: Context) -> tuple[Picture, ...]:
    """Copy the figures of the job into the run's folder, where its report can show them."""
    found = []
    for artifact in artifacts:
        if artifact.role in _PICTURES:
            name, caption = _PICTURES[artifact.role]
            if not intact(artifact, context.workspace):
                raise InputError("figure", artifact.path, "was changed or removed", "Run the design again.")
            content = (context.workspace / artifact.path).read_bytes()
            file = write_artifact(context.folder / "figures" / name, content, context.workspace, "figure")
            found.append(Picture(file=file, caption=caption))
    return tuple(found)


def _summary(result: SwarmResult, spec: SwarmSpec) -> str:
    best = result.ranking[0]
    values = ", ".join(
        f"{PROPERTIES[o.property].title} {number(best.values[o.property], 2)} {PROPERTIES[o.property].unit}".rstrip()
        for o in spec.objectives
    )
    families = " and ".join(name.replace("_", " ") for name in spec.families)
    text = f"Of {counted(result.evaluations, f'different {families} cation')} on {spec.backbone} the swarm ranks"
    return f"{text} {best.smiles} highest (score {best.score:.3f}: {values})."


def _table(result: SwarmResult, spec: SwarmSpec) -> Table:
    shown = [PROPERTIES[o.property] for o in spec.objectives]
    columns = (
        Column(title="Rank"),
        Column(title="SMILES"),
        Column(title="Score"),
        *(Column(title=p.title, unit=p.unit) for p in shown),
    )
    rows = tuple(
        (str(rank), one.smiles, f"{one.score:.3f}", *(number(one.values[o.property], 2) for o in spec.objectives))
        for rank, one in enumerate(result.ranking, 1)
    )
    return Table(columns=columns, rows=rows)


def _notes(result: SwarmResult, spec: SwarmSpec) -> tuple[str, ...]:
    objectives = "; ".join(
        f"{PROPERTIES[o.property].title} (weight {o.weight:g}: "
        + ", ".join(f"{x:g} → {y:g}" for x, y in o.curve)
        + (f", {PROPERTIES[o.property].unit})" if PROPERTIES[o.property].unit else ")")
        for o in spec.objectives
    )
    notes = [
        result.scores,
        f"Score: weighted mean of desirabilities, linear between the points: {objectives}.",
        f"{result.particles} particles, {result.steps} steps, seed {result.seed}; {result.evaluations} different"
        f" molecules, each computed once, {result.failed} without a result (score 0).",
        *_CAVEATS,
    ]
    if result.recovered_steps:
        notes.append(
            f"{counted(result.recovered_steps, 'step')} timed out and succeeded when repeated (recovery trace)."
        )
    return tuple(notes)
