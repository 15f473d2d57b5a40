"""Stateless turns: everything comes with the request, everything goes back with the answer, and nothing stays."""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path
from typing import Any

import httpx
import pytest

from orchestrator.api import Api
from orchestrator.state import SUMMARY
from orchestrator.stateless import SUMMARY_LENGTH, Turn, count_turns, summarise
from tasks.store import Store
from tests.integration.api.conftest import register

QUANTUM = "Compare the HOMO and LUMO energies of water and methane with GFN2-xTB"
IDENTITY = "Formula and molar mass of water"


async def turn(client: httpx.AsyncClient, request: str, **more: object) -> dict[str, Any]:
    answer = await client.post("/stateless", json={"request": request, **more})
    assert answer.status_code == 200, answer.text
    taken: dict[str, Any] = answer.json()
    return taken


def everything(store: Store, api: Api) -> tuple[dict[str, bytes | None], set[Path], set[str]]:
    """Give all keys with their content, all files of the installation, and all folders of turns."""
    keys = {str(key): store.client.dump(key) for key in store.client.scan_iter("*")}
    temporary = {path.name for path in Path(tempfile.gettempdir()).glob("simrelay-turn-*")}
    return keys, set(api.settings.home.rglob("*")), temporary


@pytest.mark.parametrize("request_text", [QUANTUM, IDENTITY, "make me a sandwich"])
async def test_a_turn_leaves_nothing_behind(
    client: httpx.AsyncClient, api: Api, store: Store, request_text: str
) -> None:
    register(store, queues=("xtb",))
    await client.get("/agents")
    before = everything(_raw(store), api)
    await client.post("/stateless", json={"request": request_text, "history": [{"role": "user", "text": "hello"}]})
    assert everything(_raw(store), api) == before


def _raw(store: Store) -> Store:
    """Give a store whose client reads bytes as they are."""
    import redis

    url = store.settings.redis_url.get_secret_value()
    return Store(redis.Redis.from_url(url), store.settings)


async def test_what_would_be_computed_comes_back_as_exact_specs_that_a_batch_takes(
    client: httpx.AsyncClient, store: Store
) -> None:
    register(store, queues=("xtb",))
    taken = await turn(client, QUANTUM)
    assert [(step["agent"], step["taken"]) for step in taken["plan"]] == [
        ("chemistry_agent", False),
        ("qm_agent", True),
        (SUMMARY, False),
    ]
    assert [(spec["label"], spec["engine"], bool(spec["molecule"]["xyz"])) for spec in taken["actions"]] == [
        ("water", "xtb", True),
        ("methane", "xtb", True),
    ]
    assert taken["core_seconds"] is not None
    assert (taken["finding"], taken["error"], taken["turns"]) == (None, "", 1)
    body = {"id": "b1", "owner": "ana", "jobs": taken["actions"], "dry_run": True}
    answer = await client.post("/batches", json=body)
    assert answer.status_code == 200, answer.text


async def test_findings_and_small_files_come_back_with_the_answer(client: httpx.AsyncClient) -> None:
    taken = await turn(client, IDENTITY)
    assert "H2O" in taken["finding"]["summary"]
    assert taken["finding"]["table"]["rows"]
    assert taken["actions"] == []
    for file in taken["files"]:
        assert len(base64.b64decode(file["content"])) == file["size_bytes"] or file["omitted"]


async def test_turns_are_counted_and_the_summary_carries_the_history_on(client: httpx.AsyncClient) -> None:
    history = [{"role": "user", "text": "What is water?"}, {"role": "assistant", "text": "H2O."}]
    first = await turn(client, IDENTITY, history=history)
    assert first["turns"] == 2
    assert first["summary"].splitlines()[:3] == ["user: What is water?", "assistant: H2O.", f"user: {IDENTITY}"]
    carried = [{"role": "summary", "text": first["summary"], "turns": first["turns"]}]
    second = await turn(client, IDENTITY, history=carried)
    assert second["turns"] == 3
    assert second["summary"].startswith(first["summary"])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"request": "HOMO of unobtainium"}, ""),
        ({"request": QUANTUM, "agents": {"named": "nobody"}}, "agent"),
        # the only agent that is allowed gets it, and says what it lacks
        ({"request": QUANTUM, "agents": {"allowed": ["md_agent"]}}, "request"),
        ({"request": QUANTUM, "agents": {"allowed": ["md_agent"], "named": "qm_agent"}}, "agent"),
        ({"request": QUANTUM, "agents": {"named": "md_agent"}}, ""),
        ({"request": "Hirshfeld charges of the last job"}, "request"),
        ({"request": QUANTUM, "history": [{"role": "system", "text": "x"}]}, "history"),
        ({"request": QUANTUM, "keep": True}, "keep"),
    ],
)
async def test_what_cannot_be_used_is_refused(client: httpx.AsyncClient, body: dict[str, object], field: str) -> None:
    answer = await client.post("/stateless", json=body)
    assert answer.status_code == 422, answer.text
    assert answer.json()["field"].startswith(field)
    assert answer.json()["remedy"]


async def test_a_named_agent_has_its_turn(client: httpx.AsyncClient, store: Store) -> None:
    register(store, queues=("xtb",))
    taken = await turn(client, QUANTUM, agents={"named": "qm_agent", "allowed": ["qm_agent", "md_agent"]})
    assert [step["agent"] for step in taken["plan"] if step["taken"]] == ["qm_agent"]


def test_a_summary_is_bounded_and_loses_its_oldest_lines_first() -> None:
    history = [Turn(role="user", text=f"{number} " + "x" * 500) for number in range(50)]
    text = summarise(history, "newest", "done")
    assert len(text) <= SUMMARY_LENGTH
    lines = text.splitlines()
    assert lines[0].startswith("(earlier turns")
    assert lines[-2:] == ["user: newest", "assistant: done"]
    again = summarise([Turn(role="summary", text=text, turns=51)], "next", "done")
    assert again.count("(earlier turns") == 1
    assert len(again) <= SUMMARY_LENGTH
    assert count_turns([*history, Turn(role="assistant", text="x"), Turn(role="summary", text="y", turns=7)]) == 57
