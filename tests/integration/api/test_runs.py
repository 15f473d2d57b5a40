"""Runs over the API: planned before anything is queued, made once, seen while they go."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import httpx
import pytest

from orchestrator.api import Api, make_api
from orchestrator.holder import Holder
from tasks.store import Store
from tests.integration.api.conftest import TOKEN, register
from tests.integration.orchestrator.conftest import until

REQUEST = "Compare the HOMO and LUMO energies of water and methane with GFN2-xTB"


def run(**more: object) -> dict[str, object]:
    """Give the body of a run."""
    return {"id": "r1", "owner": "ana", "request": REQUEST, **more}


async def runs(client: httpx.AsyncClient) -> list[str]:
    """Give the ids of all runs."""
    return [one["id"] for one in (await client.get("/runs")).json()["runs"]]


async def test_a_dry_run_plans_and_makes_nothing(client: httpx.AsyncClient, store: Store) -> None:
    register(store, queues=("xtb",))
    planned = (await client.post("/runs", json=run(dry_run=True))).json()
    assert planned["queued"] == 0
    assert [step["agent"] for step in planned["steps"]] == ["chemistry_agent", "qm_agent", "summary_agent"]
    assert await runs(client) == []


@pytest.mark.parametrize("request_text", ["", "   ", "make me a sandwich", "HOMO of unobtainium", "HOMO of 'C1CC'"])
async def test_a_request_that_cannot_be_planned_makes_no_run(
    client: httpx.AsyncClient, store: Store, request_text: str
) -> None:
    register(store, queues=("xtb", "pyscf"))
    answer = await client.post("/runs", json=run(request=request_text))
    assert answer.status_code == 422, answer.text
    body = answer.json()
    assert body["exit_code"] == 2
    assert body["field"]
    assert body["remedy"]
    assert await runs(client) == []


async def test_an_engine_that_nobody_ever_declared_makes_no_run(client: httpx.AsyncClient) -> None:
    answer = await client.post("/runs", json=run())
    assert answer.status_code == 422
    assert answer.json()["field"] == "engine"
    assert await runs(client) == []
    assert (await client.post("/runs", json=run(wait_for_worker=True))).status_code == 200


async def test_the_same_id_makes_one_run_and_another_request_is_a_conflict(
    client: httpx.AsyncClient, store: Store
) -> None:
    register(store, queues=("xtb",))
    first = (await client.post("/runs", json=run())).json()
    again = (await client.post("/runs", json=run())).json()
    assert (first["answer"], again["answer"]) == ("created", "exists")
    other = await client.post("/runs", json=run(request=REQUEST.replace("methane", "ethanol")))
    assert other.status_code == 409
    assert await runs(client) == ["r1"]


async def test_the_same_request_attaches_unless_a_new_run_is_forced(client: httpx.AsyncClient, store: Store) -> None:
    register(store, queues=("xtb",))
    await client.post("/runs", json=run())
    attached = (await client.post("/runs", json=run(id="r2"))).json()
    assert attached == {"run": "r1", "answer": "attached"}
    forced = (await client.post("/runs", json=run(id="r3", new=True))).json()
    assert forced == {"run": "r3", "answer": "created"}
    other = (await client.post("/runs", json=run(id="r4", owner="bob"))).json()
    assert other["answer"] == "created"


async def test_a_run_is_seen_with_its_plan_batches_and_jobs(client: httpx.AsyncClient, api: Api, store: Store) -> None:
    # Given a run that nobody holds yet: its record is there, its state is not
    register(store, queues=("xtb",))
    await client.post("/runs", json=run())
    seen = (await client.get("/runs/r1")).json()
    assert (seen["run"]["state"], seen["state"], seen["jobs"]) == ("QUEUED", None, [])
    # When an orchestrator takes it
    holder = Holder(api.settings, api.store, "o1")
    stop = asyncio.Event()
    task = asyncio.create_task(holder.run(stop))

    async def waits() -> bool:
        return bool((await client.get("/runs/r1")).json()["run"]["state"] == "WAITING")

    await until(waits, what="the run waits for its jobs")
    # Then plan, batches and jobs are shown
    seen = (await client.get("/runs/r1")).json()
    assert [step["status"] for step in seen["state"]["plan"]["steps"]] == ["done", "running", "pending"]
    assert [(batch["count"], batch["open"]) for batch in seen["batches"]] == [(2, 2)]
    assert [job["label"] for job in seen["jobs"]] == ["water", "methane"]
    assert seen["workspace"] == str(api.settings.workspace)
    # And a cancel ends it with its jobs, once
    assert (await client.post("/runs/r1/cancel")).json()["answer"] == "ok"

    async def ended() -> bool:
        return bool((await client.get("/runs/r1")).json()["run"]["state"] == "CANCELLED")

    await until(ended, what="the run is cancelled")
    assert (await client.post("/runs/r1/cancel")).json()["answer"] == "ended"
    stop.set()
    await task


@pytest.mark.parametrize(
    ("more", "status"),
    [({}, 200), ({"dry_run": True}, 422), ({"options": {"model": False}}, 422), ({"request": "  "}, 422)],
)
async def test_what_a_language_model_could_read_is_left_to_the_run(
    api: Api, store: Store, more: dict[str, object], status: int
) -> None:
    register(store, queues=("xtb",))
    with_model = api.settings.model_copy(update={"model_url": "http://127.0.0.1:1/v1", "model": "m"})
    transport = httpx.ASGITransport(app=make_api(replace(api, settings=with_model)), raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as caller:
        answer = await caller.post("/runs", json=run(**{"request": "how tightly does it hold on?", **more}))
        wrong = await caller.post("/runs", json=run(id="r2", request="HOMO of 'C1CC' with GFN2-xTB"))
    assert answer.status_code == status, answer.text
    assert wrong.status_code == 422, "a value that is wrong is refused whoever reads it"
