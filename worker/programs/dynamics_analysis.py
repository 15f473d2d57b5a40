"""Reads the trajectory of a production stage: temperature, density, mean square displacements, diffusion.

Run as ``python -m worker.programs.dynamics_analysis analysis-job.json`` in scratch, which holds ``production.tpr``,
``.xtc`` and ``.edr``. It leaves ``result.json``, ``msd.csv``, ``series.csv`` and ``msd.png``.
"""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, TypeVar

import MDAnalysis
import numpy as np
from pydantic import BaseModel

from tasks.dynamics import Cluster
from tasks.results import Diffusion, DynamicsResult, Failure, Measured, TakenCluster
from worker.programs.cluster import take_cluster
from worker.programs.common import (
    EXIT_FAILED,
    FAILURE_FILE,
    RESULT_FILE,
    JobFailed,
    ended_mark,
    say,
    write_atomically,
)
from worker.programs.diffusion import Unwrapper, block_mean, diffusion, mean_square_displacement
from worker.programs.dynamics_build import BUILD_FILE, Built
from worker.programs.dynamics_figure import msd_figure
from worker.programs.masses import symbols_of

ANALYSIS_JOB = "analysis-job.json"
MSD_CSV, SERIES_CSV, MSD_FIGURE, CLUSTER_XYZ = "msd.csv", "series.csv", "msd.png", "cluster.xyz"
#: what trajectories of more frames are thinned to, so that their molecules fit into memory
MOST_FRAMES = 20_000
Number = TypeVar("Number", float, str)
_DALTON_PER_NM3 = 1.66053906660e-3  # g/cm³, CODATA 2018


class AnalysisJob(BaseModel):
    """What to read, as ``analysis-job.json`` holds it."""

    gmx: tuple[str, ...]
    #: of which species; empty: all
    wanted: tuple[str, ...]
    window_ps: tuple[float, float] | None
    blocks: int
    production_ps: float
    frame_spacing_ps: float
    caveats: tuple[str, ...]
    level: str
    #: what is taken out of the last frame; None: nothing
    cluster: Cluster | None = None


def analyse(job: AnalysisJob, folder: Path) -> DynamicsResult:
    """Read everything, write tables and figure, and give the result.

    Raises
    ------
    JobFailed
        If frames are missing or there twice, or a species that was asked for is not in the box.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        universe = MDAnalysis.Universe(str(folder / "production.tpr"), str(folder / "production.xtc"))
    named = _names(folder)
    groups = _species(universe, job, named)
    frames = round(job.production_ps / job.frame_spacing_ps) + 1
    _check_frames(universe, job, frames)
    stride = -(-frames // MOST_FRAMES)
    followed = {name: Unwrapper(_molecules(group), universe.atoms.masses) for name, group in groups.items()}
    taken = len(range(0, frames, stride))
    centres = {name: np.empty((taken, len(_molecules(group)), 3), dtype=np.float32) for name, group in groups.items()}
    volumes, edges = np.empty(frames), []
    for index, frame in enumerate(universe.trajectory):
        volumes[index] = frame.volume / 1000
        edges.append(float(min(frame.dimensions[:3])))
        for name, unwrap in followed.items():
            now = unwrap(frame.positions, frame.dimensions)
            if index % stride == 0:
                centres[name][index // stride] = now / 10
    notes = list(job.caveats)
    for name, unwrap in followed.items():
        if unwrap.extent > min(edges) / 2:
            del centres[name]
            notes.append(f"{name}: its molecules are larger than half the box, so that they cannot be followed.")
    spacing = job.frame_spacing_ps * stride
    coefficients = _diffusion(job, centres, spacing, notes)
    temperature = _series(job, folder, "Temperature")
    if len(temperature) != frames:
        message = f"The energies hold {len(temperature)} moments, and the trajectory {frames}."
        raise JobFailed(
            Failure(error_class="frames_missing", message=message, remedy="Run the job again from scratch.")
        )
    densities = float(universe.atoms.masses.sum()) * _DALTON_PER_NM3 / volumes
    _write(folder, job, centres, spacing, (temperature, densities), coefficients)
    counts = {name: len(_molecules(group)) for name, group in _all_species(universe, named).items()}
    cluster = _cluster(universe, job, folder) if job.cluster else None
    return DynamicsResult(
        molecules=counts,
        atoms=len(universe.atoms),
        frames=frames,
        production_ps=job.production_ps,
        temperature_kelvin=_measured(temperature, job.blocks),
        density_g_per_cm3=_measured(densities, job.blocks),
        edge_nm=float(np.mean(volumes) ** (1 / 3)),
        diffusion=coefficients,
        nanoseconds_per_day=_said(folder, r"^Performance:\s+([\d.]+)", float),
        engine="gromacs",
        engine_version=_said(folder, r"^GROMACS version:\s+(\S+)", str) or "",
        level=job.level,
        caveats=tuple(notes),
        cluster=cluster,
    )


def _cluster(universe: Any, job: AnalysisJob, folder: Path) -> TakenCluster:
    """Take a cluster out of the last frame, and write its structure."""
    assert job.cluster
    universe.trajectory[-1]
    kinds = Built.model_validate_json((folder / BUILD_FILE).read_bytes()).kinds
    molecules = {name: _molecules(group) for name, group in _all_species(universe, _names(folder)).items()}
    charges = {kind.species: kind.charge for kind in kinds}
    symbols = symbols_of(universe.atoms.masses)
    taken, xyz = take_cluster(universe, job.cluster, molecules, charges, symbols)
    write_atomically(folder / CLUSTER_XYZ, xyz)
    return taken


def _said(folder: Path, pattern: str, kind: type[Number]) -> Number | None:
    """Read what the log of the production says last; None: nothing."""
    found = re.findall(pattern, (folder / "production.log").read_text(errors="replace"), re.MULTILINE)
    return kind(found[-1]) if found else None


def _names(folder: Path) -> dict[str, str]:
    """Give the species by molecule type; empty for a system of the user's own, whose molecule types are names."""
    path = folder / BUILD_FILE
    if not path.exists():
        return {}
    return {kind.molecule_type: kind.species for kind in Built.model_validate_json(path.read_bytes()).kinds}


def _all_species(universe: Any, named: dict[str, str]) -> dict[str, Any]:
    """Give the atoms of each species by its name."""
    types = universe.atoms.moltypes
    found = dict.fromkeys(types.tolist())
    return {named.get(name, name): universe.atoms[types == name] for name in found}


def _species(universe: Any, job: AnalysisJob, named: dict[str, str]) -> dict[str, Any]:
    found = _all_species(universe, named)
    for name in job.wanted:
        if name not in found:
            failure = Failure(
                error_class="bad_input",
                message=f"analysis.species: {name!r} is not in the box, which holds {', '.join(found)}.",
                remedy="Name one of those, or none for all.",
                permanent=True,
            )
            raise JobFailed(failure)
    return {name: group for name, group in found.items() if not job.wanted or name in job.wanted}


def _molecules(group: Any) -> list[Any]:
    """Give the indices of the atoms of each molecule."""
    starts = np.flatnonzero(np.diff(group.molnums)) + 1
    return [part.astype(np.int64) for part in np.split(group.indices, starts)]


def _check_frames(universe: Any, job: AnalysisJob, frames: int) -> None:
    times = np.array([frame.time for frame in universe.trajectory])
    expected = np.arange(frames) * job.frame_spacing_ps
    if len(times) == frames and np.allclose(times, expected, atol=1e-3 * job.frame_spacing_ps):
        return
    doubled = len(times) - len(set(np.round(times, 3)))
    failure = Failure(
        error_class="frames_missing",
        message=f"The trajectory has {len(times)} frames ({doubled} twice) instead of one each"
        f" {job.frame_spacing_ps:g} ps from 0 to {job.production_ps:g} ps, which are {frames}.",
        remedy="Run the job again from scratch.",
    )
    raise JobFailed(failure)


def _diffusion(job: AnalysisJob, centres: dict[str, Any], spacing: float, notes: list[str]) -> tuple[Diffusion, ...]:
    if job.window_ps is None:
        notes.append(
            f"No diffusion coefficient: {job.production_ps:g} ps with a frame each {job.frame_spacing_ps:g} ps are too"
            f" short for a fit in {job.blocks} blocks."
        )
        return ()
    found = []
    for name, path in centres.items():
        fit = diffusion(path, spacing, job.window_ps, job.blocks)
        found.append(
            Diffusion(
                species=name,
                molecules=path.shape[1],
                coefficient_m2_per_s=fit.coefficient,
                error_m2_per_s=fit.error,
                fit_start_ps=job.window_ps[0],
                fit_end_ps=job.window_ps[1],
                blocks=job.blocks,
            )
        )
    return tuple(found)


def _series(job: AnalysisJob, folder: Path, term: str) -> Any:
    """Read one term of the energies by ``gmx energy``, one value a frame."""
    done = subprocess.run(
        [*job.gmx, "-nobackup", "-quiet", "energy", "-f", "production.edr", "-o", "energy.xvg", "-xvg", "none"],
        cwd=folder,
        input=f"{term}\n\n",
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = tuple(line for line in done.stderr.splitlines() if line.strip())[-6:]
        message = f"gmx energy found no {term} in production.edr."
        raise JobFailed(Failure(error_class="program_failed", message=message, evidence=lines))
    rows = np.atleast_2d(np.loadtxt(folder / "energy.xvg"))
    # A stage that went on from a restart point may have written that moment twice.
    _, first = np.unique(np.round(rows[:, 0], 3), return_index=True)
    return rows[first, 1]


def _measured(values: Any, blocks: int) -> Measured:
    mean, error = block_mean(values, blocks)
    return Measured(value=mean, error=error)


def _write(
    folder: Path,
    job: AnalysisJob,
    centres: dict[str, Any],
    spacing: float,
    series: tuple[Any, Any],
    coefficients: tuple[Diffusion, ...],
) -> None:
    displacement = {name: mean_square_displacement(path) for name, path in centres.items()}
    lags = np.arange(len(next(iter(displacement.values()), ()))) * spacing
    titles = ["lag_ps", *(f"msd_nm2 {name}" for name in displacement)]
    _csv(folder / MSD_CSV, titles, zip(lags, *displacement.values(), strict=True))
    times = np.arange(len(series[1])) * job.frame_spacing_ps
    rows = zip(times, *series, strict=True)
    _csv(folder / SERIES_CSV, ["time_ps", "temperature_kelvin", "density_g_per_cm3"], rows)
    (folder / MSD_FIGURE).write_bytes(msd_figure(lags, displacement, coefficients, job.level))


def _csv(path: Path, titles: list[str], rows: Any) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows([f"{value:.6g}" for value in row] for row in rows)
    write_atomically(path, text.getvalue())


def main() -> None:
    """Analyse what the command line names."""
    folder = Path(sys.argv[1]).resolve().parent
    try:
        result = analyse(AnalysisJob.model_validate_json(Path(sys.argv[1]).read_bytes()), folder)
    except JobFailed as failed:
        write_atomically(folder / FAILURE_FILE, failed.failure.model_dump_json())
        say(f"SIMRELAY ANALYSIS FAILED ({failed.failure.error_class}): {failed.failure.message}")
        sys.exit(EXIT_FAILED)
    write_atomically(folder / RESULT_FILE, result.model_dump_json())
    say(ended_mark("analysis"))


if __name__ == "__main__":
    main()
