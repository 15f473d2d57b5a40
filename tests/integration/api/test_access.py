"""Who may call the API, and how it says no."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest
from pydantic import SecretStr

from orchestrator.api import Api, make_api
from orchestrator.stack.redis_server import free_port
from orchestrator.state import state_schema
from tasks.store import AsyncStore, connect_async
from tests.integration.api.conftest import TOKEN


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer wrong", "Basic token-of-the-test", "token-of-the-test"])
async def test_a_wrong_token_is_refused(client: httpx.AsyncClient, header: str) -> None:
    for path in ("/runs", "/jobs", "/batches", "/workers", "/status", "/schema"):
        answer = await client.get(path, headers={"Authorization": header})
        assert answer.status_code == 401, path
        assert answer.headers["www-authenticate"] == "Bearer"
        assert "api-token" in answer.json()["error"]


async def test_a_wrong_token_changes_nothing(client: httpx.AsyncClient) -> None:
    body = {"id": "b1", "owner": "ana", "jobs": [{"molecule": {"smiles": "O"}, "method": "GFN2-xTB"}]}
    answer = await client.post("/batches", json=body, headers={"Authorization": "Bearer x"})
    assert answer.status_code == 401
    assert (await client.get("/batches")).json()["batches"] == []


async def test_health_needs_no_token_and_tells_nothing_else(client: httpx.AsyncClient) -> None:
    answer = await client.get("/health", headers={"Authorization": ""})
    assert answer.status_code == 200
    assert set(answer.json()) == {"status", "version"}


async def test_it_says_when_redis_is_away(api: Api) -> None:
    away = api.settings.model_copy(update={"redis_url": SecretStr(f"redis://127.0.0.1:{free_port()}/0")})
    app = make_api(replace(api, store=AsyncStore(connect_async(away), away)))
    transport, headers = httpx.ASGITransport(app=app), {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as client:
        assert (await client.get("/health")).status_code == 503
        for path in ("/jobs", "/jobs?search=x", "/status", "/workers"):
            answer = await client.get(path)
            assert (answer.status_code, answer.json()["kind"]) == (503, "Unreachable"), path


@pytest.mark.parametrize(
    ("path", "status", "kind"),
    [
        ("/runs/nope", 404, "NotFound"),
        ("/jobs/nope", 404, "NotFound"),
        ("/jobs/nope/log", 404, "NotFound"),
        ("/jobs/nope/why", 404, "NotFound"),
        ("/batches/nope", 404, "NotFound"),
        ("/batches/nope/results", 404, "NotFound"),
        ("/nowhere", 404, "NotFound"),
        ("/jobs/..%2F..%2Fetc", 404, "NotFound"),
        ("/jobs/a%20b", 422, "InputError"),
        ("/jobs/.hidden/log", 422, "InputError"),
        ("/jobs?count=0", 422, "InputError"),
        ("/jobs?range=homo_ev:high", 422, "InputError"),
        ("/jobs?range=colour:1..2", 422, "InputError"),
        ("/jobs?search=a&cursor=x", 422, "InputError"),
    ],
)
async def test_errors_are_one_clear_object(client: httpx.AsyncClient, path: str, status: int, kind: str) -> None:
    answer = await client.get(path)
    assert answer.status_code == status
    body = answer.json()
    assert body["kind"] == kind
    assert body["error"]
    if kind == "InputError":
        assert body["field"]
        assert body["remedy"]
        assert body["exit_code"] == 2


async def test_schemas_are_published(client: httpx.AsyncClient) -> None:
    schema = (await client.get("/schema")).json()
    assert schema["run_state"] == state_schema()
    assert "molecule" in str(schema["job_spec"])
