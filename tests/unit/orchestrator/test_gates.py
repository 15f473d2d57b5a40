"""Gates: where each pipeline has them, what an approval covers, and what it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator import gates
from orchestrator.asking import GateKind, GateStatus, Options, Pipeline, Question
from orchestrator.gates import plan_hash
from orchestrator.state import Decision, Goal, RunState, StepStatus
from tasks.settings import Settings
from tests.unit.orchestrator.states import NOW, all_done, approved, batch, gate, run_state, with_steps

#: a batch may cost one core hour
LIMIT_SECONDS = 3600.0


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings under which one core hour needs no approval, and a gate stands for two hours."""
    return Settings.model_validate({"home": tmp_path, "approval_core_hours": 1.0, "approval_expires_hours": 2.0})


def kinds(state: RunState, settings: Settings) -> list[GateKind]:
    return [kind for kind, _, _ in gates.wanted(state, settings)]


def with_batch(state: RunState, core_seconds: float | None) -> RunState:
    """Give the state in which step 4 has frozen its jobs."""
    return with_steps(state, (4,), status=StepStatus.RUNNING, batches=(batch(4, "jobs", core_seconds=core_seconds),))


def test_a_short_pipeline_begins_at_once(settings: Settings) -> None:
    state = run_state(Pipeline.SHORT)
    assert gates.wanted(state, settings) == []
    assert [step.number for step in gates.startable(state)] == [1, 4]


@pytest.mark.parametrize("pipeline", [Pipeline.FULL, Pipeline.LOOPED])
def test_nothing_of_a_plan_begins_before_its_exact_hash_is_approved(settings: Settings, pipeline: Pipeline) -> None:
    state = run_state(pipeline)
    assert kinds(state, settings) == [GateKind.PLAN]
    assert gates.startable(state) == []
    assert gates.startable(approved(state, GateKind.PLAN, "another plan")) == []
    assert [step.number for step in gates.startable(approved(state, GateKind.PLAN, plan_hash(state)))] == [1, 4]


@pytest.mark.parametrize("status", [GateStatus.OPEN, GateStatus.REJECTED, GateStatus.REVISED, GateStatus.EXPIRED])
def test_only_an_approval_lets_a_plan_begin(status: GateStatus) -> None:
    state = run_state(Pipeline.FULL)
    state = state.model_copy(update={"gates": (gate(digest=plan_hash(state), status=status),)})
    assert not gates.plan_is_approved(state)


def test_an_approval_of_an_earlier_iteration_counts_for_nothing() -> None:
    state = run_state()
    state = approved(state, GateKind.PLAN, plan_hash(state)).model_copy(update={"iteration": 1})
    assert not gates.plan_is_approved(state)


def test_the_hash_follows_goals_molecules_and_iteration_and_nothing_that_comes_and_goes() -> None:
    state = run_state()
    same = state.model_copy(update={"species": (state.species[0].model_copy(update={"geometry_level": "GFN2-xTB"}),)})
    others = (
        with_steps(state, (2,), goal=Goal(method="PBE0")),
        state.model_copy(update={"species": ()}),
        state.model_copy(update={"iteration": 1}),
    )
    assert plan_hash(same) == plan_hash(state)
    assert len({plan_hash(state), *(plan_hash(other) for other in others)}) == 4


def test_molecules_that_a_step_finds_out_do_not_take_the_approval_away() -> None:
    state = run_state()
    state = with_steps(approved(state, GateKind.PLAN, plan_hash(state)), (1,), status=StepStatus.DONE)
    state = state.model_copy(update={"species": ()})
    assert gates.plan_is_approved(state)


def test_a_plan_that_is_still_to_be_changed_is_not_offered_for_approval(settings: Settings) -> None:
    question = Question(id="feedback-1", text="What?", closed=False)
    state = run_state(questions=(question,))
    assert kinds(state, settings) == []
    answered = question.model_copy(update={"answer": "again"})
    assert kinds(state.model_copy(update={"questions": (answered,)}), settings) == [GateKind.PLAN]


@pytest.mark.parametrize(
    ("pipeline", "rule", "core_seconds", "asked"),
    [
        (Pipeline.SHORT, "keyword_route", 1e9, False),
        (Pipeline.SHORT, "keyword_route", None, False),
        (Pipeline.SHORT, "model", LIMIT_SECONDS, False),  # at the limit is not above it
        (Pipeline.SHORT, "model", LIMIT_SECONDS + 1, True),
        (Pipeline.SHORT, "model", None, True),
        (Pipeline.FULL, "keyword_route", LIMIT_SECONDS, False),
    ],
)
def test_what_costs_more_than_the_limit_needs_an_approval_where_there_are_gates_or_a_model_decided(
    settings: Settings, pipeline: Pipeline, rule: str, core_seconds: float | None, asked: bool
) -> None:
    state = run_state(pipeline, decision=Decision.model_validate({"rule": rule}))
    state = with_batch(state, core_seconds)
    assert [s.number for s, _ in gates.held_back(state, settings)] == ([4] if asked else [])
    assert [s.number for s, _ in gates.dispatchable(state, settings)] == ([] if asked else [4])


@pytest.mark.parametrize(
    ("planned", "core_seconds", "asked"),
    [
        (10_000.0, 15_000.0, False),  # half as much again as the plan said
        (10_000.0, 15_001.0, True),
        (None, 15_000.0, True),  # the plan knew no cost, and this has one above the limit
        (10_000.0, None, False),  # nothing was known, and the plan said so
        (None, None, False),
    ],
)
def test_an_approved_plan_covers_what_it_said_with_a_margin(
    settings: Settings, planned: float | None, core_seconds: float | None, asked: bool
) -> None:
    state = run_state(Pipeline.FULL)
    state = approved(state, GateKind.PLAN, plan_hash(state), core_seconds=planned)
    state = with_batch(state, core_seconds)
    assert bool(gates.held_back(state, settings)) is asked


def test_what_was_dispatched_before_counts_towards_the_plans_cost(settings: Settings) -> None:
    state = run_state(Pipeline.FULL)
    state = approved(state, GateKind.PLAN, plan_hash(state), core_seconds=10_000.0)
    sent = batch(2, core_seconds=9_000.0, sent=True)
    state = with_steps(state, (2,), status=StepStatus.DONE, batches=(sent,))
    assert gates.held_back(with_batch(state, 6_000.0), settings) == []
    assert gates.held_back(with_batch(state, 6_001.0), settings) != []


def test_an_approved_cost_covers_its_exact_specs_and_no_others(settings: Settings) -> None:
    state = with_batch(run_state(Pipeline.SHORT, decision=Decision(rule="model")), 1e6)
    assert gates.wanted(state, settings) == [(GateKind.COST, "jobs", (4,))]
    assert gates.held_back(approved(state, GateKind.COST, "jobs"), settings) == []
    assert gates.held_back(approved(state, GateKind.COST, "other jobs"), settings) != []


@pytest.mark.parametrize(
    ("pipeline", "asked"), [(Pipeline.SHORT, False), (Pipeline.FULL, False), (Pipeline.LOOPED, True)]
)
def test_only_a_looped_run_is_reviewed_before_its_report(settings: Settings, pipeline: Pipeline, asked: bool) -> None:
    state = run_state(pipeline)
    state = all_done(approved(state, GateKind.PLAN, plan_hash(state)))
    assert kinds(state, settings) == ([GateKind.REVIEW] if asked else [])
    assert [step.number for step in gates.startable(state)] == ([] if asked else [5])


def test_results_are_not_reviewed_while_a_step_is_left(settings: Settings) -> None:
    state = run_state()
    state = all_done(approved(state, GateKind.PLAN, plan_hash(state)))
    assert kinds(with_steps(state, (4,), status=StepStatus.RUNNING), settings) == []


def test_after_the_last_iteration_the_report_is_written_without_a_review(settings: Settings) -> None:
    state = run_state(options=Options(pipeline=Pipeline.LOOPED, max_iterations=1), iteration=1)
    state = all_done(approved(state, GateKind.PLAN, plan_hash(state)))
    assert kinds(state, settings) == []
    assert [step.number for step in gates.startable(state)] == [5]


def test_a_review_of_an_earlier_iteration_is_no_review(settings: Settings) -> None:
    state = approved(run_state(), GateKind.REVIEW, "results")
    assert gates.review_is_done(state)
    assert not gates.review_is_done(state.model_copy(update={"iteration": 1}))


def test_a_gate_is_opened_once_with_an_expiry_and_closes_the_one_that_it_replaces(settings: Settings) -> None:
    state = run_state()
    for digest in ("old", plan_hash(state)):
        state = gates.open_gate(
            state, GateKind.PLAN, digest, (1,), text="?", core_seconds=None, now=NOW, settings=settings
        )
    assert [(g.id, g.status) for g in state.gates] == [("plan-1", GateStatus.EXPIRED), ("plan-2", GateStatus.OPEN)]
    assert (state.gates[1].expires - NOW).total_seconds() == 2 * 3600
    assert gates.wanted(state, settings) == []


def test_costs_of_several_steps_are_asked_about_side_by_side(settings: Settings) -> None:
    state = run_state(Pipeline.SHORT)
    for digest in ("one", "two"):
        state = gates.open_gate(
            state, GateKind.COST, digest, (4,), text="?", core_seconds=1.0, now=NOW, settings=settings
        )
    assert [g.id for g in gates.open_gates(state)] == ["cost-1", "cost-2"]


@pytest.mark.parametrize("status", [GateStatus.OPEN, GateStatus.REJECTED, GateStatus.REVISED, GateStatus.EXPIRED])
def test_only_an_approval_lets_a_batch_or_a_report_pass(settings: Settings, status: GateStatus) -> None:
    state = with_batch(run_state(Pipeline.SHORT, decision=Decision(rule="model")), 1e6)
    state = state.model_copy(update={"gates": (gate(GateKind.COST, "jobs", status=status),)})
    assert gates.dispatchable(state, settings) == []
    reviewed = run_state(gates=(gate(GateKind.REVIEW, "results", status=status),))
    assert not gates.review_is_done(reviewed)


def test_a_plan_that_is_not_approved_covers_no_cost(settings: Settings) -> None:
    state = with_batch(run_state(Pipeline.FULL), 2 * LIMIT_SECONDS)
    state = state.model_copy(update={"gates": (gate(core_seconds=1e9),)})
    assert gates.dispatchable(state, settings) == []


def test_what_was_asked_about_once_is_asked_again_after_its_gate_expired(settings: Settings) -> None:
    state = run_state(Pipeline.FULL)
    expired = gate(digest=plan_hash(state), status=GateStatus.EXPIRED)
    state = state.model_copy(update={"gates": (expired,)})
    assert kinds(state, settings) == [GateKind.PLAN]
    assert gates.open_gates(state) == []


def test_another_question_does_not_hold_back_the_approval_of_a_plan(settings: Settings) -> None:
    state = run_state(questions=(Question(id="recovery-1", text="What?", asked_by="recovery", step=1),))
    assert kinds(state, settings) == [GateKind.PLAN]


def test_a_gate_that_is_opened_leaves_decided_ones_and_those_of_other_kinds_alone(settings: Settings) -> None:
    decided = gate(digest="old", status=GateStatus.APPROVED)
    cost = gate(GateKind.COST, "jobs", id="cost-2")
    state = run_state(gates=(decided, cost))
    state = gates.open_gate(
        state, GateKind.PLAN, "new", (1,), text="?", core_seconds=None, now=NOW, settings=settings
    )  # fmt: skip
    assert [(g.id, g.status.value) for g in state.gates] == [
        ("plan-1", "approved"),
        ("cost-2", "open"),
        ("plan-3", "open"),
    ]
