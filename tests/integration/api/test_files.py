"""Files over the API, and the inputs of jobs turned into exact files at the gate."""

from __future__ import annotations

import hashlib
from typing import Any

import httpx
import pytest

from orchestrator.api import Api
from orchestrator.dispatch import job_id
from tasks import jobs, listing
from tasks.jobs import Token
from tasks.records import JobState
from tasks.results import Artifact, Outcome, QuantumResult
from tasks.settings import Settings
from tasks.specs import parse_spec
from tasks.store import Store
from tests.integration.api.conftest import register

MOLDEN = b"[Molden Format]\n"
ORBITALS = Artifact(path="jobs/q/orbitals.chk", size_bytes=3, sha256="a" * 64, role="orbitals")
WATER = {"molecule": {"smiles": "O", "name": "water"}, "method": "HF", "basis": "STO-3G"}


def analysis(reference: object, **more: Any) -> dict[str, Any]:
    return {"kind": "wavefunction", "inputs": {"wavefunction": reference}, **more}


def body(*specs: dict[str, Any], batch: str = "b2") -> dict[str, Any]:
    return {"id": batch, "owner": "ana", "jobs": list(specs)}


async def quantum_job(client: httpx.AsyncClient, store: Store, batch: str, *artifacts: Artifact) -> str:
    """Have a quantum job succeed with these artifacts."""
    answer = await client.post("/batches", json=body(WATER, batch=batch))
    assert answer.status_code == 200, answer.text
    job = job_id(batch, 0)
    record = store.run(listing.job(job))
    assert record
    claimed = store.run(jobs.claim(job, record.worker, f"claim-{batch}", record.task_id, store.settings))
    assert claimed.token
    outcome = Outcome(
        job_id=job,
        attempt=claimed.token.attempt,
        claim_id=claimed.token.claim_id,
        succeeded=True,
        result=QuantumResult(energy_hartree=-75.0, level="HF/STO-3G"),
        artifacts=artifacts,
    )
    token = Token(job=job, attempt=claimed.token.attempt, claim_id=claimed.token.claim_id)
    store.run(jobs.finish(token, JobState.SUCCEEDED, store.settings, outcome=outcome))
    return job


@pytest.fixture
def offered(store: Store) -> None:
    register(store, cores=8, queues=("pyscf", "xtb", "wavefunction"))


async def test_a_file_is_taken_once_and_named_by_its_content(client: httpx.AsyncClient, api: Api) -> None:
    first = await client.put("/files/orbitals.molden", content=MOLDEN)
    assert first.status_code == 200, first.text
    taken = first.json()
    assert taken["file"] == hashlib.sha256(MOLDEN).hexdigest()
    assert (api.settings.workspace / taken["path"]).read_bytes() == MOLDEN
    assert (await client.put("/files/orbitals.molden", content=MOLDEN)).json() == taken
    whole = [path for path in (api.settings.workspace / "files").rglob("*") if path.is_file()]
    assert len(whole) == 1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (".hidden", MOLDEN, "is not a name"),
        ("empty.molden", b"", "is empty"),
        ("large.molden", b"x" * 2000, "is too large"),
    ],
)
async def test_a_file_that_cannot_be_taken_leaves_nothing(
    client: httpx.AsyncClient, api: Api, name: str, content: bytes, said: str
) -> None:
    object.__setattr__(api, "settings", api.settings.model_copy(update={"max_file_bytes": 1000}))
    answer = await client.put(f"/files/{name}", content=content)
    assert answer.status_code == 422
    assert said in answer.json()["error"]
    assert [path for path in (api.settings.workspace / "files").rglob("*") if path.is_file()] == []


@pytest.mark.usefixtures("offered")
async def test_references_become_exact_files(client: httpx.AsyncClient, store: Store) -> None:
    job = await quantum_job(client, store, "b1", ORBITALS)
    taken = (await client.put("/files/mine.molden", content=MOLDEN)).json()
    references = ({"job": job, "role": "orbitals"}, {"job": job}, {"file": taken["file"]})
    answer = await client.post("/batches", json=body(*map(analysis, references)))
    assert answer.status_code == 200, answer.text
    for index, path in enumerate((ORBITALS.path, ORBITALS.path, taken["path"])):
        record = store.run(listing.job(job_id("b2", index)))
        assert record
        spec = parse_spec(record.spec)
        assert spec.inputs["wavefunction"].path == path
        assert record.engine == "wavefunction"
    exact = store.run(listing.job(job_id("b2", 0)))
    assert exact and exact.spec["inputs"]["wavefunction"] == ORBITALS.model_dump(exclude={"role"})


@pytest.mark.usefixtures("offered")
async def test_every_reference_that_leads_nowhere_is_told_and_nothing_is_queued(
    client: httpx.AsyncClient, store: Store
) -> None:
    log = ORBITALS.model_copy(update={"role": "log"})
    without = await quantum_job(client, store, "b1", log)
    await client.post("/batches", json=body(WATER, batch="b3"))
    references = (
        {"job": "nobody-0"},
        {"job": job_id("b3", 0)},
        {"job": without},
        {"job": without, "role": "cube"},
        {"file": "0" * 64},
        {"file": "../../etc/passwd"},
        {"job": without, "file": "0" * 64},
        "orbitals.molden",
    )
    answer = await client.post("/batches", json=body(*map(analysis, references)))
    assert answer.status_code == 422
    problems = answer.json()["problems"]
    said = (
        "is not a job",
        "is a job that is QUEUED",
        "without an artifact of orbitals; it has log",
        "without an artifact of the role 'cube'; it has log",
        "is not a file in the workspace",
        "is not the id of a file",
        "names no file",
        "names no file",
    )
    assert [problem["row"] for problem in problems] == list(range(len(references)))
    for problem, expected in zip(problems, said, strict=True):
        assert expected in problem["problem"]
        assert (problem["field"], bool(problem["remedy"])) == ("inputs.wavefunction", True)
    assert (await client.get("/batches/b2")).status_code == 404


@pytest.mark.usefixtures("offered")
async def test_the_last_job_of_a_request_is_its_owner_s_newest_with_orbitals(
    client: httpx.AsyncClient, store: Store, settings: Settings
) -> None:
    request = {"id": "r1", "request": "Plot the LUMO of the last job", "owner": "ana", "dry_run": True}
    nothing = await client.post("/runs", json=request)
    assert nothing.status_code == 422
    assert "none that succeeded and left orbitals" in nothing.json()["error"]
    newest = ORBITALS.model_copy(update={"path": "jobs/q/newest.chk"})
    await quantum_job(client, store, "b1", ORBITALS)
    job = await quantum_job(client, store, "b4", newest)
    await quantum_job(client, store, "b5", ORBITALS.model_copy(update={"role": "log"}))
    planned = (await client.post("/runs", json=request)).json()
    (analysis_step, _) = planned["steps"]
    (shown,) = analysis_step["jobs"]
    assert shown["source_job"] == job
    assert shown["spec"]["inputs"]["wavefunction"]["path"] == newest.path
    assert shown["spec"]["analyses"] == ["pictures"]
    taken = (await client.put("/files/mine.molden", content=MOLDEN)).json()
    of_file = {**request, "request": f"Plot the LUMO of file {taken['file']}"}
    (shown,) = (await client.post("/runs", json=of_file)).json()["steps"][0]["jobs"]
    assert shown["spec"]["inputs"]["wavefunction"]["path"] == taken["path"]
    assert shown["spec"]["label"] == "mine"
    other = await client.post("/runs", json={**request, "owner": "ben"})
    assert other.status_code == 422
