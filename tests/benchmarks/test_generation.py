"""What a generation of a swarm costs, beside the same evaluations in one process. Prints figures; asserts none of them.

make bench
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tasks import listing
from tasks.elements import parse_xyz
from tasks.records import JobState
from tasks.results import EvaluationResult
from tasks.specs import EvaluationSpec, parse_spec
from tasks.store import Store
from tests.benchmarks.test_overheads import report, settings
from tests.integration.worker.conftest import StartWorker, start_worker, submit, submitting, wait_for
from worker.engines.openmp import openmp_environment
from worker.engines.quantum import thread_environment

__all__ = ["settings", "start_worker", "submitting"]
pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1200)]

#: 79 particles begin on 64 different cations of 20 to 47 atoms, which are relaxed as those of any other swarm
GENERATION: dict[str, object] = {
    "kind": "swarm",
    "families": ["tetraalkylammonium"],
    "substituents": ["methyl", "ethyl", "propyl", "isopropyl", "allyl", "butyl", "2-hydroxyethyl"],
    "max_heavy_atoms": 15,
    "particles": 79,
    "steps": 1,
}

#: evaluates the molecules of all jobs from the same structures; what is measured begins after all has been loaded
SERIAL = """
import json, sys, time
from contextlib import redirect_stdout
from pathlib import Path
from tasks.specs import parse_spec
from worker.programs.evaluation_job import EvaluationJob, evaluate
specs = [parse_spec(spec) for spec in json.load(sys.stdin)]
began = time.monotonic()
with redirect_stdout(sys.stderr):
    for spec in specs:
        job = EvaluationJob(spec=spec, memory_mb=1000)
        for candidate in spec.molecules:
            evaluate(candidate, job, Path("."))
print(time.monotonic() - began)
"""


def serial_seconds(specs: list[EvaluationSpec], folder: Path) -> float:
    """Evaluate all molecules one after the other in one process of one thread; give the seconds."""
    root = Path(__file__).parents[2]
    environment = {**os.environ, **thread_environment(1), **openmp_environment(), "PYTHONPATH": str(root)}
    rows = "[" + ", ".join(spec.model_dump_json() for spec in specs) + "]"
    done = subprocess.run(
        [sys.executable, "-c", SERIAL],
        input=rows,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])


def test_a_generation_of_64_evaluations_on_two_cores(
    submitting: Store, start_worker: StartWorker, tmp_path: Path
) -> None:
    start_worker(cores=2)
    (swarm,) = submit(submitting, GENERATION)
    began = time.monotonic()
    record = wait_for(submitting, swarm, JobState.SUCCEEDED, JobState.FAILED, seconds=600)
    whole = time.monotonic() - began
    assert record.state is JobState.SUCCEEDED, record.failure
    children = [row for row in submitting.run(listing.jobs(count=200)).rows if row.id.startswith(f"{swarm}.")]
    assert all(isinstance(child.result, EvaluationResult) for child in children)
    specs = [spec for child in children if isinstance(spec := parse_spec(child.spec), EvaluationSpec)]
    molecules = [candidate for spec in specs for candidate in spec.molecules]
    assert len(molecules) == 64
    starts = [child.started for child in children if child.started]
    ends = [child.ended for child in children if child.ended]
    assert starts and ends
    batch = (max(ends) - min(starts)).total_seconds()
    serial = serial_seconds(specs, tmp_path)
    atoms = [len(parse_xyz(candidate.xyz)) for candidate in molecules]
    report(
        f"a generation of {len(molecules)} GFN2 evaluations of {min(atoms)} to {max(atoms)} atoms on two cores",
        in_one_process=f"{serial:8.2f} s",
        ideal_on_two_cores=f"{serial / 2:8.2f} s",
        evaluations_of_the_swarm=f"{batch:8.2f} s ({serial / 2 / batch:.0%} of ideal; aim 85 %)",
        the_swarm_from_submission_to_end=f"{whole:8.2f} s ({serial / 2 / whole:.0%} of ideal)",
    )
