"""What people are asked at gates."""

from __future__ import annotations

import pytest

from orchestrator.gate_texts import cost_text, plan_text, review_text
from orchestrator.pricing import Priced, job_words
from orchestrator.state import StepStatus
from tests.unit.orchestrator.states import all_done, batch, run_state, with_steps


def shown(*jobs: dict[str, object], usual: int = 0) -> list[dict[str, object]]:
    """Give the rows of a preview: the second step has these jobs, and the others none."""
    nothing: dict[str, object] = {"jobs": [], "estimated_cost": {"jobs": 0, "core_seconds": 0.0, "unknown": 0}}
    costs = [job["estimated_cost"]["core_seconds"] for job in jobs]  # type: ignore[index]
    cost = {"jobs": usual + len(jobs), "core_seconds": sum(c or 0.0 for c in costs), "unknown": costs.count(None)}
    return [nothing, {"jobs": list(jobs), "estimated_cost": cost}, nothing, nothing, nothing]


def job(name: str, core_seconds: float | None) -> dict[str, object]:
    """Give a job as a preview shows it."""
    spec = {"kind": "quantum", "task": "optimisation", "method": "B3LYP", "basis": "def2-SVP", "label": name}
    return {"spec": spec, "estimated_cost": {"core_seconds": core_seconds}}


@pytest.mark.parametrize(
    ("jobs", "core_seconds", "unknown", "words"),
    [
        (1, 0.0, 0, "1 job, less than 0.01 core hours"),
        (2, 36.0, 0, "2 jobs, about 0.01 core hours"),
        (40, 90_000.0, 0, "40 jobs, about 25 core hours"),
        (3, 0.0, 3, "3 jobs at a cost that is not known"),
        (3, 3600.0, 1, "3 jobs, about 1 core hours and 1 job among them at a cost that is not known"),
    ],
)
def test_a_plan_is_shown_with_its_steps_and_its_cost(jobs: int, core_seconds: float, unknown: int, words: str) -> None:
    cost = {"jobs": jobs, "core_seconds": core_seconds, "unknown": unknown}
    first, *steps = plan_text(run_state(), shown(), cost).splitlines()
    assert first.startswith(f"plan of 5 steps, {words}: ")
    assert steps[1] == "2. optimise (qm_agent)"


def test_a_step_with_several_jobs_shows_each_with_its_cost() -> None:
    rows = shown(job("water", 1800.0), job("ethanol", None))
    lines = plan_text(run_state(), rows, rows[1]["estimated_cost"]).splitlines()  # type: ignore[arg-type]
    assert lines[2:5] == [
        "2. optimise (qm_agent): 2 jobs, about 0.5 core hours and 1 job among them at a cost that is not known",
        "   water, optimisation with B3LYP/def2-SVP: about 0.5 core hours",
        "   ethanol, optimisation with B3LYP/def2-SVP: at a cost that is not known",
    ]


def test_a_batch_is_shown_job_by_job_and_what_is_left_of_many_together() -> None:
    step = with_steps(run_state(), (2,), batches=(batch(2, core_seconds=7200.0),)).plan.step(2)
    jobs = [Priced(words=f"molecule {n}", core_seconds=3600.0) for n in range(2)]
    assert cost_text(step, jobs, 1.5).splitlines() == [
        "step 2, optimise: 2 jobs, about 2 core hours",
        "   molecule 0: about 1 core hours",
        "   molecule 1: about 1 core hours",
        "It needs an approval: more than 1.5 core hours, beyond what was approved so far.",
    ]
    many = [Priced(words=f"molecule {n}", core_seconds=3600.0) for n in range(30)]
    assert cost_text(step, many, 1.5).splitlines()[-3:-1] == [
        "   molecule 19: about 1 core hours",
        "   and 10 more jobs, about 10 core hours",
    ]
    unknown = [Priced(words="a program", core_seconds=None)]
    assert "a cost that is not known, beyond" in cost_text(step, unknown, 1.5).splitlines()[-1]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"kind": "quantum", "task": "optimisation_frequencies", "method": "GFN2-xTB", "engine": "xtb",
          "solvent": "water", "molecule": {"smiles": "O", "name": "water"}},
         "water, optimisation frequencies with GFN2-xTB in water, xtb"),
        ({"kind": "program", "program": "countdown", "engine": "program"}, "countdown"),
        ({"kind": "wavefunction", "label": "water", "engine": "wavefunction"}, "water, analysis of orbitals"),
        ({"kind": "swarm"}, "swarm"),
    ],
)  # fmt: skip
def test_a_job_is_said_in_a_few_words(spec: dict[str, object], words: str) -> None:
    assert job_words(spec) == words


def test_results_are_shown_with_what_failed() -> None:
    state = with_steps(all_done(run_state()), (4,), status=StepStatus.FAILED, error="SCF")
    assert review_text(state).splitlines()[0] == "results, before the report"
    assert review_text(state).splitlines()[-1] == "4. failed: SCF"
    revised = state.model_copy(update={"iteration": 1})
    assert review_text(revised).startswith("results after 1 revision, before the report")
