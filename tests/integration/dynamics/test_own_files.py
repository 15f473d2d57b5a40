"""Systems of the user's own, and what is corrected or refused in them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tasks.dynamics import Solution
from tasks.records import JobState
from tasks.settings import Settings
from tasks.store import Store
from tasks.workspace import write_artifact
from tests.integration.dynamics.conftest import WATER, result_of
from tests.integration.worker.conftest import StartWorker, job, submit, wait_for
from worker.programs.dynamics_build import BuildJob, build


@pytest.fixture
def box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a box of water as a user would bring it."""
    folder = tmp_path_factory.mktemp("box")
    system = Solution(water=150, edge_nm=1.72)
    build(BuildJob(system=system, gmx=("gmx",), cache=str(folder), seed=1), folder)
    return folder


def own(settings: Settings, folder: Path, **changes: Any) -> dict[str, Any]:
    """Put a user's files into the workspace, and give the spec of a short simulation of them."""
    inputs = {}
    for name, file in (("mine.gro", "system.gro"), ("mine.top", "topol.top")):
        kept = write_artifact(settings.workspace / "uploads" / name, (folder / file).read_bytes(), settings.workspace)
        inputs[name] = kept.model_dump(include={"path", "size_bytes", "sha256"})
    files = {"coordinates": "mine.gro", "topology": "mine.top"}
    rest = {name: value for name, value in WATER.items() if name != "system"}
    return {**rest, "files": files, "inputs": inputs, "production_ps": 5, **changes}


def test_a_user_s_own_system_is_simulated_and_its_molecule_types_are_the_species(
    settings: Settings, submitting: Store, start_worker: StartWorker, box: Path
) -> None:
    start_worker(cores=1)
    (done,) = submit(submitting, own(settings, box))
    record = wait_for(submitting, done, JobState.SUCCEEDED, JobState.FAILED, seconds=200)
    assert record.state is JobState.SUCCEEDED, record.failure
    result = result_of(submitting, done)
    assert result.molecules == {"SOL": 150}
    assert "topology of the user's own" in result.level
    # Too short for a coefficient: it is absent, and the result says why.
    assert result.diffusion == ()
    assert any("too short for a fit" in caveat for caveat in result.caveats)


@pytest.mark.slow
def test_a_cut_off_that_is_too_long_for_the_box_is_shortened_once_and_said(
    settings: Settings, submitting: Store, start_worker: StartWorker, box: Path
) -> None:
    start_worker(cores=1)
    (done,) = submit(submitting, own(settings, box, cutoff_nm=0.9))
    record = wait_for(submitting, done, JobState.SUCCEEDED, JobState.FAILED, seconds=200)
    assert record.state is JobState.SUCCEEDED, record.failure
    assert [(one.name, one.changes) for one in record.corrections] == [("small_box", {"cutoff_nm": 0.8})]
    assert any(
        "smaller than twice the cut-off: 0.8 nm instead of 0.9 nm" in c for c in result_of(submitting, done).caveats
    )


def test_a_topology_that_does_not_belong_to_the_coordinates_fails_at_once_with_the_reason(
    settings: Settings, submitting: Store, start_worker: StartWorker, box: Path
) -> None:
    start_worker(cores=1)
    topology = box / "topol.top"
    topology.write_text(topology.read_text().replace("SOL 150", "SOL 151"))
    (failed,) = submit(submitting, own(settings, box))
    record = wait_for(submitting, failed, JobState.SUCCEEDED, JobState.FAILED, seconds=60)
    assert record.failure and record.failure.error_class == "bad_input"
    assert "does not match topology" in record.failure.message
    assert record.attempt == 1


def test_overlapping_atoms_blow_up_and_are_corrected_only_so_often(
    settings: Settings, submitting: Store, start_worker: StartWorker, box: Path
) -> None:
    start_worker(cores=1)
    lines = (box / "system.gro").read_text().splitlines()
    generator = random.Random(5)
    # Forty molecules lie upon others, at most 0.03 nm apart, and nothing is minimised.
    for molecule in range(40):
        for atom in range(3):
            row, other = 2 + 3 * molecule + atom, lines[2 + 3 * (molecule + 100) + atom]
            close = [float(other[20 + 8 * axis : 28 + 8 * axis]) + 0.03 * generator.random() for axis in range(3)]
            lines[row] = lines[row][:20] + "".join(f"{value:8.3f}" for value in close) + lines[row][44:]
    (box / "system.gro").write_text("\n".join([*lines, ""]))
    (failed,) = submit(submitting, own(settings, box, minimisation_steps=0))
    record = wait_for(submitting, failed, JobState.SUCCEEDED, JobState.FAILED, seconds=120)
    assert record.state is JobState.FAILED
    assert record.failure and record.failure.error_class == "blow_up"
    assert [one.changes for one in record.corrections] == [{"time_step_fs": 1.0}, {"time_step_fs": 0.5}]
    assert job(submitting, failed).attempt == 1
