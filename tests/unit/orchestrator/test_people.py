"""What people say to a run, and what becomes of its state."""

from __future__ import annotations

from datetime import timedelta

import pytest

from orchestrator.asking import Candidate, GateKind, GateStatus, Options, Pipeline, Question
from orchestrator.people import hear, open_questions, revise, touched
from orchestrator.recovery.record import Action, Recovery, RecoveryStatus
from orchestrator.state import RunState, StepStatus
from tasks.records import InboxEntry
from tests.unit.orchestrator.states import NOW, all_done, artifact, batch, finding, gate, run_state, with_steps


def entry(kind: str, about: str, text: str = "", **more: object) -> InboxEntry:
    return InboxEntry.model_validate({"id": "e", "kind": kind, "about": about, "text": text, "by": "ana", **more})


def at_gate(kind: GateKind = GateKind.PLAN, **more: object) -> RunState:
    """Give a run that waits at one gate."""
    return run_state(gates=(gate(kind, **{"steps": (1, 2, 3, 4, 5), **more}),))


def test_an_approval_is_kept_with_who_gave_it() -> None:
    state = hear(at_gate(), [entry("approve", "plan-1")], NOW)
    assert (state.gates[0].status, state.gates[0].by) == (GateStatus.APPROVED, "ana")
    assert state.history == ["ana approved plan-1"]


@pytest.mark.parametrize("kind", ["approve", "reject", "revise"])
def test_a_verdict_on_no_gate_or_a_closed_one_changes_only_the_runs_account(kind: str) -> None:
    for before in (run_state(), at_gate(status=GateStatus.APPROVED)):
        after = hear(before, [entry(kind, "plan-1", "x")], NOW)
        assert after.model_copy(update={"history": []}) == before
        assert after.history == [f"{kind} of plan-1 by ana came too late: it is closed"]


def test_the_first_of_two_verdicts_counts() -> None:
    state = hear(at_gate(), [entry("approve", "plan-1"), entry("reject", "plan-1")], NOW)
    assert state.gates[0].status is GateStatus.APPROVED
    assert state.stopped == ""


@pytest.mark.parametrize("kind", ["approve", "reject", "revise"])
def test_a_verdict_after_the_expiry_counts_for_nothing(kind: str) -> None:
    state = hear(at_gate(), [entry(kind, "plan-1", "x")], NOW + timedelta(hours=2))
    assert state.gates[0].status is GateStatus.EXPIRED
    assert (state.iteration, state.stopped, state.feedback) == (0, "", "")


@pytest.mark.parametrize(("kind", "what"), [(GateKind.PLAN, "plan"), (GateKind.REVIEW, "results")])
def test_a_rejected_plan_or_result_stops_the_run(kind: GateKind, what: str) -> None:
    state = hear(at_gate(kind), [entry("reject", f"{kind.value}-1", "too dear")], NOW)
    assert state.stopped == f"ana rejected the {what}: too dear"


def test_a_rejected_cost_fails_its_step_and_skips_what_needs_it_and_no_more() -> None:
    state = with_steps(at_gate(GateKind.COST, steps=(2,)), (2,), status=StepStatus.RUNNING, batches=(batch(2),))
    state = hear(state, [entry("reject", "cost-1")], NOW)
    assert state.stopped == ""
    assert [step.status.value for step in state.plan.steps] == ["pending", "failed", "skipped", "pending", "pending"]
    assert state.plan.step(2).error == "ana rejected its cost"
    assert state.plan.step(2).batches == ()


def test_a_revision_of_a_cost_begins_at_its_own_step_whatever_is_named() -> None:
    state = with_steps(at_gate(GateKind.COST, steps=(4,)), (4,), status=StepStatus.RUNNING, batches=(batch(4),))
    state = hear(state, [entry("revise", "cost-1", "2 cores", step=1)], NOW)
    assert [step.iteration for step in state.plan.steps] == [0, 0, 0, 1, 1]
    assert state.plan.step(4).batches == ()


def test_no_revision_is_made_after_the_last_iteration() -> None:
    options = Options(pipeline=Pipeline.LOOPED, max_iterations=2)
    before = at_gate().model_copy(update={"iteration": 2, "options": options})
    state = hear(before, [entry("revise", "plan-1", "again")], NOW)
    assert (state.iteration, state.gates[0].status) == (2, GateStatus.OPEN)
    assert "last of 2 iterations" in state.history[0]


def test_a_revision_redoes_a_step_and_what_needs_it_and_keeps_the_rest() -> None:
    kept = artifact("runs/r1/water-step4.cube")
    before = all_done(at_gate(GateKind.REVIEW))
    before = before.model_copy(update={"findings": (*before.findings[:3], finding(4, kept))})
    state = hear(before, [entry("revise", "review-1", "PBE0", step=2)], NOW)
    assert [step.status.value for step in state.plan.steps] == ["done", "pending", "pending", "done", "pending"]
    assert [(f.step, f.artifacts) for f in state.findings] == [(1, ()), (4, (kept,))]
    assert (state.iteration, state.feedback) == (1, "PBE0")


def test_rounds_go_on_counting_and_a_batch_that_was_never_sent_is_not_waited_for() -> None:
    sent, unsent = batch(2, sent=True), batch(2).model_copy(update={"round": 2})
    state = with_steps(run_state(), (2,), batches=(sent, unsent), status=StepStatus.FAILED, error="x")
    state = revise(state, 2, "again")
    assert state.plan.step(2).batches == (sent,)
    assert state.plan.step(2).error == ""


def test_molecules_go_back_to_the_geometry_before_the_steps_that_are_redone() -> None:
    made = artifact("runs/r1/geometries/water.xyz", "geometry")
    better = artifact("runs/r1/geometries/water-step2.xyz", "geometry")
    before = all_done(run_state())
    molecule = before.species[0].model_copy(update={"geometry": better, "error": "step 3: SCF"})
    before = before.model_copy(update={"species": (molecule,), "findings": (finding(1, made), finding(2, better))})
    assert revise(before, 2, "x").species[0].geometry == made
    after = revise(before, 3, "x").species[0]
    assert (after.geometry, after.error) == (better, "")
    untouched = revise(before, 4, "x").species[0]
    assert (untouched.geometry, untouched.error) == (better, "step 3: SCF")


def test_touched_is_a_step_and_all_that_depends_on_it() -> None:
    plan = run_state().plan
    assert touched(plan, 1) == {1, 2, 3, 5}
    assert touched(plan, 4) == {4, 5}


def test_an_answer_is_kept_once_and_a_second_one_comes_too_late() -> None:
    question = Question(id="route-1", text="Which?", candidates=(Candidate(value="qm_agent", text="computes"),))
    state = run_state(questions=(question,))
    answers = [entry("answer", "route-1", "qm_agent"), entry("answer", "route-1", "md_agent")]
    state = hear(state, answers, NOW)
    assert (state.questions[0].answer, state.questions[0].by, state.feedback) == ("qm_agent", "ana", "")
    assert open_questions(state) == []
    assert state.history[-1] == "an answer of ana to route-1 came too late"


def test_the_answer_to_what_is_to_be_changed_is_the_feedback() -> None:
    state = run_state(questions=(Question(id="feedback-1", text="What?", closed=False),))
    state = hear(state, [entry("answer", "feedback-1", "PBE0/def2-TZVP")], NOW)
    assert state.feedback == "PBE0/def2-TZVP"


def test_entries_that_say_nothing_change_nothing() -> None:
    before = at_gate()
    assert hear(before, [entry("look", "plan-1")], NOW) == before


def test_each_entry_is_about_the_gate_or_question_that_it_names() -> None:
    first, second = gate(GateKind.COST, "a", id="cost-1", steps=(1,)), gate(GateKind.COST, "b", id="cost-2", steps=(4,))
    questions = tuple(Question(id=f"recovery-{n}", text="?", step=n) for n in (1, 2))
    state = run_state(gates=(first, second), questions=questions)
    state = hear(state, [entry("approve", "cost-2"), entry("answer", "recovery-2", "skip")], NOW)
    assert [g.status for g in state.gates] == [GateStatus.OPEN, GateStatus.APPROVED]
    assert [q.answer for q in state.questions] == ["", "skip"]


def test_after_the_last_iteration_an_approval_still_counts() -> None:
    options = Options(pipeline=Pipeline.LOOPED, max_iterations=1)
    state = at_gate().model_copy(update={"iteration": 1, "options": options})
    assert hear(state, [entry("approve", "plan-1")], NOW).gates[0].status is GateStatus.APPROVED


def test_a_revision_that_names_no_step_begins_at_the_gates_first() -> None:
    state = hear(all_done(at_gate(GateKind.REVIEW, steps=(2, 3))), [entry("revise", "review-1", "PBE0")], NOW)
    assert [step.iteration for step in state.plan.steps] == [0, 1, 1, 0, 1]


def test_a_batch_that_was_sent_goes_on_being_counted_after_a_revision() -> None:
    sent = batch(2, sent=True)
    state = with_steps(run_state(), (2,), batches=(sent,), status=StepStatus.DONE)
    assert revise(state, 2, "again").plan.step(2).batches == (sent,)


def test_a_rejected_cost_of_a_repair_leaves_the_step_with_what_it_has() -> None:
    failed = batch(2, sent=True).model_copy(update={"complete": True, "trouble": "open"})
    repair = batch(2).model_copy(update={"round": 2, "repairs": failed.batch_id})
    tried = Recovery(step=2, round=2, signature="s", action=Action.RESOURCES)
    other = Recovery(step=3, round=2, signature="s", action=Action.RESOURCES)
    state = with_steps(at_gate(GateKind.COST, steps=(2,)), (2,), status=StepStatus.RUNNING, batches=(failed, repair))
    state = state.model_copy(update={"recoveries": (tried, other)})
    state = hear(state, [entry("reject", "cost-1", "too dear")], NOW)
    assert state.plan.step(2).status is StepStatus.RUNNING
    assert [(b.round, b.trouble) for b in state.plan.step(2).batches] == [(1, "settled")]
    assert [r.status for r in state.recoveries] == [RecoveryStatus.REJECTED, RecoveryStatus.OPEN]
