"""An ended run taken up again: what was done stays, the rest begins anew, and nothing of the old end is left."""

from __future__ import annotations

from orchestrator.asking import GateKind, GateStatus, Pipeline, Question, next_number
from orchestrator.recovery.record import Action, Recovery
from orchestrator.retry import taken_up_again
from orchestrator.state import RunState, StepStatus, Usage
from tests.unit.orchestrator.states import approved, artifact, batch, finding, gate, run_state, with_steps

OPTIONS = {"pipeline": "looped"}


def again(ended: RunState) -> RunState:
    return RunState.model_validate(taken_up_again(ended, "r2", "bo", "the request", OPTIONS))


def test_done_steps_stay_and_the_others_and_what_needs_them_are_pending() -> None:
    ended = with_steps(run_state(), (1, 2, 5), status=StepStatus.DONE, batches=(batch(2, sent=True),))
    ended = with_steps(ended, (3,), status=StepStatus.FAILED, error="x", batches=(batch(3, sent=True),), trouble="open")
    ended = with_steps(ended, (4,), status=StepStatus.RUNNING, batches=(batch(4),))
    ended = ended.model_copy(update={"findings": tuple(finding(n) for n in (1, 2, 5)), "error": "x", "answer": "y"})
    state = again(ended)
    assert [s.status.value for s in state.plan.steps] == ["done", "done", "pending", "pending", "pending"]
    assert [len(s.batches) for s in state.plan.steps] == [1, 1, 0, 0, 0]
    assert [s.trouble for s in state.plan.steps] == [""] * 5
    assert [f.step for f in state.findings] == [1, 2]
    assert (state.error, state.answer, state.finished, state.stopped) == ("", "", False, "")
    assert (state.run_id, state.owner, state.request, state.options.pipeline) == (
        "r2",
        "bo",
        "the request",
        Pipeline.LOOPED,
    )


def test_approvals_and_answers_stay_and_what_was_open_or_refused_is_asked_anew() -> None:
    ended = approved(run_state(), GateKind.PLAN, "h")
    refused = gate(GateKind.REVIEW, "r", status=GateStatus.REJECTED)
    questions = (Question(id="route-1", text="?", answer="yes"), Question(id="recovery-2", text="?"))
    state = again(ended.model_copy(update={"gates": (*ended.gates, refused), "questions": questions}))
    assert [g.hash for g in state.gates] == ["h"]
    assert [q.id for q in state.questions] == ["route-1"]


def test_what_is_asked_next_has_an_id_that_nothing_kept_has() -> None:
    kept = gate(GateKind.COST, "c", id="cost-3", status=GateStatus.APPROVED)
    refused = gate(GateKind.COST, "d", id="cost-2", status=GateStatus.REJECTED)
    answered, unanswered = Question(id="recovery-2", text="?", answer="skip"), Question(id="route-1", text="?")
    state = again(run_state().model_copy(update={"gates": (refused, kept), "questions": (unanswered, answered)}))
    assert ([g.id for g in state.gates], next_number(state.gates)) == (["cost-3"], 4)
    assert ([q.id for q in state.questions], next_number(state.questions)) == (["recovery-2"], 3)


def test_recoveries_of_what_is_done_anew_do_not_count_any_more() -> None:
    ended = with_steps(run_state(), (1, 2), status=StepStatus.DONE)
    tried = tuple(Recovery(step=number, signature="s", action=Action.RESOURCES) for number in (2, 3))
    assert [one.step for one in again(ended.model_copy(update={"recoveries": tried})).recoveries] == [2]


def test_a_molecule_that_a_failed_step_gave_up_takes_part_again_at_its_earlier_geometry() -> None:
    made, spoilt = artifact("water.xyz", "geometry"), artifact("water-step2.xyz", "geometry")
    ended = with_steps(run_state(), (1,), status=StepStatus.DONE)
    molecule = ended.species[0].model_copy(update={"error": "step 2: SCF", "geometry": spoilt})
    ended = ended.model_copy(update={"species": (molecule,), "findings": (finding(1, made),)})
    assert (again(ended).species[0].error, again(ended).species[0].geometry) == ("", made)


def test_a_run_that_ended_before_its_first_checkpoint_begins_anew() -> None:
    state = again(RunState())
    assert (state.plan.steps, state.run_id, state.request) == ((), "r2", "the request")


def test_it_tells_its_plan_anew_and_has_a_budget_of_its_own() -> None:
    ended = run_state(told=7, usage=Usage(calls=20))
    assert (again(ended).told, again(ended).usage) == (0, Usage())
