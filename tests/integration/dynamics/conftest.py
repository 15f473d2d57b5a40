"""Molecular dynamics on real workers: GROMACS must be here, and small boxes of water keep it quick."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tasks.results import DynamicsResult
from tasks.specs import dump_spec, parse_spec
from tasks.store import Store
from tests.conftest import eventually, missing
from tests.integration.worker.conftest import job, start_worker, submitting
from worker.engines.gromacs import Gromacs

__all__ = ["start_worker", "submitting"]

#: 205 water molecules with short cut-offs; no equilibration but the minimisation
WATER: dict[str, Any] = {
    "kind": "dynamics",
    "system": {"water": 205, "edge_nm": 1.87},
    "cutoff_nm": 0.8,
    "nvt_ps": 0,
    "npt_ps": 0,
    "production_ps": 20,
    "ensemble": "NVT",
    "checkpoint_seconds": 1,
    "resources": {"cores": 1},
}


@pytest.fixture(scope="session", autouse=True)
def gromacs() -> None:
    """GROMACS, and the extra ``md``."""
    if Gromacs.detect() is None:
        missing("GROMACS with the extra md")


def water(**changes: Any) -> dict[str, Any]:
    """Give the spec of a small box of water with some changes."""
    return dump_spec(parse_spec({**WATER, **changes}))


def in_stage(store: Store, job_id: str, stage: str, checkpoint: bool = True) -> None:
    """Wait until a job is within a stage, and has a checkpoint of it."""

    def there() -> bool:
        record = job(store, job_id)
        assert not record.state.ended, record.failure
        newest = record.checkpoint
        kept = bool(newest and newest.text.startswith(f"{stage}, about step"))
        return bool(record.progress and record.progress.stage == stage) and (kept or not checkpoint)

    eventually(there, seconds=120, what=f"{job_id} in {stage}")


def result_of(store: Store, job_id: str) -> DynamicsResult:
    """Give the result of a job that succeeded."""
    result = job(store, job_id).result
    assert isinstance(result, DynamicsResult)
    return result


def frame_times(trajectory: Path, topology: Path) -> list[float]:
    """Read the moments of all frames of a trajectory in ps."""
    import MDAnalysis

    return [round(float(frame.time), 3) for frame in MDAnalysis.Universe(str(topology), str(trajectory)).trajectory]
