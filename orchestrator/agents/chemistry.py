"""The chemistry agent: what the molecules are, and their first 3D structures. It needs no job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from orchestrator.agents.base import Agent, Context, JobResult, Work
from orchestrator.agents.text import counted, signed, slugs
from orchestrator.chemistry.geometry import embed
from orchestrator.chemistry.molecules import Identity, identify
from orchestrator.state import Column, Finding, Quantity, Species, Step, Table
from tasks.errors import InputError
from tasks.results import Artifact
from tasks.workspace import write_artifact


class ChemistryAgent(Agent):
    """Checks and canonicalises molecules, gives formula, mass and charge, and makes 3D structures (RDKit)."""

    name: ClassVar[str] = "chemistry_agent"
    description: ClassVar[str] = "Identity of molecules: SMILES, formula, mass, charge, multiplicity, 3D structure"
    tools: ClassVar[tuple[str, ...]] = ("RDKit",)

    def plan_jobs(self, step: Step, context: Context) -> Work:
        """Do the whole step at once; doing it again writes the same files again."""
        wants_structure = "structure" in step.goal.properties
        species: list[Species] = []
        done: list[tuple[Species, Identity]] = []
        artifacts: list[Artifact] = []
        notes: list[str] = []
        for one, slug in zip(context.species, slugs(context.species), strict=True):
            size = max(one.atoms, 1)
            try:
                identity = identify(one.smiles, max_atoms=size)
                geometry = embed(one.smiles, max_atoms=size) if wants_structure else None
            except InputError as error:
                notes.append(f"{one.name} failed: {error}")
                species.append(one.model_copy(update={"error": f"step {step.number}: {error}"}))
                continue
            known = _identified(one, identity)
            if geometry:
                path = context.folder / "structures" / f"{slug}.xyz"
                artifact = write_artifact(path, geometry.xyz.encode(), context.workspace, "geometry")
                artifacts.append(artifact)
                known = known.model_copy(update={"geometry": artifact, "geometry_level": geometry.method})
                if geometry.force_field != "MMFF94s" and identity.atoms > 1:
                    notes.append(f"{one.name}: MMFF94s has no parameters; 3D structure by {geometry.method}.")
            species.append(known)
            done.append((known, identity))
        if not done:
            return Work(error="; ".join(notes) or "no molecules to identify", species=tuple(species))
        finding = Finding(
            step=step.number,
            agent=self.name,
            summary=_summary(done, wants_structure),
            table=_table(done),
            artifacts=tuple(artifacts),
            notes=tuple(notes),
            values=tuple(
                Quantity(species=one.name, name="mass", value=identity.mass_dalton, unit="g/mol")
                for one, identity in done
            ),
        )
        return Work(finding=finding, species=tuple(species))

    def interpret(self, step: Step, context: Context, results: Sequence[JobResult]) -> Work:
        """Never needed, since no jobs are submitted; gives the same findings."""
        return self.plan_jobs(step, context)


def _identified(species: Species, identity: Identity) -> Species:
    return species.model_copy(
        update={
            "smiles": identity.smiles,
            "formula": identity.formula,
            "mass_dalton": round(identity.mass_dalton, 3),
            "charge": identity.charge,
            "atoms": identity.atoms,
        }
    )


def _table(done: Sequence[tuple[Species, Identity]]) -> Table:
    columns = ("Molecule", ""), ("SMILES", ""), ("Formula", ""), ("Molar mass", "g/mol"), ("Charge", "e")
    more = ("Multiplicity", ""), ("Atoms", ""), ("Quaternary ammonium", "")
    return Table(
        columns=tuple(Column(title=title, unit=unit) for title, unit in (*columns, *more)),
        rows=tuple(
            (
                one.name,
                one.smiles,
                one.formula,
                f"{identity.mass_dalton:.3f}",
                signed(one.charge),
                str(one.multiplicity),
                str(one.atoms),
                "yes" if identity.quaternary_ammonium else "no",
            )
            for one, identity in done
        ),
    )


def _summary(done: Sequence[tuple[Species, Identity]], structures: bool) -> str:
    if len(done) == 1:
        one, identity = done[0]
        text = f"{one.name} is {one.formula}, {identity.mass_dalton:.3f} g/mol, charge {signed(one.charge)}"
        text += f", {counted(one.atoms, 'atom')}"
    else:
        text = f"{len(done)} molecules identified"
    made = f"; {counted(len(done), '3D structure')} made" if structures else ""
    return f"{text}{made}."
