"""Quantum chemistry killed in the middle: it goes on from its checkpoint on another worker, to the same energy."""

from __future__ import annotations

import time

import pytest

from tasks import listing
from tasks.records import JobState
from tasks.results import QuantumResult
from tasks.settings import Settings
from tasks.specs import parse_spec
from tasks.store import Store
from tests.conftest import eventually
from tests.integration.worker.conftest import StartWorker, artifact_path, job, submit, wait_for

#: RDKit's ETKDG geometry of methanol, relaxed with MMFF94
METHANOL = """6
methanol
C   -0.369  0.003 -0.003
O    0.896 -0.540 -0.106
H   -0.476  0.610  0.919
H   -0.540  0.660 -0.877
H   -1.128 -0.806 -0.005
H    1.617  0.073  0.072
"""
SCF = {
    "molecule": {"xyz": METHANOL, "name": "methanol"},
    "charge": 0,
    "multiplicity": 1,
    "method": "B3LYP",
    "basis": "def2-TZVPP",
    "engine": "pyscf",
}


def energy(store: Store, job_id: str) -> QuantumResult:
    result = job(store, job_id).result
    assert isinstance(result, QuantumResult)
    return result


def test_a_worker_killed_during_an_scf_is_replaced_within_20_s_and_loses_no_cycle_that_was_kept(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    assert settings.lease_seconds == 10
    workers = {name: start_worker(name, cores=1) for name in ("one", "two")}
    (killed,) = submit(submitting, SCF)

    def half_way() -> bool:
        checkpoint = job(submitting, killed).checkpoint
        return checkpoint is not None and checkpoint.number >= 4

    eventually(half_way, seconds=120, what="a checkpoint in the middle of the SCF")
    reached = job(submitting, killed).checkpoint
    workers[job(submitting, killed).worker.rpartition("-")[0]].kill()
    moment = time.monotonic()
    eventually(lambda: job(submitting, killed).attempt == 2, seconds=20, what="the second attempt begins")
    assert time.monotonic() - moment < 20
    record = wait_for(submitting, killed, JobState.SUCCEEDED, JobState.FAILED, seconds=120)
    assert record.state is JobState.SUCCEEDED, record.failure
    lost, done = submitting.run(listing.attempts(killed))
    assert (lost.how, done.how) == ("lost", "done")
    assert done.checkpoint_from and reached
    assert done.checkpoint_from.number >= reached.number
    assert "restart" in artifact_path(settings, record, "log").read_text().lower()
    (whole,) = submit(submitting, SCF, batch="b2")
    wait_for(submitting, whole, JobState.SUCCEEDED, seconds=120)
    assert energy(submitting, killed).energy_hartree == pytest.approx(
        energy(submitting, whole).energy_hartree, abs=1e-6
    )
    cycles, all_cycles = energy(submitting, killed).scf_cycles, energy(submitting, whole).scf_cycles
    assert cycles and all_cycles
    assert cycles < all_cycles


def test_quantum_jobs_of_both_engines_give_energies_orbitals_and_geometries(
    submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    relax = {**SCF, "method": "GFN2-xTB", "basis": None, "engine": "xtb", "task": "optimisation"}
    point = {**SCF, "basis": "def2-SVP"}
    assert parse_spec(relax) and parse_spec(point)
    relaxed, computed = submit(submitting, relax, point)
    for each in (relaxed, computed):
        assert wait_for(submitting, each, JobState.SUCCEEDED, JobState.FAILED, seconds=90).state == "SUCCEEDED"
    # GFN2 of methanol: -8.2 Eh; B3LYP of methanol: -115.6 Eh (any table of DFT energies): orders of magnitude only,
    # the numbers themselves are checked in tests/unit/worker/engines.
    assert energy(submitting, relaxed).energy_hartree == pytest.approx(-8.2, abs=0.1)
    assert energy(submitting, computed).energy_hartree == pytest.approx(-115.6, abs=0.2)
    for each in (relaxed, computed):
        result = energy(submitting, each)
        assert result.homo_ev is not None and result.lumo_ev is not None
        assert result.homo_ev < result.lumo_ev
        assert result.xyz and result.xyz.startswith("6")
        assert result.mulliken_charges is not None
        assert sum(result.mulliken_charges) == pytest.approx(0.0, abs=1e-3)
