"""ORCA jobs on real workers, ORCA's process by a stand-in: results, and what is left of them after each kind of end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.endpoint import live_endpoint
from tasks import listing
from tasks.elements import parse_xyz
from tasks.records import JobRecord, JobState
from tasks.results import QuantumResult
from tasks.settings import Settings, environment
from tasks.store import Store
from tests.conftest import eventually
from tests.integration.worker.conftest import StartWorker, artifact_path, job, submit, wait_for
from tests.stand_ins import install
from worker.detect import write_engines_toml
from worker.sessions import MARK

BENT = "3\nstretched\nO 0 0 0\nH 1.5 0 0\nH 1.8 1.4 0\n"
ENDED = (JobState.SUCCEEDED, JobState.FAILED)
#: the steps of the stand-in's optimisation at this pace: long enough to be hit in the middle
SLOW = {"pace": 0.05, "stiff": 0.5}


def wanted(**fields: object) -> dict[str, object]:
    resources = {"cores": 1, "memory_mb": 1000}
    common = {"molecule": {"xyz": BENT}, "charge": 0, "multiplicity": 1, "engine": "orca", "resources": resources}
    return {**common, "task": "optimisation", **fields}


def with_orca(settings: Settings, **how: object) -> Path:
    """Have the workers of this test offer the stand-in; give the file that counts its runs."""
    count = settings.home / "runs"
    write_engines_toml(settings.home / "engines.toml", [install.orca(settings.home / "orca", count=str(count), **how)])
    return count


def result_of(record: JobRecord) -> QuantumResult:
    assert record.state is JobState.SUCCEEDED, record.failure
    assert isinstance(record.result, QuantumResult)
    return record.result


def typed(settings: Settings, *arguments: str) -> str:
    """Give what a command prints."""
    command = [sys.executable, "-m", "tasks.command", *arguments]
    done = subprocess.run(command, env=environment(settings), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def service(settings: Settings) -> Iterator[None]:
    """The service of this installation, for its command line."""
    with (settings.home / "service.log").open("ab") as log:
        command = [sys.executable, "-m", "tasks.command", "orchestrator"]
        process = subprocess.Popen(command, env=environment(settings), stdout=log, stderr=log)
    yield
    process.kill()
    process.wait()


def programs(scratch: str, name: str) -> list[int]:
    """Find the processes of an attempt's session that run this program."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            marked = f"{MARK}={scratch}".encode() in (folder / "environ").read_bytes()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if marked and name in command:
            found.append(int(folder.name))
    return found


def scratch_name(store: Store, job_id: str) -> str:
    newest = store.run(listing.attempts(job_id))[-1]
    return f"{job_id}-{newest.attempt}-{newest.claim_id}"


def wait_for_step(store: Store, job_id: str, step: int) -> None:
    """Wait until an optimisation was at that step, and a restart point of it was kept."""

    def there() -> bool:
        record = job(store, job_id)
        reached = record.progress is not None and (record.progress.step or 0) >= step
        kept = record.checkpoint is not None and record.checkpoint.text.startswith("after optimisation step")
        return reached and kept

    eventually(there, seconds=40, what=f"optimisation step {step}")


@pytest.fixture
def whole(settings: Settings, submitting: Store, start_worker: StartWorker) -> QuantumResult:
    """The result of the same calculation that nobody disturbed; its worker stays."""
    with_orca(settings, **SLOW)
    start_worker("one", cores=1)
    (undisturbed,) = submit(submitting, wanted(), batch="undisturbed")
    return result_of(wait_for(submitting, undisturbed, *ENDED, seconds=60))


def check_that_it_went_on(store: Store, job_id: str, whole: QuantumResult, how: str) -> None:
    """Same energy, fewer cycles, from a restart point of the first attempt."""
    result = result_of(wait_for(store, job_id, *ENDED, seconds=90))
    attempts = store.run(listing.attempts(job_id))
    assert [attempt.how for attempt in attempts] == [how, "done"]
    assert attempts[1].checkpoint_from is not None
    assert result.energy_hartree == pytest.approx(whole.energy_hartree, abs=1e-6)
    assert result.scf_cycles and whole.scf_cycles
    assert result.scf_cycles < whole.scf_cycles
    assert (result.optimisation_steps or 0) < (whole.optimisation_steps or 0)


def test_a_parallel_job_leaves_results_and_neither_ranks_nor_scratch(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    count = with_orca(settings)
    start_worker("one", cores=2)
    resources = {"cores": 2, "memory_mb": 1000}
    (done,) = submit(submitting, wanted(task="optimisation_frequencies", resources=resources, solvent="water"))
    record = wait_for(submitting, done, *ENDED)
    result = result_of(record)
    assert result.energy_hartree == pytest.approx(-30.0, abs=1e-6)
    assert result.gibbs_energy_hartree == pytest.approx(result.energy_hartree + 0.003, abs=1e-7)
    assert result.level == "B3LYP/def2-SVP (RIJCOSX, C-PCM water)"
    assert {artifact.role for artifact in record.artifacts} == {"log", "input", "geometry", "orbitals", "hessian"}
    assert not [artifact for artifact in record.artifacts if artifact.path.endswith(".tmp")]
    assert "%pal nprocs 2 end" in artifact_path(settings, record, "input").read_text()
    assert not programs(scratch_name(submitting, done), "")
    assert count.read_text().splitlines() == [
        "B3LYP/G def2-SVP RIJCOSX def2/J CPCM TightSCF Opt Freq",
    ]


@pytest.mark.parametrize("victim", ["orca.py", "warden.py"])
def test_an_engine_or_warden_that_was_killed_goes_on_from_orbitals_and_geometry(
    victim: str, settings: Settings, submitting: Store, whole: QuantumResult
) -> None:
    (killed,) = submit(submitting, wanted())
    wait_for_step(submitting, killed, 4)
    (process,) = programs(scratch_name(submitting, killed), victim)
    os.kill(process, signal.SIGKILL)
    check_that_it_went_on(submitting, killed, whole, "failed" if victim == "orca.py" else "preempted")
    record = job(submitting, killed)
    assert "MORead" in artifact_path(settings, record, "input").read_text()


@pytest.mark.slow
def test_a_worker_that_was_killed_is_replaced_and_no_rank_survives(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    with_orca(settings, **SLOW)
    one = start_worker("one", cores=2)
    resources = {"cores": 2, "memory_mb": 1000}
    (killed,) = submit(submitting, wanted(resources=resources))
    wait_for_step(submitting, killed, 4)
    scratch = scratch_name(submitting, killed)
    assert len(programs(scratch, "time.sleep(600)")) == 2
    os.kill(one.process.pid, signal.SIGKILL)
    eventually(lambda: not programs(scratch, ""), seconds=15, what="all processes of the attempt are gone")
    start_worker("two", cores=2)
    record = wait_for(submitting, killed, *ENDED, seconds=90)
    again = result_of(record)
    (undisturbed,) = submit(submitting, wanted(resources=resources), batch="undisturbed")
    whole = result_of(wait_for(submitting, undisturbed, *ENDED, seconds=60))
    check_that_it_went_on(submitting, killed, whole, "lost")
    assert again.energy_hartree == pytest.approx(whole.energy_hartree, abs=1e-6)


def test_a_stopped_worker_gives_its_job_back_with_a_checkpoint(
    settings: Settings, submitting: Store, start_worker: StartWorker, whole: QuantumResult
) -> None:
    (stopped,) = submit(submitting, wanted())
    wait_for_step(submitting, stopped, 4)
    worker = next(w for w in submitting.run(listing.workers()).rows if w.name == "one")
    os.kill(worker.pid, signal.SIGTERM)
    start_worker("two", cores=1)
    check_that_it_went_on(submitting, stopped, whole, "preempted")


@pytest.mark.slow
def test_walltime_ends_an_attempt_and_the_next_goes_on(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    # A grace of 10 s is asked for; the program is told to stop that long before its walltime is over.
    with_orca(settings, pace=0.3, stiff=0.5)
    start_worker("one", cores=1)
    (limited,) = submit(submitting, wanted(resources={"cores": 1, "memory_mb": 1000, "walltime_seconds": 18}))
    result = result_of(wait_for(submitting, limited, *ENDED, seconds=120))
    attempts = submitting.run(listing.attempts(limited))
    assert [attempt.how for attempt in attempts[:1]] == ["walltime"]
    assert attempts[-1].how == "done"
    assert all(attempt.checkpoint_from for attempt in attempts[1:])
    assert result.energy_hartree == pytest.approx(-30.0, abs=1e-6)
    assert job(submitting, limited).failures == 0


@pytest.mark.slow
def test_a_damaged_checkpoint_is_passed_over_for_the_one_before(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    with_orca(settings, **SLOW)
    one = start_worker("one", cores=1)
    (killed,) = submit(submitting, wanted())
    wait_for_step(submitting, killed, 4)
    before = job(submitting, killed).checkpoint_before
    eventually(lambda: job(submitting, killed).checkpoint_before != before, what="another two checkpoints")
    one.kill()
    record = job(submitting, killed)
    assert record.checkpoint and record.checkpoint_before
    orbitals = next(file.path for file in record.checkpoint.files if file.path.endswith("job.gbw"))
    (settings.workspace / orbitals).write_bytes(b"damaged")
    start_worker("two", cores=1)
    result = result_of(wait_for(submitting, killed, *ENDED, seconds=90))
    assert result.energy_hartree == pytest.approx(-30.0, abs=1e-6)
    began = artifact_path(settings, job(submitting, killed), "input").read_text()
    assert "MORead" in began
    kept = next(file.path for file in record.checkpoint_before.files if file.path.endswith("job.xyz"))
    first = parse_xyz((settings.workspace / kept).read_text())[1]
    assert f"H  {first.x:15.8f} {first.y:15.8f}" in began


@pytest.mark.slow
def test_a_correction_survives_the_death_of_its_worker_and_is_shown(
    settings: Settings, submitting: Store, start_worker: StartWorker, service: None
) -> None:
    count = with_orca(settings, scf="slow", pace=0.25)
    one = start_worker("one", cores=1)
    (corrected,) = submit(submitting, wanted(task="single_point"))

    def slowly() -> bool:
        return count.exists() and "SlowConv" in count.read_text()

    eventually(slowly, seconds=30, what="the corrected run begins")
    assert [c.name for c in job(submitting, corrected).corrections] == ["scf_not_converged"]
    one.kill()
    start_worker("two", cores=1)
    record = wait_for(submitting, corrected, *ENDED, seconds=60)
    result_of(record)
    assert [(c.name, c.changes["scf"]) for c in record.corrections] == [("scf_not_converged", "SlowConv")]
    first, *others = count.read_text().splitlines()
    assert "SlowConv" not in first
    assert others
    assert all("SlowConv" in run for run in others)
    # The command line waits for a service that is still starting.
    eventually(lambda: live_endpoint(settings.home), seconds=40)
    info = typed(settings, "job", "info", corrected)
    assert "corrected: The SCF did not converge: SlowConv, at most 500 cycles." in info.splitlines()
    offered = json.loads(typed(settings, "engine", "list", "--json"))["engines"]
    (orca,) = (row for row in offered if row["engine"] == "orca")
    assert (orca["version"], orca["dispersion"]) == ("6.0.1", ["D3BJ", "D4"])
    assert any(worker.startswith("two-") for worker in orca["workers"])


def test_an_imaginary_mode_is_left_within_the_attempt(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    with_orca(settings, saddle=True)
    start_worker("one", cores=1)
    (saddle,) = submit(submitting, wanted(task="optimisation_frequencies"))
    record = wait_for(submitting, saddle, *ENDED)
    result = result_of(record)
    assert record.attempt == 1
    assert [c.name for c in record.corrections] == ["imaginary_mode"]
    assert result.frequencies_per_cm and min(result.frequencies_per_cm) > 0
    # The double well of the stand-in is 0.5 * 0.4**4 Eh deep.
    assert result.energy_hartree == pytest.approx(-30.0, abs=1e-6)


def test_what_no_correction_helps_fails_with_class_lines_and_remedy(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    count = with_orca(settings, scf="never")
    start_worker("one", cores=1)
    (hopeless,) = submit(submitting, wanted(task="single_point"))
    record = wait_for(submitting, hopeless, *ENDED)
    assert record.state is JobState.FAILED
    assert record.failure
    assert record.failure.error_class == "scf_not_converged"
    assert any("SCF NOT CONVERGED AFTER" in line for line in record.failure.evidence)
    assert record.failure.remedy
    assert len(record.corrections) == 2
    runs = [re.findall("SlowConv|TRAH", run) for run in count.read_text().splitlines()]
    assert runs == [[], ["SlowConv"], ["TRAH"]]
