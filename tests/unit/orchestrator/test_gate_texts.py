"""What people are asked at gates."""

from __future__ import annotations

import pytest

from orchestrator.gate_texts import cost_text, plan_text, review_text
from orchestrator.state import StepStatus
from tests.unit.orchestrator.states import all_done, batch, run_state, with_steps


@pytest.mark.parametrize(
    ("jobs", "core_seconds", "words"),
    [
        (1, 0.0, "1 job, less than 0.01 core hours"),
        (2, 36.0, "2 jobs, about 0.01 core hours"),
        (40, 90_000.0, "40 jobs, about 25 core hours"),
        (3, None, "3 jobs, at a cost that is not known"),
    ],
)
def test_a_plan_is_shown_with_its_steps_and_its_cost(jobs: int, core_seconds: float | None, words: str) -> None:
    first, *steps = plan_text(run_state(), jobs, core_seconds).splitlines()
    assert first.startswith(f"plan of 5 steps, {words}: ")
    assert steps[1] == "2. optimise (qm_agent)"


def test_a_batch_is_shown_with_its_cost() -> None:
    step = with_steps(run_state(), (2,), batches=(batch(2, core_seconds=7200.0),)).plan.step(2)
    assert cost_text(step) == "step 2, optimise: 2 jobs, about 2 core hours"


def test_results_are_shown_with_what_failed() -> None:
    state = with_steps(all_done(run_state()), (4,), status=StepStatus.FAILED, error="SCF")
    assert review_text(state).splitlines()[0] == "results, before the report"
    assert review_text(state).splitlines()[-1] == "4. failed: SCF"
    revised = state.model_copy(update={"iteration": 1})
    assert review_text(revised).startswith("results after 1 revision, before the report")
