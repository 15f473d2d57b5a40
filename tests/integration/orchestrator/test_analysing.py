"""A run that analyses an earlier job: from the request in words to charges in the report, with the real agents."""

from __future__ import annotations

import pytest

from orchestrator.agents import AGENTS
from orchestrator.planning.decide import plan_request
from tasks import listing
from tasks.batches import Owner
from tasks.records import JobState
from tasks.results import WavefunctionResult
from tasks.settings import Settings
from tasks.store import Store
from tests.integration.orchestrator.conftest import create, holding, run_in
from tests.integration.worker.conftest import StartWorker, submit, wait_for

#: water of the G2 set
WATER: dict[str, object] = {
    "molecule": {"xyz": "3\nwater\nO 0 0 0.119262\nH 0 0.763239 -0.477047\nH 0 -0.763239 -0.477047\n", "name": "water"},
    "charge": 0,
    "multiplicity": 1,
    "method": "B3LYP",
    "basis": "def2-SVP",
    "engine": "pyscf",
}
REQUEST = "Hirshfeld charges of the last job"


async def test_charges_of_the_last_job_are_computed_from_its_orbitals_and_reported(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    (quantum,) = submit(submitting, WATER)
    (_,) = submit(submitting, {**WATER, "method": "HF", "basis": "STO-3G"}, batch="b2", owner=Owner(owner="bob"))
    done = wait_for(submitting, quantum, JobState.SUCCEEDED, JobState.FAILED, seconds=120)
    assert done.state is JobState.SUCCEEDED, done.failure
    orbitals = next(artifact for artifact in done.artifacts if artifact.role == "orbitals")
    create(submitting, REQUEST)
    async with holding(settings, agents=AGENTS, plan=plan_request) as holder:
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED", seconds=150)
        assert record.state == "SUCCEEDED", record.error
        state = await holder.view("r1")
    # One job, of exactly that file.
    (analysis,) = submitting.run(listing.jobs(run="r1")).rows
    assert (analysis.engine, analysis.owner) == ("wavefunction", "ana")
    source = analysis.spec["inputs"]["wavefunction"]
    assert (source["path"], source["sha256"]) == (orbitals.path, orbitals.sha256)
    assert isinstance(analysis.result, WavefunctionResult)
    charges = analysis.result.hirshfeld_charges
    # The oxygen of water by horton-part, as in the unit test of the engine.
    assert charges and charges[0] == pytest.approx(-0.3175, abs=0.008)
    assert sum(charges) == pytest.approx(0.0, abs=1e-3)
    # The same number in the table of the finding and in the report.
    table = next(finding.table for finding in state.findings if finding.table)
    shown = f"{charges[0]:.4f}".replace("-", "−")
    assert table.rows[0] == ("water", "O1", shown)
    report = (settings.workspace / "runs/r1/report.md").read_text()
    assert f"| water | O1 | {shown} |" in report
    # And what the orbitals are.
    assert "Analysed the orbitals of water, B3LYP/def2-SVP (density fitting)." in report
    assert "water, B3LYP/def2-SVP" in record.answer


async def test_without_an_earlier_job_of_its_owner_the_run_says_what_is_missing(
    settings: Settings, submitting: Store
) -> None:
    create(submitting, REQUEST)
    async with holding(settings, agents=AGENTS, plan=plan_request) as holder:
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED", "NEEDS_PERSON", seconds=60)
    assert record.state == "FAILED"
    assert "ana has none that succeeded and left orbitals" in record.error
    assert submitting.run(listing.jobs(run="r1")).rows == ()
