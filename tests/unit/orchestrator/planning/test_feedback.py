"""Feedback: what is named is changed, in the steps that are done anew, and nothing else."""

from __future__ import annotations

import re
from functools import cache

import pytest

from orchestrator.planning import make_plan
from orchestrator.planning.dynamics import read_dynamics
from orchestrator.planning.dynamics_feedback import reworded
from orchestrator.planning.feedback import revise_plan
from orchestrator.planning.preview import preview_plan
from orchestrator.state import Plan, Species, Step, StepStatus, molecules_of
from tasks.errors import InputError

QUANTUM = "Compute the Gibbs energy of water at B3LYP/def2-SVP"
SWARM = "Design piperidinium cations for the backbone PBF_BB_1 with 10 particles and 5 steps"
DYNAMICS = "Run MD of 8 N,N-dimethylpiperidinium hydroxide pairs in water at 353 K for 50 ps and plot the MSD"
MAX_ATOMS = 400


@cache
def planned(request: str) -> tuple[Plan, tuple[Species, ...]]:
    _, plan, species = make_plan(request)
    return plan, species


def revised(request: str, feedback: str, agent: str) -> list[Step]:
    """Give the steps of an agent after a revision of the whole plan."""
    plan, species = planned(request)
    plan = revise_plan(plan, species, feedback, 0, request, MAX_ATOMS)
    return [step for step in plan.steps if step.agent == agent]


def test_level_and_solvent_are_changed_and_the_description_says_so() -> None:
    step = revised(QUANTUM, "PBE0/def2-TZVP in methanol", "qm_agent")[-1]
    assert (step.goal.method, step.goal.basis, step.goal.solvent) == ("PBE0", "def2-TZVP", "methanol")
    assert "PBE0/def2-TZVP" in step.description
    assert "methanol" in step.description


def test_a_basis_alone_leaves_the_method() -> None:
    step = revised(QUANTUM, "use def2-TZVP", "qm_agent")[-1]
    assert (step.goal.method, step.goal.basis) == ("B3LYP", "def2-TZVP")


@pytest.mark.parametrize(
    ("feedback", "field", "value"),
    [
        ("at 350 K", "temperature_kelvin", 350.0),
        ("at 80 °C", "temperature_kelvin", 353.15),
        ("at 2 bar", "pressure_pascal", 2e5),
        ("with 4 cores", "cores", 4),
        ("with 6 GB of memory", "memory_mb", 6144),
        ("with D4 dispersion", "dispersion", "D4"),
    ],
)
def test_one_thing_is_changed_and_the_rest_stays(feedback: str, field: str, value: object) -> None:
    plan, _ = planned(QUANTUM)
    before = [step for step in plan.steps if step.agent == "qm_agent"][-1].goal
    after = revised(QUANTUM, feedback, "qm_agent")[-1].goal
    assert getattr(after, field) == value
    kept = {field: getattr(before, field), "protocol": before.protocol}
    assert after.model_copy(update=kept) == before


def test_a_swarm_gets_other_numbers() -> None:
    swarm = revised(SWARM, "20 particles, 8 steps and seed 7", "hem_agent")[0].goal.swarm
    assert swarm
    assert (swarm.particles, swarm.steps, swarm.seed) == (20, 8, 7)


@pytest.mark.parametrize(
    ("feedback", "number"),
    [("only 5 candidates", 5), ("the best three, please", 3), ("top 2 candidates", 2), ("5 best", 5)],
)
def test_of_a_swarm_that_is_still_to_run_another_number_of_candidates_is_computed(feedback: str, number: int) -> None:
    plan, species = planned(SWARM)
    after = revise_plan(plan, species, feedback, 0, SWARM, MAX_ATOMS)
    assert after.step(1).goal.candidates == number
    assert after.step(1).goal.swarm == plan.step(1).goal.swarm
    assert f"the best {number} candidates" in after.step(4).description
    quantum = [row for row in preview_plan(after, (), SWARM, None, MAX_ATOMS)[0] if row["agent"] == "qm_agent"]
    assert [row["estimated_cost"]["jobs"] for row in quantum] == [number, number]


def found(number: int) -> tuple[Species, ...]:
    """Give what a swarm handed on."""
    return tuple(
        Species(name=f"candidate {n}", smiles="C" * n, found_by=1, geometry_level="GFN2-xTB")
        for n in range(1, number + 1)
    )


def test_of_candidates_that_were_found_only_the_best_go_on() -> None:
    plan, _ = planned(SWARM)
    plan = plan.model_copy(
        update={
            "steps": tuple(
                s.model_copy(update={"status": StepStatus.DONE} if s.number < 4 else {"iteration": 1})
                for s in plan.steps
            )
        }
    )
    after = revise_plan(plan, found(8), "only 5 candidates", 1, SWARM, MAX_ATOMS)
    assert [one.name for one in molecules_of(after.step(4), found(8))] == [f"candidate {n}" for n in range(1, 6)]
    assert [s for s in after.steps if s.number != 4] == [s for s in plan.steps if s.number != 4]
    with pytest.raises(InputError, match="more than the 3 that the swarm handed on"):
        revise_plan(plan, found(3), "only 5 candidates", 1, SWARM, MAX_ATOMS)


@pytest.mark.parametrize(
    ("request_text", "feedback", "said"),
    [(QUANTUM, "only 5 candidates", "without a swarm"), (SWARM, "only 500 candidates", "cannot be verified")],
)
def test_candidates_that_cannot_be_had_are_refused(request_text: str, feedback: str, said: str) -> None:
    plan, species = planned(request_text)
    with pytest.raises(InputError, match=said):
        revise_plan(plan, species, feedback, 0, request_text, MAX_ATOMS)


@pytest.mark.parametrize("request_text", [QUANTUM, SWARM, DYNAMICS])
def test_again_changes_nothing(request_text: str) -> None:
    plan, species = planned(request_text)
    assert revise_plan(plan, species, "do it again", 0, request_text, MAX_ATOMS) == plan


@pytest.mark.parametrize("request_text", [QUANTUM, SWARM, DYNAMICS])
@pytest.mark.parametrize("feedback", ["make it nicer", "hmm", "42"])
def test_what_names_nothing_is_refused_with_what_could_be_said(request_text: str, feedback: str) -> None:
    plan, species = planned(request_text)
    with pytest.raises(InputError) as caught:
        revise_plan(plan, species, feedback, 0, request_text, MAX_ATOMS)
    assert caught.value.field == "feedback"
    assert "or say 'again'" in caught.value.remedy


@pytest.mark.parametrize("feedback", ["PBE0/def2-NONSENSE", "in unobtainium"])
def test_what_cannot_be_computed_is_refused(feedback: str) -> None:
    with pytest.raises(InputError):
        revised(QUANTUM, feedback, "qm_agent")


def test_steps_that_are_not_done_anew_are_left_as_they_are() -> None:
    plan, species = planned(QUANTUM)
    last = max(step.number for step in plan.steps if step.agent == "qm_agent")
    plan = plan.replace(plan.step(last).model_copy(update={"iteration": 1}))
    after = revise_plan(plan, species, "PBE0", 1, QUANTUM, MAX_ATOMS)
    assert after.step(last).goal.method == "PBE0"
    others = [s.number for s in plan.steps if s.number != last and s.agent != "summary_agent"]
    assert [after.step(number) for number in others] == [plan.step(number) for number in others]


@pytest.mark.parametrize(
    ("feedback", "wanted"),
    [
        ("at 330 K", DYNAMICS.replace("353 K", "330 K")),
        ("100 ps", DYNAMICS.replace("50 ps", "100 ps")),
        ("at 300, 320 and 340 K for 1 ns", DYNAMICS.replace("353 K", "300, 320 and 340 K").replace("50 ps", "1 ns")),
        ("300 to 360 K in steps of 20 K", DYNAMICS.replace("353 K", "300 to 360 K in steps of 20 K")),
        ("with 4 cores", f"{DYNAMICS}, 4 cores"),
        ("equilibrate for 20 ps", f"{DYNAMICS}, equilibrate for 20 ps"),
        ("make it nicer", DYNAMICS),
        ("Run MD of 4 tetramethylammonium hydroxide pairs in water at 300 K for 10 ps",) * 2,
    ],
)
def test_a_simulation_is_asked_for_with_other_numbers_or_in_a_new_sentence(feedback: str, wanted: str) -> None:
    assert reworded(DYNAMICS, feedback) == wanted


def test_a_simulations_step_carries_its_new_words_and_says_so() -> None:
    step = revised(DYNAMICS, "at 330 K for 100 ps", "md_agent")[0]
    spec = read_dynamics(step.goal.query).specs[0]
    assert (spec.temperature_kelvin, spec.production_ps) == (330.0, 100.0)
    assert "at 330 K" in step.description
    assert "100 ps NPT" in step.description


def test_a_second_revision_begins_from_the_first() -> None:
    plan, species = planned(DYNAMICS)
    for feedback in ("at 330 K", "for 100 ps"):
        plan = revise_plan(plan, species, feedback, 0, DYNAMICS, MAX_ATOMS)
    step = next(step for step in plan.steps if step.agent == "md_agent")
    spec = read_dynamics(step.goal.query).specs[0]
    assert (spec.temperature_kelvin, spec.production_ps) == (330.0, 100.0)


def test_other_molecules_are_another_run() -> None:
    with pytest.raises(InputError, match="other molecules"):
        revised(DYNAMICS, "Run MD of 4 tetramethylammonium hydroxide pairs in water at 300 K for 10 ps", "md_agent")


@pytest.mark.parametrize(
    ("request_text", "feedback", "protocol"),
    [
        ("HOMO of 'CCO' with B3LYP", "PBE0/def2-TZVP in methanol", "PBE0/def2-TZVP//GFN2-xTB in methanol"),
        ("HOMO of 'CCO' with PBE0 in water", "in the gas phase", "PBE0/def2-SVP//GFN2-xTB"),
        ("HOMO of 'CCO' with PBE0 in water", "with D4", "PBE0-D4/def2-SVP//GFN2-xTB in water"),
        ("HOMO of 'CCO' with PBE0-D4 in water", "without dispersion", "PBE0/def2-SVP//GFN2-xTB in water"),
    ],
)
def test_report_and_steps_name_the_level_that_is_computed_now(request_text: str, feedback: str, protocol: str) -> None:
    plan, species = planned(request_text)
    for step in plan.steps:
        plan = plan.replace(step.model_copy(update={"iteration": 1}))
    after = revise_plan(plan, species, feedback, 1, request_text, MAX_ATOMS)
    assert {after.steps[-1].goal.protocol, after.steps[-2].goal.protocol} == {protocol}


#: what there is to be changed besides, so that a feedback is not refused for changing nothing
TWO = "Compare the HOMO of TMA and DMP"
MIXED = "Hirshfeld charges of TMA; and MD of 8 DMP hydroxide pairs in water at 300 K for 1 ns"
FOUND = "Design piperidinium cations for PBF_BB_1; simulate 8 pairs of the best two in water at 300 K for 5 ps"


@pytest.mark.parametrize(
    ("request_text", "feedback", "said"),
    [
        (QUANTUM, "4 cores and also compute the dipole", "asks for what these steps do not compute"),
        (QUANTUM, "4 cores, and leave out step 2", "'leave out step 2' speaks of a single step"),
        (QUANTUM, "4 cores, leave out the optimisation", "takes something out of the plan"),
        (QUANTUM, "PBE0 with 16 pairs", "holds '16'"),
        (QUANTUM, "PBE0 at 300 nm", "holds '300 nm'"),
        (QUANTUM, "B3PW91 and 4 cores", "'B3PW91 and 4' is not understood"),
        (QUANTUM, "PBE0 for TMA", "'tetramethylammonium' names other molecules"),
        (QUANTUM, "4 cores with orca", "'engine: orca' is asked for, and no step"),
        (QUANTUM, "4 cores, with a finer grid", "'with a finer grid' names what a change does not reach"),
        (TWO, "PBE0 at 350 K", "'temperature_kelvin: 350.0' is asked for, and no step"),
        (TWO, "PBE0 for TMA only", "is one of several molecules"),
        (SWARM, "20 particles, LUMO above -1 eV", "holds '-1 eV'"),
        (SWARM, "20 particles, use pyrrolidinium instead", "'pyrrolidinium' names other molecules"),
        (DYNAMICS, "at 330 K and also compute the dipole", "asks for what these steps do not compute"),
        (DYNAMICS, "at 330 K, use pyrrolidinium instead", "'pyrrolidinium' names other molecules"),
        (DYNAMICS, "at 330 K for 100 ps and 50 K", "'ps and 50 K' holds '50 K'"),
        (DYNAMICS, "PBE0 and 330 K", "'PBE0 and 330' is not understood"),
        (DYNAMICS, "100 ps and 3 replicas", "asks for replicas"),
        (DYNAMICS, "at 330 K in sulfolane", "'sulfolane' is not a known solvent"),
    ],
)
def test_what_no_step_takes_is_refused_though_the_rest_is_understood(
    request_text: str, feedback: str, said: str
) -> None:
    plan, species = planned(request_text)
    with pytest.raises(InputError, match=re.escape(said)):
        revise_plan(plan, species, feedback, 0, request_text, MAX_ATOMS)


@pytest.mark.parametrize(
    ("feedback", "field", "value"),
    [
        ("at 330 K and 10 bar", "pressure_bar", 10.0),
        ("cut-off 12 Å", "cutoff_nm", 1.2),
        ("with seed 7", "seed", 7),
        ("at 290 K, it froze", "temperature_kelvin", 290.0),
    ],
)
def test_a_simulation_is_changed_in_what_its_request_did_not_say(feedback: str, field: str, value: float) -> None:
    (step,) = revised(DYNAMICS, feedback, "md_agent")
    assert getattr(read_dynamics(step.goal.query).specs[0], field) == pytest.approx(value)


def test_another_number_of_pairs_takes_the_place_of_the_old_one() -> None:
    (step,) = revised(DYNAMICS, "16 pairs", "md_agent")
    assert step.goal.query == DYNAMICS.replace("8 N,N", "16 N,N")


@pytest.mark.parametrize("request_text", [MIXED, FOUND])
def test_a_simulation_beside_other_molecules_can_be_changed(request_text: str) -> None:
    (step,) = revised(request_text, "at 330 K", "md_agent")
    assert "at 330 K" in step.goal.query and "330 K" in step.description


@pytest.mark.parametrize(
    "feedback",
    [
        "please use a larger basis, def2-TZVP, it is too small",
        "The SCF did not converge, use PBE0",
        "the energies look wrong, take def2-TZVP",
        "B3LYP with D4, and the Gibbs energy at 350 K",
        "redo the frequencies of water in methanol with 4 cores",
    ],
)
def test_words_about_a_change_do_not_stand_in_its_way(feedback: str) -> None:
    assert revised(QUANTUM, feedback, "qm_agent") != [s for s in planned(QUANTUM)[0].steps if s.agent == "qm_agent"]
