"""Batches over the API: checked as a whole, made once."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from orchestrator.api import Api
from orchestrator.dispatch import job_id
from tasks import batches, jobs, listing
from tasks.batches import CHUNK
from tasks.jobs import Token
from tasks.records import JobState
from tasks.results import Outcome, ProgramResult
from tasks.settings import Settings
from tasks.store import Store
from tests.integration.api.conftest import register

WATER = {"molecule": {"smiles": "O", "name": "water"}, "method": "GFN2-xTB"}
METHANE = {"molecule": {"smiles": "C"}, "method": "GFN2-xTB"}
COUNT = {"program": "count", "parameters": {"steps": 3}}


def batch(*specs: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Give the body of a batch."""
    return {"id": "b1", "owner": "ana", "jobs": list(specs), **more}


async def nothing_is_queued(client: httpx.AsyncClient) -> bool:
    """Tell whether neither a batch nor a job was made."""
    rows = (await client.get("/batches")).json()["batches"], (await client.get("/jobs")).json()["jobs"]
    return rows == ([], [])


async def test_a_batch_is_completed_and_queued(client: httpx.AsyncClient, store: Store) -> None:
    register(store, queues=("xtb",))
    answer = await client.post("/batches", json=batch(WATER, METHANE, label="two"))
    assert answer.status_code == 200, answer.text
    assert answer.json()["answer"] == "created"
    shown = (await client.get("/batches/b1")).json()["batch"]
    assert (shown["count"], shown["open"], shown["sealed"], shown["label"]) == (2, 2, True, "two")
    job = (await client.get(f"/jobs/{job_id('b1', 0)}")).json()["job"]
    assert job["spec"]["charge"] == 0
    assert job["spec"]["multiplicity"] == 1
    assert job["spec"]["engine"] == "xtb"
    assert job["spec"]["molecule"]["xyz"].startswith("3\n")
    assert job["label"] == "water"


async def test_sending_it_twice_makes_nothing_twice(client: httpx.AsyncClient, store: Store) -> None:
    register(store)
    first = await client.post("/batches", json=batch(WATER, METHANE))
    second = await client.post("/batches", json=batch(WATER, METHANE))
    assert (first.json()["answer"], second.json()["answer"]) == ("created", "exists")
    assert len((await client.get("/jobs")).json()["jobs"]) == 2


async def test_the_same_id_for_other_jobs_is_a_conflict(client: httpx.AsyncClient, store: Store) -> None:
    register(store)
    await client.post("/batches", json=batch(WATER))
    answer = await client.post("/batches", json=batch(METHANE))
    assert answer.status_code == 409
    assert answer.json()["kind"] == "Conflict"
    assert len((await client.get("/jobs")).json()["jobs"]) == 1


async def test_every_problem_of_every_job_is_told_and_nothing_is_queued(
    client: httpx.AsyncClient, store: Store
) -> None:
    register(store)
    answer = await client.post(
        "/batches",
        json=batch(
            WATER,
            {"molecule": {"smiles": ""}, "method": "GFN2-xTB"},
            {"molecule": {"smiles": "C1CC"}, "method": "GFN2-xTB"},
            {"molecule": {"smiles": "[CH3]"}, "multiplicity": 1, "method": "GFN2-xTB"},
            {"molecule": {"smiles": "C[N+](C)(C)C"}, "charge": 0, "method": "GFN2-xTB"},
            {**WATER, "resources": {"cores": 0}, "task": "nmr"},
            {**WATER, "resources": {"walltime": "3 bananas"}},
            {**WATER, "method": "B4LYP"},
            {**WATER, "method": "B3LYP", "basis": "def3-XYZ"},
            {"molecule": {"smiles": "C" * 300}, "method": "GFN2-xTB"},
        ),
    )
    assert answer.status_code == 422
    body = answer.json()
    assert body["exit_code"] == 2
    found = [(problem["row"], problem["field"]) for problem in body["problems"]]
    assert found == [
        (1, "molecule"),
        (2, "molecule.smiles"),
        (3, "multiplicity"),
        (4, "charge"),
        (5, "resources.cores"),
        (5, "task"),
        (6, "resources.walltime"),
        (7, "method"),
        (8, "basis"),
        (9, "molecule.smiles"),
    ]
    assert all(problem["problem"] and problem["remedy"] for problem in body["problems"])
    assert await nothing_is_queued(client)


async def test_an_engine_that_nobody_ever_declared_is_refused(client: httpx.AsyncClient, store: Store) -> None:
    register(store, queues=("xtb",))
    wanted = {"molecule": {"smiles": "O"}, "method": "B3LYP"}
    answer = await client.post("/batches", json=batch(wanted))
    assert answer.status_code == 422
    assert answer.json()["problems"][0]["value"] == "auto"
    assert "--wait-for-worker" in answer.json()["error"]
    assert await nothing_is_queued(client)
    accepted = await client.post("/batches", json=batch(wanted, wait_for_worker=True))
    assert accepted.status_code == 200
    why = (await client.get(f"/jobs/{job_id('b1', 0)}/why")).json()["sentence"]
    assert why == "No live worker offers pyscf, and none ever has; 1 other worker is alive."


async def test_a_tag_counts_as_part_of_what_is_declared(client: httpx.AsyncClient, store: Store) -> None:
    register(store, queues=("xtb", "xtb@big"))
    assert (await client.post("/batches", json=batch({**WATER, "tag": "big"}))).status_code == 200
    refused = await client.post("/batches", json=batch({**WATER, "tag": "gpu"}, id="b2"))
    assert refused.status_code == 422


async def test_parameters_of_a_program_are_checked_against_its_declaration(
    client: httpx.AsyncClient, store: Store
) -> None:
    register(store, queues=("program.count",))
    assert (await client.post("/batches", json=batch(COUNT))).status_code == 200
    wrong: list[dict[str, Any]] = [
        {"program": "count", "parameters": {"steps": 10}},
        {"program": "count", "parameters": {"steps": "3; rm"}},
        {"program": "count", "parameters": {}},
        {"program": "count", "parameters": {"steps": 1, "more": 2}},
        {"program": "other"},
    ]
    answer = await client.post("/batches", json=batch(*wrong, id="b2"))
    assert answer.status_code == 422
    fields = [problem["field"] for problem in answer.json()["problems"]]
    assert fields == [*["parameters.steps"] * 3, "parameters.more", "program"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"jobs": []}, "jobs"),
        ({"id": "../up"}, "id"),
        ({"owner": "a b"}, "owner"),
        ({"priority": 10}, "priority"),
        ({"jobs": [3]}, "jobs.0"),
        ({"colour": "red"}, "colour"),
    ],
)
async def test_a_malformed_batch_is_refused(client: httpx.AsyncClient, change: dict[str, Any], field: str) -> None:
    answer = await client.post("/batches", json=batch(WATER) | change)
    assert answer.status_code == 422
    assert answer.json()["field"] == field
    assert await nothing_is_queued(client)


async def test_a_dry_run_checks_and_queues_nothing(client: httpx.AsyncClient, store: Store) -> None:
    register(store)
    answer = await client.post("/batches", json=batch(WATER, METHANE, dry_run=True))
    assert answer.json()["answer"] == "valid"
    assert answer.json()["batch"]["count"] == 2
    assert await nothing_is_queued(client)


async def test_too_many_jobs_are_refused(client: httpx.AsyncClient, api: Api, store: Store) -> None:
    register(store)
    api.intake.settings = api.settings.model_copy(update={"max_batch_jobs": 2})
    answer = await client.post("/batches", json=batch(WATER, WATER, WATER))
    assert answer.status_code == 422
    assert "SIMRELAY_MAX_BATCH_JOBS" in answer.json()["error"]


async def test_results_come_page_by_page(client: httpx.AsyncClient, store: Store, settings: Settings) -> None:
    # Given three jobs, of which the second has ended
    register(store, queues=("program.count",), cores=8)
    await client.post("/batches", json=batch(COUNT, COUNT, COUNT))
    done = job_id("b1", 1)
    record = store.run(listing.job(done))
    assert record
    claimed = store.run(jobs.claim(done, record.worker, "c1", record.task_id, settings))
    assert claimed.token
    outcome = Outcome(job_id=done, attempt=1, claim_id="c1", succeeded=True, result=ProgramResult(values={"sum": "6"}))
    store.run(jobs.finish(Token(job=done, attempt=1, claim_id="c1"), JobState.SUCCEEDED, settings, outcome=outcome))
    # When its results are read two rows at a time
    first = (await client.get("/batches/b1/results?count=2")).json()
    second = (await client.get(f"/batches/b1/results?count=2&cursor={first['cursor']}")).json()
    # Then all are there once, and the values of the one that ended
    rows = {row["index"]: row for row in [*first["results"], *second["results"]]}
    assert sorted(rows) == [0, 1, 2]
    assert second["cursor"] == ""
    assert rows[1]["result"]["values"] == {"sum": "6"}
    assert [rows[i]["state"] for i in range(3)] == ["QUEUED", "SUCCEEDED", "QUEUED"]


async def test_cancelling_a_batch_twice(client: httpx.AsyncClient, store: Store) -> None:
    register(store)
    await client.post("/batches", json=batch(WATER, METHANE))
    first = (await client.post("/batches/b1/cancel")).json()
    second = (await client.post("/batches/b1/cancel")).json()
    assert (first["answer"], first["batch"]["cancelled"]) == ("ok", 2)
    assert second["answer"] in ("already", "ended")


async def test_a_batch_that_was_cut_off_is_finished_as_it_was_begun(
    client: httpx.AsyncClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(store, queues=("orca",))
    spec = {"molecule": {"smiles": "O"}, "method": "B3LYP", "basis": "def2-SVP"}
    body = batch(*[spec] * (CHUNK + 1))
    submit, calls = batches.submit, iter((False, True))

    def cut_off(*arguments: Any, **more: Any) -> Any:
        if next(calls):
            raise RuntimeError("cut off")
        return submit(*arguments, **more)

    with monkeypatch.context() as patch:
        patch.setattr(batches, "submit", cut_off)
        assert (await client.post("/batches", json=body)).status_code == 500
    # By now another engine could be had, which new jobs would go to.
    register(store, "w2", queues=("pyscf",))
    answer = await client.post("/batches", json=body)
    assert (answer.status_code, answer.json()["batch"]["sealed"]) == (200, True)
    rows = (await client.get("/batches/b1/results")).json()["results"]
    assert (len(rows), {row["engine"] for row in rows}) == (CHUNK + 1, {"orca"})
