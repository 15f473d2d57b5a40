"""What people say over the API: taken when it fits, refused at once with what would fit, and heard once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from orchestrator.api import Api, make_api
from orchestrator.asking import Candidate, Gate, GateKind, GateStatus, Options, Question
from orchestrator.state import RunState
from tasks import runs
from tasks.records import RunState as State
from tasks.settings import Settings
from tasks.store import Store
from tests.integration.api.conftest import TOKEN
from tests.unit.orchestrator.states import run_state

LATER = datetime.now(UTC) + timedelta(days=1)
QUESTIONS = (
    Question(id="route-1", text="Which?", candidates=(Candidate(value="qm_agent", text="computes"),)),
    Question(id="feedback-2", text="What?", closed=False),
    Question(id="route-3", text="Which?", answer="qm_agent", by="bo"),
)


def gate(name: str, kind: GateKind, **more: object) -> Gate:
    return Gate.model_validate(
        {"id": name, "kind": kind, "hash": "h", "text": "?", "expires": LATER, "steps": (2,), **more}
    )


GATES = (
    gate("plan-1", GateKind.PLAN),
    gate("cost-2", GateKind.COST),
    gate("plan-0", GateKind.PLAN, status=GateStatus.REJECTED, by="bo"),
    gate("old-4", GateKind.PLAN, expires=datetime(2020, 1, 1, tzinfo=UTC)),
)
ASKING = run_state(gates=GATES, questions=QUESTIONS)


@pytest.fixture
def state() -> RunState:
    """The state that the run's newest checkpoint holds."""
    return ASKING


@pytest.fixture
async def caller(api: Api, store: Store, settings: Settings, state: RunState) -> AsyncIterator[httpx.AsyncClient]:
    """A caller of a service whose run ``r1`` waits for a person, in that state."""
    store.run(runs.create("r1", "ana", "x"))
    held = store.run(runs.claim("o1", settings))
    assert held
    store.run(runs.release("r1", held.epoch, State.NEEDS_PERSON))

    async def view(run: str) -> RunState:
        return state

    transport = httpx.ASGITransport(app=make_api(replace(api, view=view)), raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as client:
        yield client


def inbox(store: Store, settings: Settings) -> list[Any]:
    """Give what the run will hear."""
    held = store.run(runs.claim("o2", settings))
    return [] if held is None else [(e.kind, e.about, e.text, e.by, e.step) for e in held.inbox]


async def decide(caller: httpx.AsyncClient, verdict: str, gate: str = "plan-1", **more: object) -> httpx.Response:
    return await caller.post("/runs/r1/verdict", json={"gate": gate, "verdict": verdict, "by": "ana", **more})


async def answer(caller: httpx.AsyncClient, question: str, text: str) -> httpx.Response:
    return await caller.post("/runs/r1/answer", json={"question": question, "text": text, "by": "ana"})


@pytest.mark.parametrize("verdict", ["approve", "reject", "revise"])
async def test_a_verdict_is_heard_once_and_a_second_one_changes_nothing(
    caller: httpx.AsyncClient, store: Store, settings: Settings, verdict: str
) -> None:
    said = (await decide(caller, verdict, text=" PBE0 ", step=2)).json()
    assert (said["answer"], said["state"]) == ("ok", "QUEUED")
    assert (await decide(caller, "approve")).json()["answer"] == "same"
    assert inbox(store, settings) == [(verdict, "plan-1", "PBE0", "ana", 2)]


@pytest.mark.parametrize(
    ("verdict", "gate_id", "more", "status", "words"),
    [
        ("approve", "plan-9", {}, 404, "open are: plan-1, cost-2, old-4"),
        ("approve", "plan-0", {}, 409, "rejected by bo"),
        ("revise", "plan-1", {}, 422, "does not say what is to be different"),
        ("revise", "plan-1", {"text": "x", "step": 9}, 422, "Name one of 1, 2, 3, 4, 5."),
        ("revise", "cost-2", {"text": "x", "step": 1}, 422, "Name one of 2."),
        ("maybe", "plan-1", {}, 422, "verdict"),
        ("approve", "plan-1", {"by": "nobody at all"}, 422, "by"),
    ],
)
async def test_a_verdict_that_does_not_fit_is_refused_and_never_heard(
    caller: httpx.AsyncClient,
    store: Store,
    settings: Settings,
    verdict: str,
    gate_id: str,
    more: dict[str, object],
    status: int,
    words: str,
) -> None:
    refused = await decide(caller, verdict, gate_id, **more)
    assert refused.status_code == status
    assert words in refused.text
    assert inbox(store, settings) == []


@pytest.mark.parametrize("state", [ASKING.model_copy(update={"iteration": 3, "options": Options(max_iterations=3)})])
async def test_a_revision_too_many_is_refused_and_an_approval_is_not(caller: httpx.AsyncClient) -> None:
    refused = await decide(caller, "revise", text="again")
    assert (refused.status_code, "had its 3 revisions" in refused.text) == (422, True)
    assert (await decide(caller, "approve")).status_code == 200


async def test_a_verdict_on_an_expired_gate_reaches_the_run_which_asks_anew(caller: httpx.AsyncClient) -> None:
    assert (await decide(caller, "approve", "old-4")).json()["answer"] == "ok"


@pytest.mark.parametrize(
    ("question", "text", "heard"),
    [
        ("route-1", "qm_agent", "qm_agent"),
        ("route-1", " QM ", "qm_agent"),
        ("route-1", "1", "qm_agent"),
        ("feedback-2", "PBE0 in methanol", "PBE0 in methanol"),
    ],
)
async def test_an_answer_is_heard_as_the_run_takes_it(
    caller: httpx.AsyncClient, store: Store, settings: Settings, question: str, text: str, heard: str
) -> None:
    assert (await answer(caller, question, text)).json()["answer"] == "ok"
    assert (await answer(caller, question, text)).json()["answer"] == "same"
    assert inbox(store, settings) == [("answer", question, heard, "ana", 0)]


@pytest.mark.parametrize(
    ("question", "text", "status", "words"),
    [
        ("route-9", "qm_agent", 404, "open are: route-1, feedback-2"),
        ("route-3", "qm_agent", 409, "answered by bo: qm_agent"),
        ("route-1", "md_agent", 422, "Answer with one of qm_agent, or its number."),
        ("route-1", "2", 422, "none of the candidates"),
        ("feedback-2", "", 422, "text"),
        ("feedback-2", "   ", 422, "text"),
    ],
)
async def test_an_answer_that_does_not_fit_is_refused_and_never_heard(
    caller: httpx.AsyncClient, store: Store, settings: Settings, question: str, text: str, status: int, words: str
) -> None:
    refused = await answer(caller, question, text)
    assert refused.status_code == status
    assert words in refused.text
    assert inbox(store, settings) == []


async def test_nobody_speaks_to_a_run_that_has_ended_or_never_was(
    caller: httpx.AsyncClient, store: Store, settings: Settings
) -> None:
    assert (await caller.post("/runs/r2/answer", json={"question": "q", "text": "x", "by": "ana"})).status_code == 404
    await decide(caller, "reject")
    held = store.run(runs.claim("o2", settings))
    assert held
    store.run(runs.release("r1", held.epoch, State.CANCELLED))
    for refused in (await decide(caller, "approve"), await answer(caller, "route-1", "1")):
        assert (refused.status_code, "has ended: CANCELLED" in refused.text) == (409, True)


async def test_only_a_run_that_failed_or_was_cancelled_is_taken_up_again(
    caller: httpx.AsyncClient, store: Store, settings: Settings
) -> None:
    async def retry(run: str = "r1", **more: object) -> httpx.Response:
        return await caller.post(f"/runs/{run}/retry", json={"id": "r2", "owner": "ana", **more})

    assert (await retry("r9")).status_code == 404
    assert "has not ended: NEEDS_PERSON" in (await retry()).text
    await decide(caller, "reject")
    held = store.run(runs.claim("o2", settings))
    assert held
    store.run(runs.release("r1", held.epoch, State.CANCELLED))
    first, again = await asyncio.gather(retry(), retry())
    assert {first.json()["answer"], again.json()["answer"]} == {"created", "exists"}
    assert (await retry(id="r3")).json() == {"run": "r2", "answer": "attached"}
    record = (await caller.get("/runs/r2")).json()["run"]
    assert (record["retry_of"], record["request"], record["state"]) == ("r1", "x", "QUEUED")


async def test_a_run_that_succeeded_is_not_taken_up_again(
    client: httpx.AsyncClient, store: Store, settings: Settings
) -> None:
    store.run(runs.create("r1", "ana", "x"))
    held = store.run(runs.claim("o1", settings))
    assert held
    store.run(runs.release("r1", held.epoch, State.SUCCEEDED))
    refused = await client.post("/runs/r1/retry", json={"id": "r2", "owner": "ana"})
    assert (refused.status_code, "nothing in it to be done again" in refused.text) == (409, True)


async def test_what_is_said_again_after_a_lost_answer_is_no_mistake(caller: httpx.AsyncClient, store: Store) -> None:
    again = await caller.post("/runs/r1/verdict", json={"gate": "plan-0", "verdict": "reject", "by": "bo"})
    assert again.status_code == 200
    again = await caller.post("/runs/r1/answer", json={"question": "route-3", "text": "qm_agent", "by": "bo"})
    assert again.status_code == 200
