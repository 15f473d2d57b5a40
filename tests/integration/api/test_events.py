"""Events of runs over the API: pages and streams, cut off and taken up again, without gaps or doubles."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext

import httpx
import pytest
import uvicorn

import orchestrator.api.events as routes
from orchestrator.api import Api, make_api
from orchestrator.client import Client
from orchestrator.following import read_stream
from orchestrator.views import EventView
from tasks import events, runs
from tasks.errors import NotFound, Unreachable
from tasks.events import NewEvent
from tasks.records import RunState
from tasks.runs import Held
from tasks.store import Store
from tests.integration.api.conftest import TOKEN
from tests.integration.orchestrator.conftest import until

SSE = {"Accept": "text/event-stream"}


@pytest.fixture
def held(store: Store) -> Held:
    """A run that is held, and has told nothing yet."""
    store.run(runs.create("r1", "ana", "x"))
    found = store.run(runs.claim("o1", store.settings))
    assert found
    return found


def tell(store: Store, held: Held, *texts: str) -> None:
    """Tell something, each text once."""
    store.run(events.tell("r1", held.epoch, [NewEvent(key=t, kind="thinking", data={"text": t}) for t in texts]))


def end(store: Store, held: Held) -> None:
    """End the run."""
    assert store.run(runs.release("r1", held.epoch, RunState.SUCCEEDED, answer="42"))


@asynccontextmanager
async def serving(api: Api, port: int = 0) -> AsyncIterator[int]:
    """Serve the API on a port of this host, as long as the block lasts."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    server = uvicorn.Server(uvicorn.Config(make_api(api), log_config=None, lifespan="off", timeout_graceful_shutdown=1))
    server.capture_signals = nullcontext  # type: ignore[assignment]  # signals are the tests' own
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield listener.getsockname()[1]
    finally:
        api.stopping.set()
        server.should_exit = True
        await task
        listener.close()
        api.stopping.clear()


async def test_pages_hold_number_time_kind_and_data_and_follow_each_other(
    client: httpx.AsyncClient, store: Store, held: Held
) -> None:
    tell(store, held, "a", "b", "c")
    page = (await client.get("/runs/r1/events", params={"limit": 2})).json()
    assert [(e["run"], e["sequence"], e["kind"], e["data"]["text"]) for e in page["events"]] == [
        ("r1", 1, "thinking", "a"),
        ("r1", 2, "thinking", "b"),
    ]
    assert page["events"][0]["time"].endswith("+00:00")
    assert (page["after"], page["lost"], page["ended"]) == (2, 0, False)
    rest = (await client.get("/runs/r1/events", params={"after": page["after"]})).json()
    assert [e["sequence"] for e in rest["events"]] == [3]
    end(store, held)
    last = (await client.get("/runs/r1/events", params={"after": 3})).json()
    assert ([e["kind"] for e in last["events"]], last["ended"]) == (["done"], True)


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_a_run_that_is_not_there_and_a_number_that_is_none_are_refused(
    client: httpx.AsyncClient, held: Held, accept: str
) -> None:
    headers = {"Accept": accept}
    assert (await client.get("/runs/r9/events", headers=headers)).status_code == 404
    for query in ({"after": -1}, {"after": "x"}, {"limit": 0}):
        assert (await client.get("/runs/r1/events", params=query, headers=headers)).status_code == 422
    bad = await client.get("/runs/r1/events", headers={**headers, "Last-Event-ID": "x"})
    assert bad.status_code == 422


async def test_a_stream_of_an_ended_run_is_replayed_from_any_number_and_ends(
    client: httpx.AsyncClient, store: Store, held: Held
) -> None:
    tell(store, held, "a", "line\nbreak “x”")
    end(store, held)
    answer = await client.get("/runs/r1/events", headers=SSE)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text.startswith("id: 1\nevent: thinking\ndata: {")
    seen = list(read_stream(answer.text.split("\n")))
    assert [(e.sequence, e.kind) for e in seen] == [(1, "thinking"), (2, "thinking"), (3, "done")]
    assert seen[1].data["text"] == "line\nbreak “x”"
    later = await client.get("/runs/r1/events", params={"after": 1}, headers={**SSE, "Last-Event-ID": "2"})
    assert [e.sequence for e in read_stream(later.text.split("\n"))] == [3]
    assert (await client.get("/runs/r1/events", headers={**SSE, "Last-Event-ID": "3"})).status_code == 204


async def test_a_reader_of_what_is_kept_no_longer_is_told(client: httpx.AsyncClient, store: Store, held: Held) -> None:
    tell(store, held, "a", "b", "c")
    store.client.xtrim(f"{store.settings.key_prefix}run:r1:events", minid="3-0", approximate=False)
    end(store, held)
    page = (await client.get("/runs/r1/events")).json()
    assert ([e["sequence"] for e in page["events"]], page["first"], page["lost"]) == ([3, 4], 3, 2)
    stream = list(read_stream((await client.get("/runs/r1/events", headers=SSE)).text.split("\n")))
    assert [(e.kind, e.sequence) for e in stream] == [("lost", 0), ("thinking", 3), ("done", 4)]
    assert (stream[0].data["lost"], stream[0].data["first"]) == (2, 3)


async def test_a_silent_stream_shows_that_it_is_alive(
    api: Api, store: Store, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "HEARTBEAT_SECONDS", 0.1)
    async with (
        serving(api) as port,
        httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as caller,
        caller.stream("GET", f"http://127.0.0.1:{port}/runs/r1/events", headers=SSE) as answer,
    ):
        lines = answer.aiter_lines()
        assert (await anext(lines)).startswith(":")
        end(store, held)
        assert "event: done" in [line async for line in lines]


async def test_a_client_follows_across_a_restart_of_the_service_and_sees_each_event_once(
    api: Api, store: Store, held: Held
) -> None:
    ports: list[int] = []
    seen: list[EventView] = []
    tell(store, held, "a", "b")
    async with serving(api) as port:
        ports.append(port)
        following = asyncio.create_task(asyncio.to_thread(_collect, ports, seen))
        await until(lambda: _length(seen, 2), what="two events are seen")
    tell(store, held, "c")
    async with serving(api, ports[0]):
        await until(lambda: _length(seen, 3), what="three events are seen")
        tell(store, held, "d")
        end(store, held)
        await asyncio.wait_for(following, 20)
    assert [event.sequence for event in seen] == [1, 2, 3, 4, 5]
    assert seen[-1].kind == "done"


def _collect(ports: list[int], seen: list[EventView]) -> None:
    with Client(lambda: f"http://127.0.0.1:{ports[-1]}", TOKEN, patience_seconds=20) as service:
        for event in service.events("r1"):
            seen.append(event)


async def _length(seen: list[EventView], count: int) -> bool:
    return len(seen) == count


async def test_a_client_says_what_is_wrong_and_does_not_wait_for_ever(api: Api, held: Held) -> None:
    async with serving(api) as port:
        with Client(lambda: f"http://127.0.0.1:{port}", TOKEN) as service, pytest.raises(NotFound):
            await asyncio.to_thread(lambda: list(service.events("r9")))
    gone = Client(lambda: f"http://127.0.0.1:{port}", TOKEN, patience_seconds=0.3)
    with gone as service, pytest.raises(Unreachable):
        await asyncio.to_thread(lambda: list(service.events("r1")))


def test_what_was_cut_off_in_the_middle_of_an_event_is_left_out() -> None:
    whole = {"run": "r", "sequence": 1, "kind": "plan"}
    lines = ["id: 1", f"data: {json.dumps(whole)}", "", ": beat", "", "id: 2", 'data: {"run": "r", "seq']
    assert [event.sequence for event in read_stream(lines)] == [1]
