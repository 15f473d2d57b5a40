"""The quantum chemistry agent: exact specs for a step's molecules, and tables out of their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from orchestrator.agents.base import Agent, Context, JobResult, Work
from orchestrator.agents.compare import compare
from orchestrator.agents.qm_table import charge_note, frequency_notes, quantities, stated, table
from orchestrator.chemistry.complete import complete_spec
from orchestrator.chemistry.geometry import broken_bonds
from orchestrator.handover import structure_for
from orchestrator.phrases import counted, listed, slugs
from orchestrator.planning.specs import key_of, spec_for
from orchestrator.state import Finding, Produced, Species, Step
from tasks.errors import InputError
from tasks.results import QuantumResult
from tasks.specs import QuantumSpec
from tasks.workspace import intact, write_artifact


class QuantumAgent(Agent):
    """Optimises geometries; computes energies, orbitals, dipole moments, charges, frequencies, thermochemistry."""

    name: ClassVar[str] = "qm_agent"
    description: ClassVar[str] = (
        "Quantum chemistry: optimisation, energy, HOMO, LUMO, gap, dipole moment, charges, frequencies, thermochemistry"
    )
    abilities: ClassVar[tuple[str, ...]] = (
        "single points, optimisations and frequencies by DFT, Hartree-Fock and GFN-xTB, in gas phase or a solvent",
        "HOMO, LUMO and gap, energies, dipole moments, Mulliken charges",
        "zero-point energies, enthalpies, entropies and Gibbs energies",
        "comparisons of molecules or of levels of theory, all computed side by side",
    )
    tools: ClassVar[tuple[str, ...]] = ("ORCA", "PySCF", "xtb")

    def plan_jobs(self, step: Step, context: Context) -> Work:
        """Give one exact spec a molecule, at the geometry that it has by now."""
        specs: list[QuantumSpec] = []
        species: list[Species] = []
        for one in context.species:
            species.append(one)
            if one.error:
                continue
            try:
                xyz = read_structure(structure_for(one, step, context.findings), context.workspace)
                spec = spec_for(one, step.goal, xyz)
                # Its size was checked when the request was read.
                specs.append(complete_spec(spec, context.offered, max_atoms=max(one.atoms, 1)))
            except InputError as error:
                species[-1] = one.model_copy(update={"error": f"step {step.number}: {error}"})
        if not specs:
            left_out = "; ".join(f"{one.name}: {one.error}" for one in species if one.error)
            why = f"no molecule is left to compute ({left_out or 'none was named'})"
            return Work(error=why, species=tuple(species))
        return Work(specs=tuple(specs), species=tuple(species))

    def interpret(self, step: Step, context: Context, results: Sequence[JobResult]) -> Work:
        """Turn results into a table; what failed is said and left out of later steps, the rest goes on."""
        jobs = {(m := r.spec.molecule).smiles or m.name: r for r in results if isinstance(r.spec, QuantumSpec)}
        species: list[Species] = []
        done: list[tuple[Species, QuantumResult]] = []
        structures: dict[str, Species] = {}
        notes: list[str] = []
        for one, slug in zip(context.species, slugs(context.species), strict=True):
            job = jobs.get(key_of(one))
            if one.error or job is None:
                # What earlier steps have left out they have said themselves.
                mine = one.error.removeprefix(f"step {step.number}: ")
                notes += [f"{one.name} failed: {mine}"] if mine != one.error else []
                species.append(
                    one if one.error else one.model_copy(update={"error": f"step {step.number}: was not computed"})
                )
            elif job.state != "SUCCEEDED" or not isinstance(job.result, QuantumResult):
                reason = job.reason
                notes.append(f"{one.name} failed: {reason}")
                species.append(one.model_copy(update={"error": f"step {step.number}: {reason}"}))
            else:
                if job.result.xyz and isinstance(job.spec, QuantumSpec) and job.spec.task.startswith("optimisation"):
                    one = structures[key_of(one)] = _optimised(one, slug, step, job.result, context)
                    notes += _integrity(one, job.result)
                done.append((one, job.result))
                species.append(one)
        if not done:
            return Work(error="; ".join(notes) or "no job gave a result", species=tuple(species))
        finding = self._finding(step, done, results, structures, notes)
        return Work(finding=finding, species=tuple(species))

    def _finding(
        self,
        step: Step,
        done: Sequence[tuple[Species, QuantumResult]],
        results: Sequence[JobResult],
        structures: Mapping[str, Species],
        notes: Sequence[str],
    ) -> Finding:
        failed = [note for note in notes if " failed: " in note]
        wanted = step.goal.properties
        values = quantities(done)
        names = listed([one.name for one, _ in done])
        doing = "Optimised" if step.goal.task.startswith("optimisation") else "Computed"
        said = stated(values, wanted) if len(done) == 1 else ""
        sentences = [
            f"{doing} {names if len(done) <= 4 else counted(len(done), 'molecule')} ({step.goal.protocol})"
            f"{said and f': {said}'}."
        ]
        levels = {
            (r.spec.method, r.spec.basis) for r in results if r.state == "SUCCEEDED" and isinstance(r.spec, QuantumSpec)
        }
        if step.goal.compare and len(levels) > 1:
            sentences.append("They were not all computed at one level, and are not compared.")
        elif step.goal.compare:
            sentences += compare(values, wanted)
        sentences += [f"{note}." if not note.endswith(".") else note for note in failed]
        more = list(notes)
        if "charges" in wanted:
            more += [note for one, result in done if (note := charge_note(one, result))]
        more += [note for one, result in done for note in frequency_notes(one, result)]
        return Finding(
            step=step.number,
            agent=self.name,
            stage="computed",
            summary=" ".join(sentences),
            table=table(done, step.goal),
            artifacts=(
                *(one.geometry for one in structures.values() if one.geometry),
                *(a for r in results for a in r.artifacts),
            ),
            notes=tuple(more),
            values=values,
            produced=tuple(p for r in results if (p := _produced(r, structures, [one for one, _ in done]))),
            level=_level(step, done),
            compute_seconds=round(sum(r.compute_seconds for r in results), 3),
        )


def read_structure(species: Species, workspace: Path) -> str | None:
    """Read a molecule's structure from the workspace; None: it has none yet.

    Raises
    ------
    InputError
        If the file is gone or is not what was recorded.
    """
    if species.geometry is None:
        return None
    path = workspace / species.geometry.path
    remedy = "Start the run again: its files in the workspace are no longer complete."
    if not path.is_file():
        raise InputError("geometry", species.geometry.path, "is no longer in the workspace", remedy)
    if not intact(species.geometry, workspace):
        raise InputError("geometry", species.geometry.path, "was changed since it was written", remedy)
    return path.read_text(encoding="utf-8")


def _produced(job: JobResult, structures: Mapping[str, Species], all_of_them: Sequence[Species]) -> Produced | None:
    """Say what a job left of its molecule, for later steps; None: it did not succeed."""
    if job.state != "SUCCEEDED" or not isinstance(job.spec, QuantumSpec):
        return None
    level = job.result.level if isinstance(job.result, QuantumResult) else ""
    key = job.spec.molecule.smiles or job.spec.molecule.name
    smiles = next((one.smiles for one in all_of_them if key_of(one) == key), key)
    made = {"geometry": one.geometry, "geometry_level": one.geometry_level} if (one := structures.get(key)) else {}
    return Produced.model_validate(
        {"smiles": smiles, "job_id": job.job_id, "level": level, "artifacts": job.artifacts, **made}
    )


def _optimised(species: Species, slug: str, step: Step, result: QuantumResult, context: Context) -> Species:
    """Put a molecule on its optimised geometry, as a file of the run."""
    path = context.folder / "structures" / f"{slug}-step{step.number}.xyz"
    artifact = write_artifact(path, (result.xyz or "").encode(), context.workspace, "geometry")
    return species.model_copy(update={"geometry": artifact, "geometry_level": result.level or step.goal.method})


def _integrity(species: Species, result: QuantumResult) -> list[str]:
    """Say so if an optimisation has pulled a molecule apart."""
    broken = broken_bonds(species.smiles, result.xyz or "")
    if not broken:
        return []
    return [f"{species.name}: the optimised structure is no longer this molecule: {listed(broken)}. Do not compare it."]


def _level(step: Step, done: Sequence[tuple[Species, QuantumResult]]) -> str:
    used = {(r.level or step.goal.protocol, f"{r.engine} {r.engine_version}".strip()) for _, r in done}
    return "; ".join(", ".join(filter(None, pair)) for pair in sorted(used))
