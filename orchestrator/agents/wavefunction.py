"""The wavefunction agent: analyses the orbitals that quantum jobs left, and shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from orchestrator.agents.base import Agent, Context, JobResult, Work
from orchestrator.agents.qm_table import number
from orchestrator.handover import needed_by
from orchestrator.inputs import complete_analysis, input_file
from orchestrator.panels import orbital_panel
from orchestrator.phrases import listed, slugs
from orchestrator.state import Column, Finding, Picture, Source, Species, Step, Table
from tasks.elements import parse_xyz
from tasks.errors import InputError
from tasks.results import Artifact, Orbital, WavefunctionResult
from tasks.specs import WavefunctionSpec
from tasks.wavefunctions import SOURCE, SOURCE_ROLES
from tasks.workspace import intact, write_artifact

#: rows of a table of charges; with more, hydrogens stand in the CSV file only
_MOST_ROWS = 40
#: atoms that are named for an orbital, and the least share that is worth a name
_NAMED_ATOMS, _LEAST_SHARE = 4, 0.05
_METHODS = {"mulliken": "Mulliken", "loewdin": "Löwdin", "hirshfeld": "Hirshfeld"}


@dataclass(frozen=True, kw_only=True)
class _Done:
    """One analysis that succeeded."""

    name: str
    slug: str
    level: str
    job: JobResult
    result: WavefunctionResult


class WavefunctionAgent(Agent):
    """Orbital energies and composition, charges of atoms, cubes, and pictures of orbitals."""

    name: ClassVar[str] = "multiwfn_agent"
    description: ClassVar[str] = "Wavefunction analysis: charges, composition, cubes and pictures of orbitals"
    abilities: ClassVar[tuple[str, ...]] = (
        "energies and composition of orbitals, and their cubes and pictures",
        "Mulliken, Löwdin and Hirshfeld charges",
        "electron density and electrostatic potential",
        "of this run's jobs, of an earlier job, or of a molden file",
    )
    tools: ClassVar[tuple[str, ...]] = ("PySCF", "iodata", "Multiwfn")

    def plan_jobs(self, step: Step, context: Context) -> Work:
        """Give one exact analysis for each set of orbitals, of this run's own jobs or of an earlier one."""
        species: list[Species] = []
        specs: list[WavefunctionSpec] = []
        if source := step.goal.source:
            return Work(specs=(self._spec(step, source, context),))
        for one in context.species:
            species.append(one)
            if one.error:
                continue
            try:
                specs.append(self._spec(step, _source_of(one, step, context), context))
            except InputError as error:
                species[-1] = one.model_copy(update={"error": f"step {step.number}: {error}"})
        if not specs:
            reasons = "; ".join(f"{one.name}: {one.error}" for one in species if one.error)
            return Work(error=f"there are no orbitals to analyse ({reasons or 'no molecule was named'})")
        return Work(specs=tuple(specs), species=tuple(species))

    def _spec(self, step: Step, source: Source, context: Context) -> WavefunctionSpec:
        goal = step.goal
        values: dict[str, object] = {
            "analyses": goal.analyses,
            "orbitals": goal.orbitals or ("HOMO", "LUMO"),
            "engine": goal.engine,
            "inputs": {SOURCE: source.file},
            "label": source.label[:120],
        }
        if goal.isovalue is not None:
            values["isovalue"] = goal.isovalue
        if goal.cores is not None or goal.memory_mb is not None:
            asked = {"cores": goal.cores, "memory_mb": goal.memory_mb}
            values["resources"] = {name: value for name, value in asked.items() if value is not None}
        return complete_analysis(WavefunctionSpec.model_validate(values), context.offered)

    def interpret(self, step: Step, context: Context, results: Sequence[JobResult]) -> Work:
        """Turn results into a table, sentences and figures; what failed is said, the rest goes on."""
        done: list[_Done] = []
        notes: list[str] = []
        species = {one.smiles: one for one in context.species}
        sources = {source.file.path: source for source in _sources(step, context)}
        known = [sources.get(job.spec.inputs[SOURCE].path) for job in results]
        names = [source.label if source else job.spec.label for source, job in zip(known, results, strict=True)]
        stems = slugs([Species(name=name, smiles=str(i)) for i, name in enumerate(names)])
        for job, source, name, slug in zip(results, known, names, stems, strict=True):
            if job.state != "SUCCEEDED" or not isinstance(job.result, WavefunctionResult):
                reason = job.reason
                notes.append(f"{name} failed: {reason}")
                if source and source.smiles in species:
                    one = species[source.smiles]
                    species[source.smiles] = one.model_copy(update={"error": f"step {step.number}: {reason}"})
                continue
            level = source.level if source else ""
            done.append(_Done(name=name, slug=slug, level=level, job=job, result=job.result))
        changed = tuple(species.values())
        if not done:
            return Work(error="; ".join(notes) or "no job gave a result", species=changed)
        pictures = [picture for one in done if (picture := _picture(one, step, context))]
        # Of an earlier job nothing else in the report says at what level its orbitals are.
        level = f", {source.level}" if (source := step.goal.source) and source.level else ""
        sentences = [f"Analysed the orbitals of {listed([one.name for one in done])}{level}."]
        sentences += [sentence for one in done for sentence in _sentences(one, step.goal.orbitals)]
        sentences += [f"{note.rstrip('.')}." for note in notes]
        notes += [f"{one.name}: {note}" for one in done for note in one.result.notes]
        charges, cut = _charges(done)
        if cut:
            notes.append("Charges of hydrogens stand in charges.csv of each job.")
        finding = Finding(
            step=step.number,
            agent=self.name,
            stage="analysed",
            summary=" ".join(sentences),
            table=charges or _orbitals(done, step.goal.orbitals),
            artifacts=tuple(artifact for job in results for artifact in job.artifacts),
            notes=tuple(dict.fromkeys(notes)),
            pictures=tuple(pictures),
            level="; ".join(sorted({f"{one.result.engine} {one.result.engine_version}".strip() for one in done})),
            compute_seconds=round(sum(job.compute_seconds for job in results), 3),
        )
        return Work(finding=finding, species=changed)


def _sources(step: Step, context: Context) -> list[Source]:
    if step.goal.source:
        return [step.goal.source]
    found = []
    for one in context.species:
        if not one.error:
            try:
                found.append(_source_of(one, step, context))
            except InputError:
                continue
    return found


def _source_of(species: Species, step: Step, context: Context) -> Source:
    """Find the orbitals that the newest of the steps before left of a molecule.

    Raises
    ------
    InputError
        If none did.
    """
    needed = needed_by(step, context.plan)
    for finding in reversed([one for one in context.findings if one.step in needed]):
        for produced in finding.produced:
            for role in SOURCE_ROLES:
                artifact = next((a for a in produced.artifacts if a.role == role), None)
                if produced.smiles == species.smiles and artifact:
                    return Source(
                        job_id=produced.job_id,
                        label=species.name,
                        level=produced.level,
                        smiles=species.smiles,
                        file=input_file(artifact),
                    )
    remedy = "Compute it by a method that keeps them, such as B3LYP with PySCF."
    raise InputError("orbitals", species.name, "was left by none of the steps before", remedy)


def _picture(one: _Done, step: Step, context: Context) -> Picture | None:
    """Put the pictures of one job side by side into the run's folder."""
    drawn = [artifact for artifact in one.job.artifacts if artifact.role.startswith("picture.")]
    whole = [artifact for artifact in drawn if intact(artifact, context.workspace)]
    if not whole:
        return None
    images = [((context.workspace / a.path).read_bytes(), _title(one.result, a)) for a in whole]
    spec = one.job.spec
    isovalue = spec.isovalue if isinstance(spec, WavefunctionSpec) else 0.0
    path = context.folder / "figures" / f"orbitals-{one.slug}-step{step.number}.png"
    artifact = write_artifact(path, orbital_panel(images), context.workspace, "figure")
    level = f", {one.level}" if one.level else ""
    caption = (
        f"{listed([a.role.removeprefix('picture.') for a in whole])} of {one.name}{level};"
        f" surfaces at ±{isovalue:g} e^(1/2) bohr^(-3/2), blue where the orbital is positive, orange where negative."
    )
    return Picture(file=artifact, caption=caption)


def _find(result: WavefunctionResult, name: str) -> Orbital | None:
    label, _, spin = name.partition(" ")
    spin = spin or ("alpha" if result.multiplicity > 1 else "")
    matching = (one for one in result.orbitals if label in (one.name, str(one.number)) and one.spin in (spin, ""))
    return next(matching, None)


def _title(result: WavefunctionResult, picture: Artifact) -> str:
    name = picture.role.removeprefix("picture.")
    orbital = _find(result, name)
    energy = orbital.energy_ev if orbital else {"HOMO": result.homo_ev, "LUMO": result.lumo_ev}.get(name)
    shown = f"orbital {name}" if name[0].isdigit() else name
    return shown if energy is None else f"{shown}   {number(energy, 2)} eV"


def _sentences(one: _Done, wanted: Sequence[str]) -> list[str]:
    sentences = []
    for name in wanted or ("HOMO", "LUMO"):
        orbital = _find(one.result, name)
        if orbital and orbital.atom_shares:
            at = "" if orbital.energy_ev is None else f" at {number(orbital.energy_ev, 3)} eV"
            sentences.append(f"The {name} of {one.name}{at} is on {_shares(one.result, orbital)}.")
    return sentences


def _shares(result: WavefunctionResult, orbital: Orbital) -> str:
    atoms = parse_xyz(result.xyz)
    shares = sorted(enumerate(orbital.atom_shares or ()), key=lambda pair: -pair[1])[:_NAMED_ATOMS]
    named = [f"{atoms[i].symbol}{i + 1} ({share:.0%})" for i, share in shares if share >= _LEAST_SHARE]
    return listed(named) if named else "many atoms, none with 5 %"


def _charges(done: Sequence[_Done]) -> tuple[Table | None, bool]:
    """Give the table of charges, if there are any, and whether hydrogens were left out of it."""
    kinds = [kind for kind in _METHODS if any(getattr(one.result, f"{kind}_charges") for one in done)]
    if not kinds:
        return None, False
    everything = [(one, i, atom.symbol) for one in done for i, atom in enumerate(parse_xyz(one.result.xyz))]
    cut = len(everything) > _MOST_ROWS
    rows = []
    for one, i, symbol in everything:
        if cut and symbol == "H":
            continue
        values = [getattr(one.result, f"{kind}_charges") for kind in kinds]
        rows.append((one.name, f"{symbol}{i + 1}", *("—" if v is None else number(v[i], 4) for v in values)))
    of_kinds = (Column(title=f"{_METHODS[kind]} charge", unit="e") for kind in kinds)
    columns = (Column(title="Molecule"), Column(title="Atom"), *of_kinds)
    return Table(columns=columns, rows=tuple(rows[: 3 * _MOST_ROWS])), cut


def _orbitals(done: Sequence[_Done], wanted: Sequence[str]) -> Table | None:
    rows = []
    for one in done:
        for name in wanted or ("HOMO", "LUMO"):
            if orbital := _find(one.result, name):
                energy = "—" if orbital.energy_ev is None else number(orbital.energy_ev, 3)
                rows.append((one.name, name, str(orbital.number), energy, number(orbital.occupation, 1)))
            elif (energy_ev := {"HOMO": one.result.homo_ev, "LUMO": one.result.lumo_ev}.get(name)) is not None:
                rows.append((one.name, name, "—", number(energy_ev, 3), "—"))
    titles = (("Molecule", ""), ("Orbital", ""), ("Number", ""), ("Energy", "eV"), ("Occupation", ""))
    # What no row knows, such as the numbers of orbitals that were not asked for, gets no column.
    known = [place for place in range(len(titles)) if any(row[place] != "—" for row in rows)]
    columns = tuple(Column(title=titles[place][0], unit=titles[place][1]) for place in known)
    return Table(columns=columns, rows=tuple(tuple(row[place] for place in known) for row in rows)) if rows else None
