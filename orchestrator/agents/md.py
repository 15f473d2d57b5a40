"""The molecular dynamics agent: one job for each box and temperature, and a table of what diffuses how fast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from orchestrator.agents.base import Agent, Context, JobResult, Work
from orchestrator.agents.qm import read_structure
from orchestrator.chemistry.geometry import broken_bonds
from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS
from orchestrator.chemistry.solutions import core_seconds, count_atoms
from orchestrator.handover import structure_for
from orchestrator.inputs import input_file
from orchestrator.phrases import counted, listed
from orchestrator.planning.clusters import cluster_species, with_cluster
from orchestrator.planning.dynamics import read_dynamics
from orchestrator.planning.molecules import knowing_sources
from orchestrator.state import Column, Finding, Picture, Produced, Quantity, Species, Step, Table
from tasks.dynamics import DynamicsSpec
from tasks.errors import InputError
from tasks.results import Diffusion, DynamicsResult, Measured
from tasks.units import clock
from tasks.workspace import intact, write_artifact

Done = tuple[DynamicsSpec, DynamicsResult, JobResult]
#: the label of a trial run, and from what estimate on one is made
TRIAL = "trial run"
TRIAL_FROM_CORE_SECONDS = 3600.0
#: more figures than this do not help a report
MOST_FIGURES = 8
#: diffusion is shown in units of this, in m²/s
_UNIT = 1e-9


class DynamicsAgent(Agent):
    """Simulates cations, their counter-ions and water, and reads densities and diffusion from the trajectories."""

    name: ClassVar[str] = "md_agent"
    description: ClassVar[str] = "Molecular dynamics: mean square displacements, diffusion, density, temperature"
    abilities: ClassVar[tuple[str, ...]] = (
        "boxes of cations with hydroxide or halide counter-ions and water, from SMILES, parameterised with GAFF",
        "boxes that begin at optimised structures; a cation with its nearest neighbours out of the last frame",
        "a user's own structure and topology",
        "minimisation, NVT, NPT and production, at one temperature or several, for one water content or several",
        "mean square displacements, diffusion coefficients with errors, density, temperature, with plots",
    )
    tools: ClassVar[tuple[str, ...]] = ("GROMACS", "acpype", "AmberTools", "MDAnalysis")

    def plan_jobs(self, step: Step, context: Context) -> Work:
        """Give one exact spec for each box and temperature, all in one batch; before what is long, a trial run."""
        try:
            specs = _specs(step, context)
        except InputError as error:
            return Work(error=str(error))
        if sum(core_seconds(spec) or 0.0 for spec in specs) > TRIAL_FROM_CORE_SECONDS:
            return Work(specs=(trial_of(max(specs, key=lambda spec: count_atoms(spec) or 0)),))
        return Work(specs=specs)

    def interpret(self, step: Step, context: Context, results: Sequence[JobResult]) -> Work:
        """Turn results into a table; what failed is said, the rest counts."""
        if len(results) == 1 and isinstance(results[0].spec, DynamicsSpec) and results[0].spec.label == TRIAL:
            return self._after_trial(step, context, results[0])
        done: list[Done] = [
            (one.spec, one.result, one)
            for one in results
            if one.state == "SUCCEEDED"
            and isinstance(one.spec, DynamicsSpec)
            and isinstance(one.result, DynamicsResult)
        ]
        failed = [
            f"{one.spec.label} failed: {one.reason}" for one in results if all(one is not job for _, _, job in done)
        ]
        if not done:
            return Work(error="; ".join(failed) or "no job gave a result")
        pictures = [_picture(one, context) for one in done[:MOST_FIGURES]]
        taken = _taken(step, context, done[0]) if step.goal.cluster else None
        finding = Finding(
            step=step.number,
            agent=self.name,
            stage="simulated",
            summary=" ".join([*(_sentence(spec, result) for spec, result, _ in done[:6]), *(f"{f}." for f in failed)]),
            table=_table(done),
            artifacts=(
                *((taken.geometry,) if taken and taken.geometry else ()),
                *(a for one in results for a in one.artifacts),
            ),
            produced=(
                (Produced(smiles=taken.smiles, geometry=taken.geometry, geometry_level=taken.geometry_level),)
                if taken
                else ()
            ),
            pictures=tuple(picture for picture in pictures if picture),
            notes=(
                *_structure_notes(step, context),
                *_cluster_notes(done),
                *dict.fromkeys(note for _, result, _ in done for note in result.caveats),
                *failed,
            ),
            values=tuple(value for one in done for value in _values(*one[:2])),
            level="; ".join(dict.fromkeys(f"{r.level}, {r.engine} {r.engine_version}".strip() for _, r, _ in done)),
            compute_seconds=round(sum(one.compute_seconds for one in results), 3),
        )
        return Work(finding=finding, species=(taken,) if taken else None)

    def _after_trial(self, step: Step, context: Context, trial: JobResult) -> Work:
        """Submit what was asked for, with the time that it will take by the trial."""
        if not isinstance(trial.result, DynamicsResult) or not isinstance(trial.spec, DynamicsSpec):
            return Work(error=f"the trial run failed: {trial.reason}")
        specs = _specs(step, context)
        finding = Finding(
            step=step.number,
            agent=self.name,
            stage="estimated",
            summary=_estimate(specs, trial.spec, trial.result),
            compute_seconds=trial.compute_seconds,
        )
        return Work(specs=specs, finding=finding)


def _specs(step: Step, context: Context) -> tuple[DynamicsSpec, ...]:
    found = context.species if step.goal.molecules_step is not None else ()
    most = context.settings.max_atoms if context.settings else DEFAULT_MAX_ATOMS
    with knowing_sources(context.species):
        specs = read_dynamics(step.goal.query or context.request, most, found).specs
    specs = with_cluster(specs, step.goal.cluster)
    if step.goal.geometry_step is None:
        return specs
    return tuple(_with_structures(spec, step, context) for spec in specs)


def _with_structures(spec: DynamicsSpec, step: Step, context: Context) -> DynamicsSpec:
    """Give a spec whose cations begin at the structures that an earlier step optimised.

    Raises
    ------
    InputError
        If that step left none of a cation, or one that is no longer that molecule.
    """
    if spec.system is None:
        return spec
    inputs, cations = dict(spec.inputs), []
    for number, cation in enumerate(spec.system.cations, 1):
        one = _optimised(cation.smiles, cation.name, step, context)
        text = read_structure(one, context.workspace)
        if text is None or one.geometry is None or (broken := broken_bonds(one.smiles, text)):
            why = f"is no longer this molecule: {listed(broken)}" if text else "is not there"
            remedy = "Optimise it again from another structure, or simulate it without that."
            raise InputError("structure", one.name, f"of step {step.goal.geometry_step} {why}", remedy)
        name = f"cation-{number}.xyz"
        inputs[name] = input_file(one.geometry)
        cations.append(cation.model_copy(update={"geometry": name}))
    system = spec.system.model_copy(update={"cations": tuple(cations)})
    return spec.model_copy(update={"system": system, "inputs": inputs})


def _optimised(smiles: str, name: str, step: Step, context: Context) -> Species:
    source = step.goal.geometry_step
    for one in context.species:
        if one.smiles == smiles and not one.error:
            return structure_for(one, step, context.findings)
    why = next((one.error for one in context.species if one.smiles == smiles), "it is none of its molecules")
    raise InputError("structure", name, f"was not made by step {source} ({why})", "Simulate it without that.")


def _taken(step: Step, context: Context, one: Done) -> Species:
    """Put the cluster that a simulation took out of its last frame into the run's folder, as a molecule of the run.

    Raises
    ------
    InputError
        If the job left none, or not the one that was asked for.
    """
    spec, result, job = one
    species = cluster_species(step.goal.cluster, spec) if step.goal.cluster else None
    made = next((a for a in job.artifacts if a.role == "cluster" and intact(a, context.workspace)), None)
    if species is None or made is None or result.cluster is None:
        raise InputError("cluster", job.job_id, "left no structure of the cluster", "Run the simulation again.")
    content = (context.workspace / made.path).read_bytes()
    if result.cluster.charge != species.charge or (broken := broken_bonds(species.smiles, content.decode())):
        why = listed(broken) if result.cluster.charge == species.charge else f"charge {result.cluster.charge}"
        raise InputError("cluster", species.name, f"is not what was taken out ({why})", "Run the simulation again.")
    path = context.folder / "structures" / f"cluster-step{step.number}.xyz"
    return species.model_copy(
        update={
            "geometry": write_artifact(path, content, context.workspace, "geometry"),
            "geometry_level": f"frame at {result.cluster.time_ps:g} ps of {spec.label}",
        }
    )


def _cluster_notes(done: Sequence[Done]) -> list[str]:
    """Say which molecules were taken out of the last frame, and how near they were."""
    return [
        f"Taken out of the frame at {taken.time_ps:g} ps (cluster.xyz): "
        + ", ".join(
            f"{one.species} {one.number}" + (f" at {one.distance_angstrom:.2f} Å" if one.distance_angstrom else "")
            for one in taken.members
        )
        + "; distances of the nearest heavy atoms to the cation's."
        for _, result, _ in done
        if (taken := result.cluster) is not None
    ]


def _structure_notes(step: Step, context: Context) -> list[str]:
    """Say where the molecules of the boxes come from, and what of that enters the force field."""
    if step.goal.geometry_step is None:
        return []
    levels = {structure_for(one, step, context.findings).geometry_level for one in context.species if not one.error}
    return [
        f"The cations were put into the box at the structures of step {step.goal.geometry_step}"
        f" ({listed(sorted(levels))}), and the minimisation went on from there. Their charges are those of AM1-BCC, for"
        " which GAFF was made; charges of the quantum step are not used."
    ]


def trial_of(spec: DynamicsSpec) -> DynamicsSpec:
    """Give a short run of the same box with the same forces, to learn how fast it is."""
    lengths = {"nvt_ps": 2.0, "npt_ps": 2.0, "production_ps": float(5 * spec.frame_spacing_ps), "label": TRIAL}
    analysis = spec.analysis.model_copy(update={"fit_window_ps": None})
    trial = DynamicsSpec.model_validate({**spec.model_dump(mode="json"), **lengths, "analysis": analysis.model_dump()})
    return trial if trial.production_ps <= spec.production_ps else spec


def _estimate(specs: Sequence[DynamicsSpec], trial: DynamicsSpec, result: DynamicsResult) -> str:
    if not result.nanoseconds_per_day:
        return f"A trial run of {result.production_ps:g} ps went well; how fast it was is not known."
    atoms = count_atoms(trial) or 1
    seconds = 0.0
    for spec in specs:
        lengths = (spec.nvt_ps + spec.npt_ps + spec.production_ps) * trial.time_step_fs / spec.time_step_fs
        seconds += lengths / 1000 / result.nanoseconds_per_day * 86_400 * (count_atoms(spec) or atoms) / atoms
    return (
        f"A trial run of {result.production_ps:g} ps made {result.nanoseconds_per_day:.1f} ns/day on"
        f" {counted(trial.resources.cores, 'core')}: {counted(len(specs), 'simulation')} will take about"
        f" {clock(seconds)} one after the other, {seconds * trial.resources.cores / 3600:.1f} core-hours."
    )


def _picture(one: Done, context: Context) -> Picture | None:
    """Put the plot of a job into the run's folder, for its report; None: the job left none."""
    spec, result, job = one
    made = next((a for a in job.artifacts if a.role == "figure" and intact(a, context.workspace)), None)
    if made is None:
        return None
    label = "".join(c if c.isalnum() or c in "+-_" else "-" for c in spec.label)[:80]
    index = job.job_id.rpartition("-")[2]
    target = context.folder / "figures" / f"MSD-{index}-{label}.png"
    file = write_artifact(target, (context.workspace / made.path).read_bytes(), context.workspace, "figure")
    return Picture(file=file, caption=f"Mean square displacement, {spec.label}; {result.level}")


def _sentence(spec: DynamicsSpec, result: DynamicsResult) -> str:
    found = [f"{one.species} ({_coefficient(one)}) × 10⁻⁹ m²/s" for one in result.diffusion]
    text = f"diffusion of {listed(found)}" if found else "no diffusion coefficient (too short)"
    window = ""
    if result.diffusion:
        first = result.diffusion[0]
        window = f", fitted from {first.fit_start_ps:g} to {first.fit_end_ps:g} ps"
    density = _with_error(result.density_g_per_cm3, 3)
    return (
        f"{spec.label}: {text}{window}; density {density} g/cm³; {result.production_ps:g} ps in"
        f" {counted(result.frames, 'frame')}."
    )


def _coefficient(one: Diffusion) -> str:
    return f"{one.coefficient_m2_per_s / _UNIT:.2f} ± {one.error_m2_per_s / _UNIT:.2f}"


def _with_error(one: Measured, digits: int) -> str:
    return f"{one.value:.{digits}f}" + (f" ± {one.error:.{digits}f}" if one.error is not None else "")


def _table(done: Sequence[Done]) -> Table:
    """Give one row for each species of each box."""
    columns = (
        Column(title="Box"),
        Column(title="T", unit="K"),
        Column(title="λ"),
        Column(title="Species"),
        Column(title="D", unit="10⁻⁹ m²/s"),
        Column(title="± (standard error)", unit="10⁻⁹ m²/s"),
        Column(title="Density", unit="g/cm³"),
        Column(title="Measured T", unit="K"),
        Column(title="Speed", unit="ns/day"),
    )
    rows = []
    for spec, result, _ in done:
        cations = sum(one.count for one in spec.system.cations) if spec.system else 0
        hydration = f"{spec.system.water / cations:.4g}" if spec.system and cations and spec.system.water else "—"
        common = (
            _with_error(result.density_g_per_cm3, 3),
            _with_error(result.temperature_kelvin, 1),
            "—" if result.nanoseconds_per_day is None else f"{result.nanoseconds_per_day:.1f}",
        )
        measured = {one.species: one for one in result.diffusion}
        for species in measured or ("all",):
            one = measured.get(species)
            value = f"{one.coefficient_m2_per_s / _UNIT:.3f}" if one else "—"
            error = f"{one.error_m2_per_s / _UNIT:.3f}" if one else "—"
            rows.append((spec.label, f"{spec.temperature_kelvin:g}", hydration, species, value, error, *common))
    return Table(columns=columns, rows=tuple(rows))


def _values(spec: DynamicsSpec, result: DynamicsResult) -> list[Quantity]:
    found = [
        Quantity(species=spec.label, name=f"diffusion of {one.species}", value=one.coefficient_m2_per_s, unit="m²/s")
        for one in result.diffusion
    ]
    density = result.density_g_per_cm3.value
    return [*found, Quantity(species=spec.label, name="density", value=density, unit="g/cm³")]
