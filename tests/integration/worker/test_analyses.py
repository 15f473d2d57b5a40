"""Analyses on real workers: files of other jobs, late and missing ones, and kills of every process in the row."""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from pyscf import gto, scf

from tasks import listing
from tasks.records import JobRecord, JobState
from tasks.results import WavefunctionResult
from tasks.settings import Settings
from tasks.store import Store
from tests.conftest import eventually
from tests.integration.worker.conftest import StartWorker, artifact_path, job, submit, wait_for

#: water of the G2 set, as ``ase.build.molecule("H2O")`` has it
WATER = "3\nwater\nO 0 0 0.119262\nH 0 0.763239 -0.477047\nH 0 -0.763239 -0.477047\n"
QUANTUM = {
    "molecule": {"xyz": WATER, "name": "water"},
    "charge": 0,
    "multiplicity": 1,
    "method": "HF",
    "basis": "STO-3G",
    "engine": "pyscf",
}


#: what takes long enough to be struck: water's own charges take a second
LONG = {"analyses": ["mulliken", "hirshfeld", "potential", "pictures"], "spacing_angstrom": 0.12}


def analysis(path: str, content: bytes, **more: object) -> dict[str, object]:
    """Give the spec of an analysis of a file in the workspace."""
    file = {"path": path, "sha256": hashlib.sha256(content).hexdigest(), "size_bytes": len(content)}
    asked = {"analyses": ["mulliken", "hirshfeld"], "engine": "wavefunction"}
    return {"kind": "wavefunction", "inputs": {"wavefunction": file}, **asked, **more}


@pytest.fixture(scope="module")
def orbitals(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """PySCF's checkpoint file of water, HF/STO-3G."""
    path = tmp_path_factory.mktemp("orbitals") / "orbitals.chk"
    mf = scf.RHF(gto.M(atom="\n".join(WATER.splitlines()[2:]), basis="STO-3G", verbose=0))
    mf.chkfile = str(path)
    mf.kernel()
    return path.read_bytes()


def put(settings: Settings, content: bytes, path: str = "files/a/orbitals.chk") -> Path:
    target = settings.workspace / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return target


def result_of(record: JobRecord) -> WavefunctionResult:
    assert record.state is JobState.SUCCEEDED, record.failure
    assert isinstance(record.result, WavefunctionResult)
    return record.result


def test_the_orbitals_of_a_quantum_job_are_analysed(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    (quantum,) = submit(submitting, QUANTUM)
    done = wait_for(submitting, quantum, JobState.SUCCEEDED, JobState.FAILED, seconds=120)
    assert done.state is JobState.SUCCEEDED, done.failure
    kept = next(a for a in done.artifacts if a.role == "orbitals")
    content = artifact_path(settings, done, "orbitals").read_bytes()
    asked = {"analyses": ["orbitals", "mulliken", "cubes"], "orbitals": ["HOMO"], "spacing_angstrom": 0.4}
    (job_id,) = submit(submitting, analysis(kept.path, content, **asked), batch="b2")
    record = wait_for(submitting, job_id, JobState.SUCCEEDED, JobState.FAILED, seconds=120)
    result = result_of(record)
    assert result.mulliken_charges and done.result
    assert result.mulliken_charges == pytest.approx(done.result.mulliken_charges, abs=1e-6)  # type: ignore[union-attr]
    assert result.homo_ev == pytest.approx(done.result.homo_ev, abs=1e-6)  # type: ignore[union-attr]
    assert {a.role for a in record.artifacts} == {"log", "charges", "orbital_table", "cube.HOMO"}
    assert artifact_path(settings, record, "cube.HOMO").read_text().startswith("HOMO")


def test_a_file_that_appears_while_the_attempt_waits_is_taken(
    settings: Settings, submitting: Store, start_worker: StartWorker, orbitals: bytes
) -> None:
    start_worker()
    (job_id,) = submit(submitting, analysis("files/a/orbitals.chk", orbitals))
    wait_for(submitting, job_id, JobState.RUNNING)
    put(settings, orbitals)
    record = wait_for(submitting, job_id, JobState.SUCCEEDED, JobState.FAILED, seconds=90)
    assert sum(result_of(record).hirshfeld_charges or ()) == pytest.approx(0.0, abs=1e-4)
    assert record.attempt == 1


def test_a_changed_file_fails_the_job_for_good(
    settings: Settings, submitting: Store, start_worker: StartWorker, orbitals: bytes
) -> None:
    start_worker()
    put(settings, orbitals[:-1] + b"?")
    (job_id,) = submit(submitting, analysis("files/a/orbitals.chk", orbitals))
    record = wait_for(submitting, job_id, JobState.SUCCEEDED, JobState.FAILED, seconds=60)
    assert record.state is JobState.FAILED and record.failure
    assert record.failure.error_class == "bad_input"
    assert "inputs.wavefunction" in record.failure.message
    assert "files/a/orbitals.chk" in record.failure.message
    assert record.attempt == 1


def processes(settings: Settings, name: str) -> list[psutil.Process]:
    """Find processes of this installation by a part of their command line."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = " ".join(process.info["cmdline"] or ())
        if name in line and process.is_running():
            try:
                mine = str(settings.home) in f"{process.cwd()} {line} {process.environ().get('SIMRELAY_HOME', '')}"
            except (psutil.AccessDenied, psutil.NoSuchProcess):
                continue
            if mine:
                found.append(process)
    return found


def kill_engine(settings: Settings) -> None:
    for process in processes(settings, "worker.programs.wavefunction_job"):
        process.send_signal(signal.SIGKILL)


def terminate_engine(settings: Settings) -> None:
    for process in processes(settings, "worker.programs.wavefunction_job"):
        process.send_signal(signal.SIGTERM)


def kill_warden(settings: Settings) -> None:
    for engine in processes(settings, "worker.programs.wavefunction_job"):
        parent = engine.parent()
        assert parent
        parent.send_signal(signal.SIGKILL)


@pytest.mark.parametrize(
    "blow",
    [
        pytest.param(kill_engine, marks=pytest.mark.slow),
        pytest.param(terminate_engine, marks=pytest.mark.slow),
        pytest.param(kill_warden, marks=pytest.mark.slow),
    ],
)
def test_an_analysis_whose_engine_or_warden_is_ended_begins_again_and_gives_the_same(
    settings: Settings,
    submitting: Store,
    start_worker: StartWorker,
    orbitals: bytes,
    blow: Callable[[Settings], None],
) -> None:
    start_worker(cores=1)
    put(settings, orbitals)
    (job_id,) = submit(submitting, analysis("files/a/orbitals.chk", orbitals, **LONG))
    eventually(
        lambda: processes(settings, "worker.programs.wavefunction_job") and job(submitting, job_id).progress,
        seconds=60,
        what="the analysis is under way",
    )
    blow(settings)
    record = wait_for(submitting, job_id, JobState.SUCCEEDED, JobState.FAILED, seconds=120)
    again = result_of(record)
    assert record.attempt == 2
    assert record.checkpoint is None
    (whole,) = submit(submitting, analysis("files/a/orbitals.chk", orbitals, **LONG), batch="b2")
    undisturbed = result_of(wait_for(submitting, whole, JobState.SUCCEEDED, JobState.FAILED, seconds=120))
    assert again.mulliken_charges == pytest.approx(undisturbed.mulliken_charges, abs=1e-9)
    assert again.hirshfeld_charges == pytest.approx(undisturbed.hirshfeld_charges, abs=1e-7)


@pytest.mark.slow
def test_a_worker_killed_during_an_analysis_is_replaced(
    settings: Settings, submitting: Store, start_worker: StartWorker, orbitals: bytes
) -> None:
    workers = {name: start_worker(name, cores=1) for name in ("one", "two")}
    put(settings, orbitals)
    (job_id,) = submit(submitting, analysis("files/a/orbitals.chk", orbitals, **LONG))
    eventually(lambda: job(submitting, job_id).progress, seconds=60, what="the analysis is under way")
    engines = processes(settings, "worker.programs.wavefunction_job")
    workers[job(submitting, job_id).worker.rpartition("-")[0]].kill()
    record = wait_for(submitting, job_id, JobState.SUCCEEDED, JobState.FAILED, seconds=120)
    assert sum(result_of(record).hirshfeld_charges or ()) == pytest.approx(0.0, abs=1e-4)
    assert record.attempt == 2
    lost, _ = submitting.run(listing.attempts(job_id))
    assert lost.how == "lost"
    assert not [engine for engine in engines if engine.is_running() and os.path.exists(f"/proc/{engine.pid}/exe")]
