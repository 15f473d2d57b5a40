"""The memory of recoveries and the policy over the API, and as the command line shows them."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from orchestrator.cli import memory as memory_commands
from orchestrator.cli import policy as policy_commands
from orchestrator.client import Client
from tasks import memory, runs
from tasks.memory import Content, EpisodeStatus, Scope
from tasks.settings import Settings
from tasks.store import Store

SIGNATURE = "qm_agent:single_point:orca:dft:scf_not_converged"


def record(store: Store, settings: Settings, run: str, action: str = "other_engine") -> str:
    """Record a verified success of a run of its own."""
    store.run(runs.create(run, "ana", f"request of {run}"))
    held = store.run(runs.claim("o", settings))
    assert held
    scope = Scope(agent="qm_agent", task="single_point", engine="orca", family="dft")
    content = Content(scope=scope, error_class="scf_not_converged", action=action, run=run, step=2, round=2)
    name = f"{run}-s2-r2-scf_not_converged"
    success = EpisodeStatus.VERIFIED_SUCCESS
    assert store.run(memory.put_episode(name, held.epoch, SIGNATURE, content, success, 0.9)) == "ok"
    return name


async def test_episodes_are_listed_shown_recalled_and_revoked(
    client: httpx.AsyncClient, store: Store, settings: Settings
) -> None:
    name = record(store, settings, "r1")
    listed = (await client.get("/memory/episodes", params={"status": "verified_success"})).json()
    assert [(e["id"], e["signature"], e["trust"]) for e in listed["episodes"]] == [(name, SIGNATURE, 0.9)]
    recalled = (await client.get("/memory/recall", params={"signature": SIGNATURE})).json()
    assert [(p["action"], p["source"], p["by"]) for p in recalled["proposals"]] == [("other_engine", "memory", name)]
    url = f"/memory/episodes/{name}"
    assert (await client.get(url)).json()["not_recalled"] == ""
    said = {"by": "ana", "why": "the molecule was wrong"}
    assert (await client.post(f"{url}/revoke", json=said)).json()["answer"] == "ok"
    assert (await client.post(f"{url}/revoke", json=said)).json()["answer"] == "already"
    shown = (await client.get(url)).json()
    assert shown["not_recalled"] == "it is revoked"
    assert (shown["episode"]["by"], shown["episode"]["why"]) == ("ana", "the molecule was wrong")
    assert (await client.get("/memory/recall", params={"signature": SIGNATURE})).json()["proposals"] == []


async def test_episodes_are_listed_in_pages(client: httpx.AsyncClient, store: Store, settings: Settings) -> None:
    names = [record(store, settings, f"r{number}") for number in range(5)]
    pages, cursor = [], ""
    while True:
        page = (await client.get("/memory/episodes", params={"count": 2, "cursor": cursor})).json()
        pages.append([episode["id"] for episode in page["episodes"]])
        if not (cursor := page["cursor"]):
            break
    assert [len(page) for page in pages] == [2, 2, 1]
    assert [name for page in pages for name in page] == names[::-1]


async def test_a_rule_is_promoted_by_somebody_and_rolled_back_with_a_reason(
    client: httpx.AsyncClient, store: Store, settings: Settings
) -> None:
    record(store, settings, "r1")
    wanted = {"signature": SIGNATURE, "by": "ana"}
    too_few = await client.post("/policy/promote", json=wanted)
    assert (too_few.status_code, "2 are needed" in too_few.json()["error"]) == (409, True)
    record(store, settings, "r2")
    assert (await client.post("/policy/promote", json=wanted)).json()["version"] == 1
    policy = (await client.get("/policy", params={"audit": 5})).json()
    assert policy["rules"][SIGNATURE]["action"] == "other_engine"
    assert (policy["audit"][0]["what"], policy["audit"][0]["who"]) == ("promoted", "ana")
    assert policy["audit"][0]["at"]
    sources = [
        p["source"] for p in (await client.get("/memory/recall", params={"signature": SIGNATURE})).json()["proposals"]
    ]
    assert sources == ["memory", "policy"]
    unsaid = await client.post("/policy/rollback", json={"version": 0, "by": "ana", "why": " "})
    assert unsaid.status_code == 422
    back = await client.post("/policy/rollback", json={"version": 0, "by": "ana", "why": "too early"})
    assert back.json()["answer"] == "ok"
    record(store, settings, "r3", action="more_resources")
    apart = await client.post("/policy/promote", json=wanted)
    assert "do not agree: more_resources, other_engine" in apart.json()["error"]


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/memory/recall", {}, 422),
        ("/memory/episodes", {"status": "nonsense"}, 422),
        ("/memory/episodes/nothing", {}, 404),
    ],
)
async def test_what_is_not_there_or_not_said_is_told(
    client: httpx.AsyncClient, path: str, query: dict[str, str], status: int
) -> None:
    answer = await client.get(path, params=query)
    assert answer.status_code == status
    assert answer.json()["error"]


class _Bridge(httpx.BaseTransport):
    """Lets the plain client of the command line call the application in this process."""

    def __init__(self, client: httpx.AsyncClient, loop: asyncio.AbstractEventLoop) -> None:
        self.client, self.loop = client, loop

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        async def ask() -> httpx.Response:
            url, body = request.url.raw_path.decode(), request.read()
            answer = await self.client.request(request.method, url, content=body, headers=request.headers)
            return httpx.Response(answer.status_code, content=answer.content)

        return asyncio.run_coroutine_threadsafe(ask(), self.loop).result(30)


async def test_the_commands_show_and_decide_the_same(
    client: httpx.AsyncClient,
    store: Store,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name, other = record(store, settings, "r1"), record(store, settings, "r2")
    bridge = _Bridge(client, asyncio.get_running_loop())

    def service() -> Client:
        return Client(lambda: "http://service", "token-of-the-test", transport=bridge)

    for module in (memory_commands, policy_commands):
        monkeypatch.setattr(module, "client", service)
    await asyncio.to_thread(memory_commands.list_episodes)
    await asyncio.to_thread(memory_commands.show, name)
    await asyncio.to_thread(memory_commands.recall, signature=SIGNATURE, run="", step=0)
    await asyncio.to_thread(policy_commands.promote, SIGNATURE)
    await asyncio.to_thread(policy_commands.list_rules)
    await asyncio.to_thread(policy_commands.rollback, 0, "a test")
    await asyncio.to_thread(memory_commands.revoke, other, "a test")
    await asyncio.to_thread(policy_commands.audit, 10)
    shown = capsys.readouterr().out
    assert f"version 1: other_engine for {SIGNATURE}, on 2 episodes" in shown
    assert "version 0 is active" in shown
    assert f"{other} revoked" in shown
    assert "rolled_back" in shown and "a test" in shown
    assert "recalled    yes" in shown
