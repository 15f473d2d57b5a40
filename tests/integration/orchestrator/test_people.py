"""People in the loop: plans and results approved, rejected and revised, with orchestrators killed in between."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.agents import AGENTS
from orchestrator.asking import GateStatus
from orchestrator.holder import Holder
from orchestrator.planning import plan_request
from orchestrator.state import RunState
from tasks import listing, runs
from tasks.records import InboxEntry
from tasks.settings import Settings
from tasks.store import Store
from tests.integration.orchestrator.conftest import RunningOrchestrator, async_store, create, holding, run_in, until
from tests.integration.worker.conftest import StartWorker

COUNT = "count 2 times to 1 pausing 0 in 1 rounds"


async def asked(holder: Holder, run: str = "r1") -> RunState:
    """Wait until a run waits for a person, and give its state."""
    record = await run_in(holder.store, run, "NEEDS_PERSON", "FAILED", "SUCCEEDED", "CANCELLED")
    assert record.state == "NEEDS_PERSON", record.error
    return await holder.view(run)


def say(store: Store, kind: str, gate: str, **more: object) -> str:
    """Say something about a gate, as the API does."""
    entry = InboxEntry.model_validate({"id": f"gate:r1:{gate}", "kind": kind, "about": gate, "by": "ana", **more})
    return store.run(runs.post("r1", entry))


async def test_nothing_of_a_plan_begins_before_it_is_approved(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, COUNT, pipeline="full")
    async with holding(settings) as holder:
        state = await asked(holder)
        assert [gate.id for gate in state.gates] == ["plan-1"]
        assert submitting.run(listing.jobs(run="r1")).rows == ()
        assert say(submitting, "approve", "plan-1") == "ok"
        assert say(submitting, "approve", "plan-1") == "same"
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED")
    assert record.answer == "2 SUCCEEDED"


async def test_a_rejected_plan_ends_its_run_and_says_who_and_why(settings: Settings, submitting: Store) -> None:
    create(submitting, COUNT, pipeline="full")
    async with holding(settings) as holder:
        await asked(holder)
        say(submitting, "reject", "plan-1", text="too dear")
        record = await run_in(holder.store, "r1", "CANCELLED", "FAILED")
    assert record.state == "CANCELLED"
    assert record.error == "ana rejected the plan: too dear"
    assert submitting.run(listing.jobs(run="r1")).rows == ()


async def test_a_looped_run_is_revised_twice_and_executes_nothing_twice(
    settings: Settings,
    submitting: Store,
    start_worker: StartWorker,
    start_orchestrator: Callable[[str], RunningOrchestrator],
) -> None:
    start_worker()
    create(submitting, f"{COUNT}; {COUNT}", pipeline="looped")
    number = 0

    async def killed_between(holder_of: Holder) -> RunState:
        """Wait for the next gate with an orchestrator of its own, and kill that."""
        nonlocal number
        number += 1
        running = start_orchestrator(f"n{number}")
        state = await asked(holder_of)
        running.kill()
        return state

    reader = Holder(settings, async_store(settings), "reader")  # it never runs: it only looks
    await killed_between(reader)
    say(submitting, "approve", "plan-1")
    state = await killed_between(reader)
    assert [gate.id for gate in state.gates] == ["plan-1", "review-2"]
    say(submitting, "revise", "review-2", text="do the second one again", step=2)
    state = await killed_between(reader)
    assert state.gates[-1].id == "plan-3"
    assert (state.iteration, state.feedback) == (1, "")
    say(submitting, "approve", "plan-3")
    state = await killed_between(reader)
    assert state.gates[-1].id == "review-4"
    say(submitting, "revise", "review-4", text="again", step=2)
    state = await killed_between(reader)
    say(submitting, "approve", "plan-5")
    state = await killed_between(reader)
    say(submitting, "approve", "review-6")
    start_orchestrator("last")
    record = await run_in(reader.store, "r1", "SUCCEEDED", "FAILED")
    state = await reader.view("r1")
    await reader.store.client.aclose()

    assert record.error == ""
    assert [gate.status for gate in state.gates] == [
        GateStatus.APPROVED,
        GateStatus.REVISED,
        GateStatus.APPROVED,
        GateStatus.REVISED,
        GateStatus.APPROVED,
        GateStatus.APPROVED,
    ]
    assert state.iteration == 2
    batches = {b.id: (b.succeeded, b.count) for b in submitting.run(listing.batches(run="r1", count=100)).rows}
    assert batches == {"r1-s1-r1": (2, 2), "r1-s2-r1": (2, 2), "r1-s2-r2": (2, 2), "r1-s2-r3": (2, 2)}
    assert record.answer == "2 SUCCEEDED; 2 SUCCEEDED"
    assert len(list(settings.workspace.glob("runs/r1/report*.md"))) == 1


async def test_an_expired_approval_counts_for_nothing_and_is_asked_for_anew(
    settings: Settings, submitting: Store
) -> None:
    short = settings.model_copy(update={"approval_expires_hours": 1e-9})
    create(submitting, COUNT, pipeline="full")
    async with holding(short) as holder:
        await asked(holder)
        say(submitting, "approve", "plan-1")

        async def again() -> bool:
            return len((await holder.view("r1")).gates) == 2

        await until(again, what="asked anew")
        state = await asked(holder)
    assert [gate.status for gate in state.gates] == [GateStatus.EXPIRED, GateStatus.OPEN]
    assert submitting.run(listing.jobs(run="r1")).rows == ()


async def test_what_the_rules_cannot_decide_is_asked_once_and_answered(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, f"{COUNT} after a question")
    async with holding(settings) as holder:
        state = await asked(holder)
        assert [q.id for q in state.questions] == ["route-1"]
        entry = InboxEntry(id="q1", kind="answer", about="route-1", text="counting_agent", by="ana")
        submitting.run(runs.post("r1", entry))
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED")
    assert record.answer == "2 SUCCEEDED"


@pytest.mark.parametrize("kind", ["approve", "reject", "revise"])
async def test_a_verdict_on_a_gate_that_is_closed_changes_nothing(
    settings: Settings, submitting: Store, kind: str
) -> None:
    create(submitting, COUNT, pipeline="full")
    async with holding(settings) as holder:
        state = await asked(holder)
        entry = InboxEntry.model_validate({"id": "late", "kind": kind, "about": "plan-0", "by": "eve", "text": "x"})
        submitting.run(runs.post("r1", entry))
        after = await asked(holder)
    assert (after.gates, after.plan) == (state.gates, state.plan)


async def test_a_molecule_alone_is_asked_about_and_the_answer_is_planned_and_done(
    settings: Settings, submitting: Store
) -> None:
    create(submitting, "tetramethylammonium")
    async with holding(settings, agents=AGENTS, plan=plan_request) as holder:
        (question,) = (await asked(holder)).questions
        assert [one.value for one in question.candidates][:2] == ["chemistry_agent", "qm_agent"]
        entry = InboxEntry(id="q1", kind="answer", about=question.id, text="chemistry_agent", by="ana")
        submitting.run(runs.post("r1", entry))
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED")
        state = await holder.view("r1")
    assert record.state == "SUCCEEDED"
    assert (state.decision.rule, state.decision.agent) == ("answer", "chemistry_agent")
    assert "C4H12N" in record.answer


async def test_a_greeting_is_answered_without_any_step(settings: Settings, submitting: Store) -> None:
    create(submitting, "thanks, what can you do?")
    async with holding(settings, agents=AGENTS, plan=plan_request) as holder:
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED")
    assert record.state == "SUCCEEDED"
    assert "I am Simrelay" in record.answer
