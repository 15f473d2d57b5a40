"""Workers over the API: draining, resuming, and what cannot be."""

from __future__ import annotations

import httpx
import pytest

from tasks import listing
from tasks.store import Store
from tests.integration.api.conftest import register
from tests.integration.api.test_jobs import submit


@pytest.mark.parametrize(("finish", "state"), [(False, "stopping"), (True, "draining")])
async def test_a_worker_that_drains_gives_its_offers_back_and_takes_no_more(
    client: httpx.AsyncClient, store: Store, finish: bool, state: str
) -> None:
    register(store, queues=("program.count",), cores=1)
    (job,) = await submit(client, "a")
    done = (await client.post("/workers/w1/drain", json={"finish_current": finish})).json()
    assert done == {"worker": "w1", "answer": "ok", "state": state}
    record = store.run(listing.job(job))
    assert record
    assert record.place == "ready"
    assert (await client.get("/workers")).json()["workers"][0]["state"] == state
    assert "takes no more work" in (await client.get(f"/jobs/{job}/why")).json()["sentence"]
    assert (await client.post("/workers/w1/drain", json={})).json()["answer"] == "already"


async def test_a_worker_that_drained_takes_work_again_and_one_that_stops_does_not(
    client: httpx.AsyncClient, store: Store
) -> None:
    register(store, queues=("program.count",), cores=1)
    (job,) = await submit(client, "a")
    await client.post("/workers/w1/drain", json={"finish_current": True})
    assert (await client.post("/workers/w1/resume")).json()["answer"] == "ok"
    assert (await client.post("/workers/w1/resume")).json()["answer"] == "already"
    record = store.run(listing.job(job))
    assert record
    assert record.place == "offered"
    await client.post("/workers/w1/drain", json={})
    refused = await client.post("/workers/w1/resume")
    assert (refused.status_code, refused.json()["kind"]) == (409, "Conflict")


async def test_a_worker_is_found_by_its_id_or_an_unambiguous_name(client: httpx.AsyncClient, store: Store) -> None:
    assert (await client.post("/workers/w1/drain", json={})).status_code == 404
    for name in ("w1", "w2"):
        register(store, name, queues=("program.count",))
        store.client.hset(f"{store.settings.key_prefix}worker:{name}", "name", "node")
    refused = await client.post("/workers/node/drain", json={})
    assert (refused.status_code, "w1, w2" in refused.json()["error"] or "w2, w1" in refused.json()["error"]) == (
        409,
        True,
    )
    assert (await client.post("/workers/w2/drain", json={})).json()["worker"] == "w2"
