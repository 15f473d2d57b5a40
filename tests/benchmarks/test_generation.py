"""What a generation of a swarm costs, beside the same evaluations in one process. Prints figures; asserts none of them.

make bench
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tasks import listing
from tasks.records import JobState
from tasks.results import EvaluationResult
from tasks.specs import EvaluationSpec, parse_spec
from tasks.store import Store
from tests.benchmarks.test_overheads import report, settings
from tests.integration.worker.conftest import StartWorker, start_worker, submit, submitting, wait_for
from worker.programs.evaluation_job import EvaluationJob, evaluate

__all__ = ["settings", "start_worker", "submitting"]
pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]

GENERATION: dict[str, object] = {"kind": "swarm", "particles": 68, "steps": 1, "max_heavy_atoms": 30}


def test_a_generation_of_64_evaluations_on_two_cores(
    submitting: Store, start_worker: StartWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    start_worker(cores=2)
    (swarm,) = submit(submitting, GENERATION)
    began = time.monotonic()
    record = wait_for(submitting, swarm, JobState.SUCCEEDED, JobState.FAILED, seconds=900)
    whole = time.monotonic() - began
    assert record.state is JobState.SUCCEEDED, record.failure
    children = [row for row in submitting.run(listing.jobs(count=200)).rows if row.id.startswith(f"{swarm}.")]
    specs = [parse_spec(child.spec) for child in children]
    assert all(isinstance(child.result, EvaluationResult) for child in children)
    starts = [child.started for child in children if child.started]
    ends = [child.ended for child in children if child.ended]
    assert starts and ends
    batch = (max(ends) - min(starts)).total_seconds()
    began, count = time.monotonic(), 0
    for spec in specs:
        assert isinstance(spec, EvaluationSpec)
        job = EvaluationJob(spec=spec, memory_mb=1000)
        for candidate in spec.molecules:
            evaluate(candidate, job, tmp_path)
            count += 1
    serial = time.monotonic() - began
    report(
        f"a generation of {count} GFN2 evaluations on two cores",
        in_one_process=f"{serial:8.2f} s",
        ideal_on_two_cores=f"{serial / 2:8.2f} s",
        evaluations_of_the_swarm=f"{batch:8.2f} s ({serial / 2 / batch:.0%} of ideal)",
        the_swarm_from_submission_to_end=f"{whole:8.2f} s ({serial / 2 / whole:.0%} of ideal)",
    )
