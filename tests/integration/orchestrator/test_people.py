"""People in the loop: plans and results approved, rejected and revised, with orchestrators killed in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import redis

from orchestrator.agents import AGENTS
from orchestrator.asking import GateStatus
from orchestrator.holder import Holder
from orchestrator.planning import plan_request
from orchestrator.planning.asked import Asked, Planned
from orchestrator.stack.redis_server import RedisServer
from orchestrator.state import Decision, RunState
from tasks import listing, runs
from tasks.records import InboxEntry
from tasks.settings import Settings
from tasks.store import Store
from tests.conftest import settings_for
from tests.counting import plan_counting
from tests.integration.orchestrator.conftest import RunningOrchestrator, async_store, create, holding, run_in, until
from tests.integration.worker.conftest import StartWorker, prepare

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


def costed(settings: Settings) -> Settings:
    """Give settings under which any cost that is known needs an approval of its own, if no plan covers it."""
    return settings.model_copy(update={"approval_core_hours": 0.0})


async def test_a_cost_that_a_model_decided_on_waits_for_its_approval_and_is_dispatched_once(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, COUNT)
    async with holding(costed(settings), plan=plan_by_model) as holder:
        state = await asked(holder)
        assert [gate.id for gate in state.gates] == ["cost-1"]
        assert state.gates[0].hash == state.plan.step(1).batches[-1].manifest.hash
        assert submitting.run(listing.jobs(run="r1")).rows == ()
        say(submitting, "approve", "cost-1")
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED")
    assert (record.error, record.answer) == ("", "2 SUCCEEDED")
    assert len(submitting.run(listing.jobs(run="r1")).rows) == 2


async def test_a_manifest_that_was_changed_after_its_approval_is_never_dispatched(
    settings: Settings, submitting: Store
) -> None:
    create(submitting, COUNT)
    async with holding(costed(settings), plan=plan_by_model) as holder:
        state = await asked(holder)
        manifest = settings.workspace / state.plan.step(1).batches[-1].manifest.artifact.path
        manifest.write_text(manifest.read_text().replace('"steps":1', '"steps":9'))
        say(submitting, "approve", "cost-1")
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED", "WAITING")
    assert record.state == "FAILED"
    assert "was changed after it was frozen; nothing of it is dispatched" in record.error
    assert submitting.run(listing.jobs(run="r1")).rows == ()


async def test_a_rejected_cost_fails_its_step_and_the_run_says_so(settings: Settings, submitting: Store) -> None:
    create(submitting, COUNT)
    async with holding(costed(settings), plan=plan_by_model) as holder:
        await asked(holder)
        say(submitting, "reject", "cost-1", text="too dear")
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED")
    assert record.error == "step 1 (counting_agent): ana rejected its cost: too dear"
    assert submitting.run(listing.jobs(run="r1")).rows == ()


async def test_feedback_that_names_nothing_is_asked_for_and_its_answer_is_used(
    settings: Settings, submitting: Store
) -> None:
    create(submitting, COUNT, pipeline="full")
    async with holding(settings) as holder:
        await asked(holder)
        say(submitting, "revise", "plan-1", text="make it nicer")
        state = await person(holder, lambda now: bool(now.questions))
        assert [(q.id, q.closed) for q in state.questions] == [("feedback-1", False)]
        assert [gate.id for gate in state.gates if gate.open] == [], "what is still to be changed is not offered"
        entry = InboxEntry(id="a1", kind="answer", about="feedback-1", text="nicer, I said", by="ana")
        submitting.run(runs.post("r1", entry))
        state = await person(holder, lambda now: len(now.questions) == 2)
        entry = InboxEntry(id="a2", kind="answer", about="feedback-2", text="again", by="ana")
        submitting.run(runs.post("r1", entry))
        state = await person(holder, lambda now: len(now.gates) == 2)
    assert (state.gates[-1].id, state.gates[-1].open, state.iteration) == ("plan-2", True, 1)


@pytest.mark.parametrize("point", ["before_checkpoint", "before_release", "after_release"])
async def test_an_orchestrator_killed_where_a_gate_is_opened_or_heard_loses_and_doubles_nothing(
    settings: Settings,
    submitting: Store,
    start_worker: StartWorker,
    start_orchestrator: Callable[..., RunningOrchestrator],
    point: str,
) -> None:
    start_worker()
    create(submitting, COUNT, pipeline="full")
    reader = Holder(settings, async_store(settings), "reader")

    def armed(name: str) -> RunningOrchestrator:
        marker = str(settings.home / f"fired-{name}")
        return start_orchestrator(name, SIMRELAY_FAULT=f"{point}:kill", SIMRELAY_FAULT_MARKER=marker)

    opening = armed("opening")
    await until(lambda: _dead(opening), what="killed on its way to the gate")
    start_orchestrator("second")
    state = await asked(reader)
    assert [gate.id for gate in state.gates] == ["plan-1"]
    say(submitting, "approve", "plan-1")
    record = await run_in(reader.store, "r1", "SUCCEEDED", "FAILED", seconds=60)
    state = await reader.view("r1")
    await reader.store.client.aclose()
    assert (record.error, record.answer) == ("", "2 SUCCEEDED")
    assert [(gate.id, gate.status) for gate in state.gates] == [("plan-1", GateStatus.APPROVED)]
    assert state.history.count("ana approved plan-1") == 1
    assert len(submitting.run(listing.jobs(run="r1")).rows) == 2


@pytest.mark.parametrize("gate", ["plan-1", pytest.param("review-2", marks=pytest.mark.slow)])
async def test_an_orchestrator_killed_in_the_node_that_opens_a_gate_and_in_the_one_that_hears_it_does_both_once(
    settings: Settings,
    submitting: Store,
    start_worker: StartWorker,
    start_orchestrator: Callable[..., RunningOrchestrator],
    gate: str,
) -> None:
    start_worker()
    create(submitting, COUNT, pipeline="looped")
    reader = Holder(settings, async_store(settings), "reader")
    if gate == "review-2":
        before = start_orchestrator("before")
        await asked(reader)
        before.kill()
        say(submitting, "approve", "plan-1")

    async def killed_at(point: str) -> None:
        marker = str(settings.home / f"fired-{point}")
        armed = start_orchestrator(point, SIMRELAY_FAULT=f"{point}:kill", SIMRELAY_FAULT_MARKER=marker)
        await until(lambda: _dead(armed), seconds=60, what=f"killed at {point}")

    await killed_at("gate_opened")
    assert not any(one.id == gate for one in (await reader.view("r1")).gates)
    waiting = start_orchestrator("waiting")
    await person(reader, lambda now: any(one.id == gate and one.open for one in now.gates))
    waiting.kill()
    say(submitting, "approve", gate)
    await killed_at("heard")
    assert (await reader.view("r1")).gates[-1].open
    start_orchestrator("last")
    if gate == "plan-1":
        await person(reader, lambda now: now.gates[-1].id == "review-2")
        say(submitting, "approve", "review-2")
    record = await run_in(reader.store, "r1", "SUCCEEDED", "FAILED", seconds=60)
    state = await reader.view("r1")
    await reader.store.client.aclose()
    assert (record.error, record.answer) == ("", "2 SUCCEEDED")
    assert [(one.id, one.status.value) for one in state.gates] == [("plan-1", "approved"), ("review-2", "approved")]
    assert [state.history.count(f"ana approved {one.id}") for one in state.gates] == [1, 1]
    jobs = submitting.run(listing.jobs(run="r1")).rows
    assert [len(submitting.run(listing.attempts(job.id))) for job in jobs] == [1, 1]


async def test_an_orchestrator_killed_while_it_hears_an_approval_does_not_lose_it(
    settings: Settings,
    submitting: Store,
    start_worker: StartWorker,
    start_orchestrator: Callable[..., RunningOrchestrator],
) -> None:
    start_worker()
    create(submitting, COUNT, pipeline="full")
    async with holding(settings) as holder:
        await asked(holder)
    say(submitting, "approve", "plan-1")
    marker = str(settings.home / "fired")
    hearing = start_orchestrator("n1", SIMRELAY_FAULT="before_checkpoint:kill", SIMRELAY_FAULT_MARKER=marker)
    await until(lambda: _dead(hearing), what="killed before what it heard was written")
    async with holding(settings, "last") as holder:
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED", seconds=60)
        state = await holder.view("r1")
    assert (record.error, record.answer) == ("", "2 SUCCEEDED")
    assert state.history.count("ana approved plan-1") == 1


async def test_a_run_that_needs_a_person_outlasts_a_killed_redis(tmp_path: Path) -> None:
    server = RedisServer(tmp_path / "redis", fsync="always")
    server.start()
    try:
        settings = settings_for(server, tmp_path)
        store = prepare(settings)
        create(store, COUNT, pipeline="full")
        async with holding(settings) as holder:
            before = await asked(holder)
            server.kill()
            server.start()
            await until(lambda: _answers(holder), what="Redis is back")
            assert await asked(holder) == before
            say(store, "reject", "plan-1")
            record = await run_in(holder.store, "r1", "CANCELLED", "FAILED")
        assert record.error == "ana rejected the plan"
    finally:
        server.stop()


def plan_by_model(asked_for: Asked) -> Planned:
    """Plan as the counting agent does, as if a language model had chosen it."""
    return replace(plan_counting(asked_for), decision=Decision(rule="model", agent="counting_agent"))


async def person(holder: Holder, look: Callable[[RunState], bool]) -> RunState:
    """Wait until a run waits for a person in a state of a kind."""

    async def check() -> RunState | None:
        record = await holder.store.run(listing.run("r1"))
        state = await holder.view("r1")
        return state if record and record.state == "NEEDS_PERSON" and look(state) else None

    found: RunState = await until(check, seconds=60, what="it waits for a person")
    return found


async def _dead(orchestrator: RunningOrchestrator) -> bool:
    return orchestrator.process.poll() is not None


async def _answers(holder: Holder) -> bool:
    try:
        return bool(await holder.store.client.ping())
    except (redis.exceptions.RedisError, OSError):
        return False
