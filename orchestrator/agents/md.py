"""The molecular dynamics agent: one job for each box and temperature, and a table of what diffuses how fast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from orchestrator.agents.base import Agent, Context, JobResult, Work
from orchestrator.agents.text import counted, listed
from orchestrator.chemistry.solutions import core_seconds, count_atoms
from orchestrator.planning.dynamics import read_dynamics
from orchestrator.planning.molecules import knowing_sources
from orchestrator.state import Column, Finding, Picture, Quantity, Step, Table
from tasks.dynamics import DynamicsSpec
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
        "a user's own structure and topology",
        "minimisation, NVT, NPT and production, at one temperature or several, for one water content or several",
        "mean square displacements, diffusion coefficients with errors, density, temperature, with plots",
    )
    tools: ClassVar[tuple[str, ...]] = ("GROMACS", "acpype", "AmberTools", "MDAnalysis")

    def plan_jobs(self, step: Step, context: Context) -> Work:
        """Give one exact spec for each box and temperature, all in one batch; before what is long, a trial run."""
        specs = _specs(step, context)
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
        finding = Finding(
            step=step.number,
            agent=self.name,
            stage="simulated",
            summary=" ".join([*(_sentence(spec, result) for spec, result, _ in done[:6]), *(f"{f}." for f in failed)]),
            table=_table(done),
            artifacts=tuple(a for one in results for a in one.artifacts),
            pictures=tuple(picture for picture in pictures if picture),
            notes=(*dict.fromkeys(note for _, result, _ in done for note in result.caveats), *failed),
            values=tuple(value for one in done for value in _values(*one[:2])),
            level="; ".join(dict.fromkeys(f"{r.level}, {r.engine} {r.engine_version}".strip() for _, r, _ in done)),
            compute_seconds=round(sum(one.compute_seconds for one in results), 3),
        )
        return Work(finding=finding)

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
    with knowing_sources(context.species):
        return read_dynamics(step.goal.query or context.request, species=found).specs


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
    text = listed(found) if found else "no diffusion coefficient (too short)"
    window = ""
    if result.diffusion:
        first = result.diffusion[0]
        window = f", fitted from {first.fit_start_ps:g} to {first.fit_end_ps:g} ps"
    density = _with_error(result.density_g_per_cm3, 3)
    return (
        f"{spec.label}: diffusion of {text}{window}; density {density} g/cm³; {result.production_ps:g} ps in"
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
