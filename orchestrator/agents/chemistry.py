"""The chemistry agent: what the molecules are, and their first 3D structures. It needs no job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from orchestrator.agents.base import Agent, Context, JobResult, Work
from orchestrator.agents.chemistry_operations import balances, perform, verdicts
from orchestrator.agents.chemistry_table import Row, table_of
from orchestrator.chemistry.geometry import embed
from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS, Identity, identify
from orchestrator.phrases import counted, signed, slugs
from orchestrator.state import Column, Finding, Produced, Quantity, Species, Step, Table
from tasks.errors import InputError
from tasks.results import Artifact
from tasks.workspace import write_artifact

#: results that a finding says in words; the others stand in its table
_SENTENCES = 6


class ChemistryAgent(Agent):
    """Checks and canonicalises molecules, gives formula, mass and charge, and makes 3D structures (RDKit)."""

    name: ClassVar[str] = "chemistry_agent"
    description: ClassVar[str] = "Identity of molecules: SMILES, formula, mass, charge, multiplicity, 3D structure"
    abilities: ClassVar[tuple[str, ...]] = (
        "check SMILES, with the reason and place of what is wrong",
        "give formula, average and monoisotopic mass, charge, atoms by element and functional groups",
        "check reactions for balance of atoms and charge",
        "write SELFIES, InChI and InChIKey",
        "look up names, IUPAC names and CAS numbers in PubChem",
        "compare molecules by fingerprints",
        "give descriptors (logP, TPSA, QED, SA score) and alerts (PAINS, Brenk)",
        "draw molecules, and make 3D structures",
    )
    tools: ClassVar[tuple[str, ...]] = ("RDKit", "selfies", "PubChem")

    def plan_jobs(self, step: Step, context: Context) -> Work:
        """Do the whole step at once; doing it again writes the same files again."""
        if step.goal.operations in (("validity",), ("balance",)) and step.goal.query and not step.goal.source_job:
            return self._check(step, context)
        wants_structure = "structure" in step.goal.properties
        species: list[Species] = []
        done: list[tuple[Species, Identity]] = []
        artifacts: list[Artifact] = []
        notes: list[str] = []
        asked = _of_job(step, context) if step.goal.source_job else context.species
        for one, slug in zip(asked, slugs(asked), strict=True):
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
            if one.source:
                notes.append(f"{one.name} is not in our table of names: its structure is from {one.source}.")
            species.append(known)
            done.append((known, identity))
        if not done:
            return Work(error="; ".join(notes) or "no molecules to identify", species=tuple(species))
        more = perform(step.goal.operations, [one for one, _ in done], context, step.number)
        finding = Finding(
            step=step.number,
            agent=self.name,
            summary=" ".join((_summary(done, wants_structure), *(f"{text}." for text in more.sentences[:_SENTENCES]))),
            table=_with_identity(more.rows, done) if more.rows else _table(done),
            artifacts=tuple(artifacts),
            produced=tuple(
                Produced(smiles=one.smiles, geometry=one.geometry, geometry_level=one.geometry_level)
                for one, _ in done
                if wants_structure
            ),
            notes=(*notes, *more.notes),
            pictures=tuple(more.pictures),
            stage="identified",
            values=tuple(
                Quantity(species=one.name, name="mass", value=identity.mass_dalton, unit="g/mol")
                for one, identity in done
            )
            + tuple(more.values),
        )
        # The molecule of an earlier job is none of this run's, whose later steps would compute it.
        return Work(finding=finding, species=None if step.goal.source_job else tuple(species))

    def _check(self, step: Step, context: Context) -> Work:
        """Say of each SMILES or reaction of the query whether it is right, and if not, why and where."""
        most = context.settings.max_atoms if context.settings else DEFAULT_MAX_ATOMS
        check = balances if step.goal.operations == ("balance",) else verdicts
        found = check(step.goal.query.split(), most)
        summary = " ".join(f"{text}." for text in found.sentences[:_SENTENCES])
        return Work(
            finding=Finding(
                step=step.number, agent=self.name, summary=summary, table=table_of(found.rows), stage="identified"
            )
        )

    def interpret(self, step: Step, context: Context, results: Sequence[JobResult]) -> Work:
        """Never needed, since no jobs are submitted; gives the same findings."""
        return self.plan_jobs(step, context)


def _of_job(step: Step, context: Context) -> tuple[Species, ...]:
    """Give the molecule of the earlier job that a step is about."""
    most = context.settings.max_atoms if context.settings else DEFAULT_MAX_ATOMS
    return tuple(
        Species(name=step.goal.query or smiles, smiles=smiles, atoms=identify(smiles, max_atoms=most).atoms)
        for smiles in step.goal.molecules
    )


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


def _with_identity(rows: Sequence[Row], done: Sequence[tuple[Species, Identity]]) -> Table:
    """Give the rows of the operations after those that say what each molecule is, one row a value."""
    table = _table(done)
    known: list[Row] = [
        (row[0], column.title, cell, column.unit, "RDKit")
        for row in table.rows
        for column, cell in zip(table.columns[1:], row[1:], strict=True)
    ]
    return table_of([*known, *rows])


def _summary(done: Sequence[tuple[Species, Identity]], structures: bool) -> str:
    if len(done) == 1:
        one, identity = done[0]
        text = f"{one.name} is {one.formula}, {identity.mass_dalton:.3f} g/mol, charge {signed(one.charge)}"
        text += f", {counted(one.atoms, 'atom')}{f' ({one.source})' if one.source else ''}"
    else:
        text = f"{len(done)} molecules identified"
    made = f"; {counted(len(done), '3D structure')} made" if structures else ""
    return f"{text}{made}."
