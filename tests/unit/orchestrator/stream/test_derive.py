"""Events out of changes of the state: what is told, in which order, under keys of their own."""

from __future__ import annotations

from datetime import UTC, datetime

from orchestrator.asking import Gate, GateKind, GateStatus, Question
from orchestrator.people import revise
from orchestrator.state import SUMMARY, Decision, Dispatched, Event, Finding, Manifest, Plan, RunState, Step, StepStatus
from orchestrator.stream.derive import LONGEST_TEXT, events_of
from orchestrator.stream.telling import telling
from tasks.results import Artifact

PLAN = Plan(
    title="count",
    steps=(
        Step(number=1, agent="a", description="first"),
        Step(number=2, agent="b", description="second", depends_on=(1,)),
        Step(number=3, agent=SUMMARY, description="sum up", depends_on=(1, 2)),
    ),
)


def with_step(state: RunState, number: int, **changes: object) -> RunState:
    """Give the state with a step changed."""
    step = state.plan.step(number).model_copy(update=changes)
    return state.model_copy(update={"plan": state.plan.replace(step)})


def batch(number: int = 1) -> Dispatched:
    """Give a frozen batch."""
    file = Artifact(path=f"m{number}.json", size_bytes=1, sha256="0" * 64, role="manifest")
    manifest = Manifest(artifact=file, hash="f" * 64, count=3)
    return Dispatched(batch_id=f"r-s1-r{number}", round=number, manifest=manifest, core_seconds=60.0)


def gate(**changes: object) -> Gate:
    """Give a gate."""
    known = {"id": "plan-1", "kind": GateKind.PLAN, "hash": "f", "text": "the plan", "expires": datetime.now(UTC)}
    return Gate.model_validate({**known, **changes})


def kinds(before: RunState, after: RunState) -> list[tuple[str, object]]:
    """Give kinds and what they are about."""
    names = ("step", "gate", "question", "status", "text")
    return [(e.kind, next((e.data[n] for n in names if n in e.data), None)) for e in events_of(before, after)]


def test_nothing_is_told_of_no_change() -> None:
    state = RunState(told=1, plan=PLAN, gates=(gate(),), answer="x", error="y")
    assert events_of(state, state) == ()
    assert events_of(RunState(), RunState(history=["a line"])) == ()


def test_a_decision_is_told_before_its_plan() -> None:
    after = RunState(plan=PLAN, decision=Decision(rule="complexity", reason="two molecules"))
    thinking, plan = events_of(RunState(), after)
    assert thinking.data == {"text": "two molecules", "rule": "complexity", "agent": ""}
    assert plan.kind == "plan"
    assert [(step["step"], step["status"], step["depends_on"]) for step in plan.data["steps"]] == [
        (1, "pending", []),
        (2, "pending", [1]),
        (3, "pending", [1, 2]),
    ]


def test_a_run_that_begins_with_a_plan_tells_it_before_its_first_step() -> None:
    begun = with_step(RunState(plan=PLAN), 1, status=StepStatus.DONE)
    told = events_of(begun, with_step(begun, 2, status=StepStatus.DONE))
    assert [e.kind for e in told] == ["plan", "agent_start", "agent_end"]
    assert told[1].data["step"] == 2


def test_a_step_without_jobs_starts_and_ends_at_once_with_its_finding() -> None:
    before = RunState(told=1, plan=PLAN)
    after = with_step(before, 1, status=StepStatus.DONE).model_copy(
        update={"findings": (Finding(step=1, agent="a", summary="found", stage="identified"),)}
    )
    start, end = events_of(before, after)
    assert (start.kind, start.data) == (
        "agent_start",
        {"step": 1, "agent": "a", "iteration": 0, "description": "first"},
    )
    assert end.kind == "agent_end"
    assert (end.data["status"], end.data["summary"], end.data["stage"]) == ("done", "found", "identified")


def test_a_step_with_jobs_starts_with_its_action_and_ends_later() -> None:
    before = RunState(told=1, plan=PLAN)
    running = with_step(before, 1, status=StepStatus.RUNNING, batches=(batch(),))
    again = with_step(running, 1, batches=(batch(), batch(2)))
    failed = with_step(again, 1, status=StepStatus.FAILED, error="why")
    failed = failed.model_copy(update={"plan": failed.plan.with_hopeless_skipped()})
    assert [e.kind for e in events_of(before, running)] == ["agent_start", "action"]
    (action,) = events_of(running, again)
    assert (action.data["batch"], action.data["round"], action.data["jobs"]) == ("r-s1-r2", 2, 3)
    plan, end = events_of(again, failed)
    assert [step["status"] for step in plan.data["steps"]] == ["failed", "skipped", "skipped"]
    assert (end.kind, end.data["status"], end.data["error"]) == ("agent_end", "failed", "why")
    assert events_of(running, with_step(running, 1, batches=(batch().model_copy(update={"sent": True}),))) == ()


def test_a_gate_is_told_when_it_opens_and_when_it_is_decided() -> None:
    before = RunState(told=1, plan=PLAN)
    opened = before.model_copy(update={"gates": (gate(),)})
    approved = before.model_copy(update={"gates": (gate(status=GateStatus.APPROVED, by="ana"),)})
    (asked,) = events_of(before, opened)
    (decided,) = events_of(opened, approved)
    assert (asked.kind, asked.data["gate"], asked.data["status"], asked.data["text"]) == (
        "approval",
        "plan-1",
        "open",
        "the plan",
    )
    assert (decided.data["status"], decided.data["by"]) == ("approved", "ana")


def test_a_question_is_told_when_it_is_asked_and_when_it_is_answered() -> None:
    asked = RunState(questions=(Question(id="route-1", text="Which?"),))
    answered = RunState(questions=(Question(id="route-1", text="Which?", answer="a", by="ana"),))
    (cue,) = events_of(RunState(), asked)
    assert (cue.kind, cue.data["question"], cue.data["open"]) == ("cue_user", "route-1", True)
    (said,) = events_of(asked, answered)
    assert (said.data["open"], said.data["answer"], said.data["by"]) == (False, "a", "ana")


def test_a_revision_tells_the_verdict_then_the_new_plan_then_its_steps_under_new_keys() -> None:
    done = RunState(told=1, plan=PLAN, gates=(gate(kind=GateKind.REVIEW),))
    done = with_step(with_step(done, 1, status=StepStatus.DONE), 2, status=StepStatus.DONE)
    heard = revise(done, 2, "again").model_copy(
        update={"gates": (gate(kind=GateKind.REVIEW, status=GateStatus.REVISED),)}
    )
    assert [e.kind for e in events_of(done, heard)] == ["approval", "plan"]
    again = with_step(heard, 2, status=StepStatus.DONE)
    first = events_of(with_step(RunState(told=1, plan=PLAN), 1, status=StepStatus.DONE), done)
    (start, end) = events_of(heard.model_copy(update={"told": 7}), again)
    assert (start.data["iteration"], end.data["iteration"]) == (1, 1)
    assert not {start.key, end.key} & {e.key for e in first}


def test_a_running_step_that_is_done_anew_ends_withdrawn_before_the_new_plan() -> None:
    running = with_step(RunState(told=1, plan=PLAN), 1, status=StepStatus.RUNNING, batches=(batch(),))
    end, plan = events_of(running, revise(running, 1, "again"))
    assert (end.kind, end.data["status"], end.data["iteration"]) == ("agent_end", "withdrawn", 0)
    assert (plan.kind, plan.data["iteration"]) == ("plan", 1)


def test_a_failed_step_that_is_repaired_starts_again() -> None:
    failed = with_step(RunState(told=1, plan=PLAN), 1, status=StepStatus.FAILED, error="x")
    repaired = with_step(failed, 1, status=StepStatus.RUNNING, error="", batches=(batch(),))
    assert [e.kind for e in events_of(failed, repaired)] == ["agent_start", "action"]


def test_what_ends_a_run_comes_after_its_steps() -> None:
    running = with_step(RunState(told=1, plan=PLAN), 3, status=StepStatus.RUNNING)
    after = with_step(running, 3, status=StepStatus.DONE).model_copy(update={"error": "half", "answer": "42"})
    assert kinds(running, after) == [("agent_end", 3), ("error", "half"), ("text_delta", "42")]


def test_long_texts_are_cut_and_the_answer_is_not() -> None:
    long = "x" * (2 * LONGEST_TEXT)
    error, answer = events_of(RunState(), RunState(error=long, answer=long))
    assert len(error.data["text"]) == LONGEST_TEXT
    assert answer.data["text"] == long


async def test_a_node_that_tells_counts_what_it_told_and_tells_its_own_first() -> None:
    async def node(state: RunState) -> dict[str, object]:
        return {"answer": "42", "events": (Event(key="mine", kind="thinking"),)}

    update = await telling(node)(RunState(told=4), {})
    assert [e.key for e in update["events"]] == ["mine", "5:text_delta:answer"]
    assert update["told"] == 5
    again = await telling(node)(RunState(told=5, answer="42"), {})
    assert ([e.key for e in again["events"]], again["told"]) == (["mine"], 5)
