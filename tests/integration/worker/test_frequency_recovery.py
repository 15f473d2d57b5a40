"""Optimisations and frequencies whose engine, warden or worker is killed: the same numbers, with less to compute."""

from __future__ import annotations

import os
import signal

import pytest

from tasks import listing
from tasks.records import JobRecord, JobState
from tasks.results import QuantumResult
from tasks.settings import Settings
from tasks.store import Store
from tests.chaos.processes import running
from tests.conftest import eventually
from tests.integration.worker.conftest import StartWorker, artifact_path, job, submit, wait_for
from tests.unit.worker.harness import METHYLAMMONIUM, WATER

#: with a solvent by displacements: 18 of them
IN_WATER = {
    "molecule": {"xyz": WATER, "name": "water"},
    "charge": 0,
    "method": "HF",
    "basis": "STO-3G",
    "solvent": "water",
    "engine": "pyscf",
    "task": "frequencies",
}
OPTIMISATION = {
    **IN_WATER,
    "molecule": {"xyz": METHYLAMMONIUM, "name": "methylammonium"},
    "charge": 1,
    "solvent": None,
    # large enough that a fast host is still at it when it is struck
    "basis": "def2-TZVP",
    "task": "optimisation",
}
PLANAR_AMMONIA = {
    "molecule": {"xyz": "4\nammonia\nN 0 0 0\nH 0 1.00 0\nH 0.86603 -0.50 0\nH -0.86603 -0.50 0\n"},
    "charge": 0,
    "method": "GFN2-xTB",
    "engine": "xtb",
    "task": "optimisation_frequencies",
}
BLOWS = [
    pytest.param("engine", marks=pytest.mark.slow),
    pytest.param("warden", marks=pytest.mark.slow),
    pytest.param("worker", marks=pytest.mark.slow),
]


def result(record: JobRecord) -> QuantumResult:
    assert record.state is JobState.SUCCEEDED, record.failure
    assert isinstance(record.result, QuantumResult)
    return record.result


def struck(what: str, asked: dict[str, object], step: int, settings: Settings, store: Store, start: StartWorker) -> str:
    """Run a job, and kill something of it in that step of its last stage; give its id."""
    stage = "frequencies" if asked["task"] == "frequencies" else "optimisation"
    # The other one is there before: by the time it had started, a fast job would be done.
    workers = {name: start(name, cores=1) for name in (("one", "two") if what == "worker" else ("one",))}
    (first,) = submit(store, asked)

    def reached() -> bool:
        record = job(store, first)
        assert record.state in (JobState.QUEUED, JobState.RUNNING), record.failure
        progress = record.progress
        there = progress is not None and progress.stage == stage and (progress.step or 0) >= step
        return there and record.checkpoint is not None

    eventually(reached, seconds=200, what=f"step {step} of the {stage}")
    if what == "worker":
        workers[job(store, first).worker.rpartition("-")[0]].kill()
    else:
        (hit,) = running(settings.scratch)
        os.kill(hit.warden if what == "warden" else hit.simulation or 0, signal.SIGKILL)
    return first


def attempts_of(settings: Settings, store: Store, record: JobRecord, what: str) -> None:
    how = {"engine": "failed", "warden": "preempted", "worker": "lost"}[what]
    first, last = store.run(listing.attempts(record.id))
    assert (first.how, last.how) == (how, "done")
    assert last.checkpoint_from is not None
    assert "RESTARTED" in artifact_path(settings, record, "log").read_text()


@pytest.mark.parametrize("what", BLOWS)
def test_killed_frequencies_go_on_from_their_last_displacement(
    what: str, settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    first = struck(what, IN_WATER, 4, settings, submitting, start_worker)
    record = wait_for(submitting, first, JobState.SUCCEEDED, JobState.FAILED, seconds=250)
    continued = result(record)
    attempts_of(settings, submitting, record, what)
    done_again = artifact_path(settings, record, "log").read_text().count("Hessian: displacement")
    assert 0 < done_again < 18
    (whole,) = submit(submitting, IN_WATER, batch="b2")
    undisturbed = result(wait_for(submitting, whole, JobState.SUCCEEDED, JobState.FAILED, seconds=250))
    assert continued.energy_hartree == pytest.approx(undisturbed.energy_hartree, abs=1e-6)
    assert continued.gibbs_energy_hartree == pytest.approx(undisturbed.gibbs_energy_hartree, abs=1e-6)
    assert continued.scf_cycles and undisturbed.scf_cycles
    assert continued.scf_cycles < undisturbed.scf_cycles


@pytest.mark.slow
@pytest.mark.parametrize("what", ["engine", "warden", "worker"])
def test_a_killed_optimisation_goes_on_from_its_last_geometry(
    what: str, settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    first = struck(what, OPTIMISATION, 3, settings, submitting, start_worker)
    record = wait_for(submitting, first, JobState.SUCCEEDED, JobState.FAILED, seconds=250)
    continued = result(record)
    attempts_of(settings, submitting, record, what)
    (whole,) = submit(submitting, OPTIMISATION, batch="b2")
    undisturbed = result(wait_for(submitting, whole, JobState.SUCCEEDED, JobState.FAILED, seconds=250))
    assert continued.energy_hartree == pytest.approx(undisturbed.energy_hartree, abs=1e-6)
    assert continued.scf_cycles and undisturbed.scf_cycles
    assert continued.scf_cycles < undisturbed.scf_cycles


def test_an_imaginary_mode_is_corrected_within_the_attempt_and_recorded(
    submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    (first,) = submit(submitting, PLANAR_AMMONIA)
    record = wait_for(submitting, first, JobState.SUCCEEDED, JobState.FAILED, seconds=120)
    found = result(record)
    assert (found.imaginary_modes, found.symmetry_number) == (0, 3)
    (attempt,) = submitting.run(listing.attempts(first))
    assert attempt.how == "done"
    for corrections in (record.corrections, attempt.corrections):
        assert [(c.name, c.changes) for c in corrections] == [("imaginary_mode", {"displacements": 1})]
