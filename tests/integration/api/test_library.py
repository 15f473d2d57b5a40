"""The library over the API."""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path

import httpx
import pytest

from orchestrator.apart import Apart
from orchestrator.api import Api
from orchestrator.intake import Intake
from tasks.settings import Settings
from tasks.store import AsyncStore, Store, connect_async
from tests.integration.api.test_files import MOLDEN

TEXT = b"Title: On S-07\n\nThe conductivity of the invented membrane S-07 is 118 mS/cm."
NAME = {"name": "(A) note, 2020 – S‑07.txt"}


async def add(client: httpx.AsyncClient, content: bytes = TEXT, **params: str) -> httpx.Response:
    return await client.post("/library/documents", params=params or NAME, content=content)


async def test_a_document_is_added_once_listed_asked_and_removed(client: httpx.AsyncClient, api: Api) -> None:
    first = await add(client)
    assert first.status_code == 200, first.text
    (record,) = first.json()["added"]
    assert (record["name"], record["id"]) == (NAME["name"], hashlib.sha256(TEXT).hexdigest())
    assert (api.settings.workspace / record["path"]).read_bytes() == TEXT
    again = (await add(client, name="other.txt")).json()
    assert (again["added"], [one["name"] for one in again["duplicates"]]) == ([], [NAME["name"]])
    assert (await client.get("/library/documents")).json() == {"documents": [record]}
    answer = (await client.get("/library/answer", params={"question": "conductivity of S-07"})).json()
    assert (answer["found"], answer["method"], answer["searched"]) == (True, "BM25", 1)
    assert answer["sources"][0]["citation"] == f"{NAME['name']} (n.d.), On S-07, p. 1, chunk 1"
    assert (await client.post("/library/reindex")).json() == {"passages": 1, "method": "BM25"}
    removed = await client.delete(f"/library/documents/{record['id'][:12]}")
    assert removed.json() == record
    assert (await client.get("/library/documents")).json() == {"documents": []}
    assert (await client.delete(f"/library/documents/{record['id']}")).status_code == 404


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.molden", MOLDEN, "is of a kind that the library does not read"),
        ("a.pdf", b"%PDF-1.4 nonsense", "is no PDF that can be read"),
        ("a.txt", b"\xff\xfd", "is not UTF-8 text"),
        ("a.txt", b"", "is empty"),
    ],
)
async def test_what_cannot_be_read_is_named_and_nothing_is_kept(
    client: httpx.AsyncClient, name: str, content: bytes, said: str
) -> None:
    answer = await add(client, content, name=name)
    assert answer.status_code == 422
    body = answer.json()
    assert (body["kind"], body["field"], body["value"]) == ("InputError", "file", name)
    assert said in body["problem"] and body["remedy"]
    assert (await client.get("/library/documents")).json() == {"documents": []}
    assert (await add(client)).status_code == 200, "the others go on"


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({"embeddings_url": "http://127.0.0.1:1/v1", "embeddings_model": "m"}, 503, "does not answer"),
        ({"qdrant_url": "http://127.0.0.1:1"}, 500, "but no embeddings"),
    ],
)
async def test_who_does_not_answer_is_told_from_nothing_found(
    client: httpx.AsyncClient, api: Api, changes: dict[str, str], status: int, said: str
) -> None:
    api.intake.settings = api.settings.model_copy(update=changes)
    answer = await add(client)
    assert answer.status_code == status
    assert said in answer.json()["error"]


async def test_the_library_asks_for_the_token(client: httpx.AsyncClient) -> None:
    del client.headers["authorization"]
    assert (await client.get("/library/documents")).status_code == 401


async def test_documents_that_take_long_to_read_keep_nobody_else_waiting(
    settings: Settings, store: Store, tmp_path: Path
) -> None:
    # Given more documents than there are processes, all of which block their reader
    pool = Apart(2)
    intake = Intake(settings, AsyncStore(connect_async(settings), settings), pool)
    pipes = [tmp_path / f"{number}.txt" for number in range(3)]
    for path in pipes:
        os.mkfifo(path)
    adding = [asyncio.create_task(intake.add_document(path, path.name, "")) for path in pipes]
    await asyncio.sleep(0)  # they go to the processes before anything else does
    try:
        # Then others are served all the same
        async with asyncio.timeout(30):
            assert await intake.run(sorted, [2, 1]) == [1, 2]
        assert not any(task.done() for task in adding)
        for path in pipes:
            await asyncio.to_thread(path.write_bytes, f"A text from {path.name}.".encode())
        done = await asyncio.gather(*adding)
    finally:
        pool.close()
    assert [one.name for each in done for one in each.added] == [path.name for path in pipes]
