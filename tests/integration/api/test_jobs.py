"""Jobs over the API: listing, searching, logs, why, cancel."""

from __future__ import annotations

import json

import httpx
import pytest

from orchestrator.dispatch import job_id
from tasks import jobs, listing
from tasks.settings import Settings
from tasks.store import Store
from tasks.workspace import attempt_folder
from tests.integration.api.conftest import register


async def submit(client: httpx.AsyncClient, *labels: str, batch: str = "b1", cores: int = 1) -> list[str]:
    """Submit one job of the program ``count`` for each label; give their ids."""
    specs = [
        {"program": "count", "parameters": {"steps": 3}, "label": label, "resources": {"cores": cores}}
        for label in labels
    ]
    answer = await client.post("/batches", json={"id": batch, "owner": "ana", "jobs": specs})
    assert answer.status_code == 200, answer.text
    return [job_id(batch, index) for index in range(len(labels))]


async def test_listing_by_state_and_page(client: httpx.AsyncClient, store: Store) -> None:
    register(store, queues=("program.count",))
    ids = await submit(client, "a", "b", "c")
    first = (await client.get("/jobs?state=QUEUED&count=2")).json()
    second = (await client.get(f"/jobs?state=QUEUED&count=2&cursor={first['cursor']}")).json()
    assert [job["id"] for job in first["jobs"] + second["jobs"]] == ids[::-1]
    assert second["cursor"] == ""
    assert "spec" not in first["jobs"][0]
    assert (await client.get("/jobs?owner=nobody")).json()["jobs"] == []
    assert len((await client.get("/jobs?owner=ana&queue=program.count")).json()["jobs"]) == 3


async def test_searching_by_words_of_the_label(client: httpx.AsyncClient, store: Store) -> None:
    register(store, queues=("program.count",))
    await submit(client, "tetramethylammonium in water", "benzene", "water dimer", "a-b (c) 'd' | @owner:{x}")

    for words, count in (("water", 2), ("wat", 2), ("WATER dimer", 1), ("ammonium", 0), ("a b", 1), ("@owner:{x}", 1)):
        found = (await client.get("/jobs", params={"search": words})).json()
        assert (found["total"], len(found["jobs"])) == (count, count), words
        assert found["incomplete"] == ""
    nobody = await client.get("/jobs", params={"search": "water", "owner": "nobody"})
    assert nobody.json()["jobs"] == []


async def test_searching_by_the_range_of_a_result(client: httpx.AsyncClient, store: Store, settings: Settings) -> None:
    register(store, queues=("program.count",))
    ids = await submit(client, "low", "high", "none")
    for job, energy in zip(ids, (-12.5, -6.25), strict=False):
        store.client.hset(f"{settings.key_prefix}job:{job}", "homo_ev", repr(energy))
    for limits, labels in (("-13..-12", ["low"]), ("..-6.25", ["high", "low"]), ("-6..", [])):
        found = (await client.get("/jobs", params={"range": f"homo_ev:{limits}"})).json()
        assert sorted(job["label"] for job in found["jobs"]) == labels, limits


async def test_an_index_that_missed_a_job_says_so(client: httpx.AsyncClient, store: Store, settings: Settings) -> None:
    register(store, queues=("program.count",))
    ids = await submit(client, "one", "two")
    store.client.hset(f"{settings.key_prefix}job:{ids[0]}", "homo_ev", "not a number")
    found = (await client.get("/jobs", params={"search": "two"})).json()
    assert "could not be indexed" in found["incomplete"]


async def test_the_log_is_of_the_newest_attempt(client: httpx.AsyncClient, store: Store, settings: Settings) -> None:
    register(store, queues=("program.count",))
    (job,) = await submit(client, "one")
    assert (await client.get(f"/jobs/{job}/log")).status_code == 404
    record = store.run(listing.job(job))
    assert record
    store.run(jobs.claim(job, "w1", "c0ffee", record.task_id, settings))
    assert "written nothing" in (await client.get(f"/jobs/{job}/log")).json()["error"]
    folder = attempt_folder(settings.workspace, job, 1, "c0ffee")
    folder.mkdir(parents=True)
    (folder / "output.log").write_text("".join(f"line {i}\n" for i in range(1000)))
    log = (await client.get(f"/jobs/{job}/log?lines=3")).json()
    assert log["text"].splitlines() == ["line 997", "line 998", "line 999"]
    assert (await client.get(f"/jobs/{job}/log?attempt=2")).status_code == 404
    detail = (await client.get(f"/jobs/{job}")).json()
    assert [attempt["claim_id"] for attempt in detail["attempts"]] == ["c0ffee"]


@pytest.mark.parametrize(
    ("queues", "cores", "sentence"),
    [
        (("program.count",), 4, "It asks for 4 cores, and no worker that offers program.count has more than 2."),
        (("program.count",), 2, "It was"),
    ],
)
async def test_why_a_job_has_not_started(
    client: httpx.AsyncClient, store: Store, queues: tuple[str, ...], cores: int, sentence: str
) -> None:
    register(store, queues=queues, cores=2)
    (job,) = await submit(client, "one", cores=cores)
    why = (await client.get(f"/jobs/{job}/why")).json()["sentence"]
    assert why.startswith(sentence) or "was offered to a worker" in why


async def test_why_behind_others_and_held(client: httpx.AsyncClient, store: Store, settings: Settings) -> None:
    register(store, queues=("program.count",), cores=1)
    ids = await submit(client, "a", "b", "c", "d")
    waiting = (await client.get(f"/jobs/{ids[3]}/why")).json()["sentence"]
    assert waiting == ("It waits its turn: 2 jobs are before it in the queue program.count, 1 of 1 cores are taken.")
    following = (await client.get(f"/jobs/{ids[1]}/why")).json()["sentence"]
    assert following.startswith("It is next in the queue program.count, and waits until 1 core")
    store.run(jobs.hold(ids[3], settings))
    assert "is held" in (await client.get(f"/jobs/{ids[3]}/why")).json()["sentence"]


async def test_cancelling_a_job_that_waits_and_one_that_runs(
    client: httpx.AsyncClient, store: Store, settings: Settings
) -> None:
    register(store, queues=("program.count",), cores=1)
    running, waiting = await submit(client, "a", "b")
    record = store.run(listing.job(running))
    assert record
    store.run(jobs.claim(running, "w1", "c1", record.task_id, settings))
    assert (await client.post(f"/jobs/{running}/cancel")).json()["answer"] == "requested"
    first = (await client.post(f"/jobs/{waiting}/cancel")).json()
    second = (await client.post(f"/jobs/{waiting}/cancel")).json()
    assert (first["answer"], first["state"]) == ("ok", "CANCELLED")
    assert (second["answer"], second["state"]) == ("already", "CANCELLED")
    assert (await client.post("/jobs/nope/cancel")).status_code == 404


async def test_workers_and_counts(client: httpx.AsyncClient, store: Store) -> None:
    register(store, queues=("program.count",), cores=3)
    await submit(client, "a", "b", cores=2)
    body = (await client.get("/workers")).json()
    assert [w["id"] for w in body["workers"]] == ["w1"]
    assert body["workers"][0]["held"] == {"jobs": 1, "cores": 2, "memory_mb": 2000}
    assert list(body["declared"]) == ["program.count"]
    status = (await client.get("/status")).json()
    assert status["jobs"]["QUEUED"] == 2
    assert status["queues"] == {"program.count": 2}
    assert (status["batches"], status["workers"]) == (1, 1)
    json.dumps(status)
