"""Runs of the chemistry agent: names looked up in a stand-in for PubChem, and the molecule of an earlier job."""

from __future__ import annotations

from orchestrator.agents import AGENTS
from orchestrator.planning.decide import plan_request
from tasks import listing
from tasks.records import JobState
from tasks.settings import Settings
from tasks.store import Store
from tests.integration.orchestrator.conftest import create, holding, run_in
from tests.integration.orchestrator.test_analysing import WATER
from tests.integration.worker.conftest import StartWorker, submit, wait_for
from tests.model.pubchem import StandInPubChem


async def test_a_name_is_looked_up_once_and_marked_in_state_answer_and_report(
    settings: Settings, submitting: Store
) -> None:
    create(submitting, "molar mass and CAS number of caffeine")
    with StandInPubChem() as server:
        found = settings.model_copy(update={"pubchem_url": server.url})
        async with holding(found, agents=AGENTS, plan=plan_request) as holder:
            record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED", seconds=60)
            state = await holder.view("r1")
        # Name and synonyms when it was planned, InChIKey and synonyms in its step.
        assert [next(iter(seen.body)) for seen in server.seen] == ["name", "cid", "inchikey", "cid"]
    assert record.state == "SUCCEEDED", record.error
    (caffeine,) = state.species
    assert caffeine.source.startswith("PubChem CID 2519, ")
    assert [one.name for one in state.looked_up] == ["caffeine"]
    assert f"caffeine was looked up: {caffeine.source}" in state.history
    assert "CAS number of caffeine: 58-08-2 (PubChem CID 2519" in record.answer
    report = (settings.workspace / "runs/r1/report.md").read_text()
    assert f"its structure is from {caffeine.source}" in report
    assert submitting.run(listing.jobs(run="r1")).rows == ()


async def test_without_a_network_the_run_fails_soon_and_says_what_to_do(settings: Settings, submitting: Store) -> None:
    create(submitting, "HOMO of caffeine")
    found = settings.model_copy(update={"pubchem_url": "http://127.0.0.1:9"})
    async with holding(found, agents=AGENTS, plan=plan_request) as holder:
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED", seconds=20)
    assert record.state == "FAILED"
    assert "'caffeine'" in record.error
    assert "PubChem could not be reached at 127.0.0.1:9. Give its SMILES in quotes" in record.error


async def test_what_is_asked_about_the_molecule_of_an_earlier_job_is_done_beside_its_analysis(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    # Given a job whose molecule has a SMILES
    start_worker()
    molecule = {**WATER["molecule"], "smiles": "O"}  # type: ignore[dict-item]
    (quantum,) = submit(submitting, {**WATER, "molecule": molecule, "method": "HF", "basis": "STO-3G"})
    done = wait_for(submitting, quantum, JobState.SUCCEEDED, JobState.FAILED, seconds=120)
    assert done.state is JobState.SUCCEEDED, done.failure
    # When its charges are asked for, and its SELFIES, picture and hydrogens
    create(
        submitting, "Hirshfeld charges of the last job, and then its SELFIES, a 2D picture and the number of hydrogens"
    )
    async with holding(settings, agents=AGENTS, plan=plan_request) as holder:
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED", seconds=150)
        state = await holder.view("r1")
    # Then all of it is in the answer or the report, and nothing was computed but the analysis
    assert record.state == "SUCCEEDED", record.error
    assert "water: SELFIES [O]" in record.answer
    assert "Atoms of water: 2 H, 1 O" in record.answer
    assert "Analysed the orbitals of water" in record.answer
    assert state.species == ()
    assert (settings.workspace / "runs/r1/figures/molecules-2.png").read_bytes().startswith(b"\x89PNG")
    assert len(submitting.run(listing.jobs(run="r1")).rows) == 1


async def test_a_job_that_is_none_is_refused_with_its_id(settings: Settings, submitting: Store) -> None:
    create(submitting, "SELFIES of job 3f2a1b2c3d4e5f60718293a4b5c6d7e8")
    async with holding(settings, agents=AGENTS, plan=plan_request) as holder:
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED", seconds=30)
    assert record.state == "FAILED"
    assert "'3f2a1b2c3d4e5f60718293a4b5c6d7e8' is not a job" in record.error
