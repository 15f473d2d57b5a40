from __future__ import annotations

import pytest

from orchestrator.planning import dry_run, make_plan
from orchestrator.planning.compound import MAX_STEPS, refuse_too_many
from orchestrator.state import Plan, Step
from tasks.errors import InputError

PAIRS = "8 pairs of it with hydroxide in water at 300 K for 1 ns"


def outline(plan: Plan) -> list[tuple[str, tuple[int, ...]]]:
    return [(step.agent.removesuffix("_agent"), step.depends_on) for step in plan.steps]


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        # calculate and analyse: the orbitals are those of the quantum step
        ("Optimise DMP at B3LYP/def2-SVP, then render its LUMO",
         [("chemistry", ()), ("qm", (1,)), ("multiwfn", (2,)), ("summary", (1, 2, 3))]),
        # optimise and simulate: the box is built from the optimised geometry
        (f"Optimise TMA with DFT, then simulate {PAIRS}",
         [("chemistry", ()), ("qm", (1,)), ("md", (1, 2)), ("summary", (1, 2, 3))]),
        # … and does not wait for what is computed of it besides
        (f"Compute the dipole of TMA with DFT, then simulate {PAIRS}",
         [("chemistry", ()), ("qm", (1,)), ("qm", (2,)), ("md", (1, 2)), ("summary", (1, 2, 3, 4))]),
        # … nor for anything, where it names its molecules itself
        ("Optimise TMA with DFT, then simulate 8 TMA hydroxide pairs in water at 300 K for 1 ns",
         [("chemistry", ()), ("qm", (1,)), ("md", (1,)), ("summary", (1, 2, 3))]),
        # … unless the request wants the one before the other
        ("Optimise TMA with PBE0; with that structure, run MD of 8 TMA hydroxide pairs in water at 300 K for 1 ns",
         [("chemistry", ()), ("qm", (1,)), ("md", (1, 2)), ("summary", (1, 2, 3))]),
        # research and calculate: neither needs the other
        ("What does the literature say about TMA, then optimise it at PBE0/def2-SVP",
         [("chemistry", ()), ("rag", ()), ("qm", (1,)), ("summary", (1, 2, 3))]),
        ("Optimise TMA at PBE0/def2-SVP and cite papers on it",
         [("chemistry", ()), ("qm", (1,)), ("rag", ()), ("summary", (1, 2, 3))]),
        # design and verify and analyse: one chain
        ("Design piperidinium cations for PBF_BB_1, verify the best one at DFT level and plot its LUMO",
         [("hem", ()), ("chemistry", (1,)), ("qm", (2,)), ("qm", (3,)), ("multiwfn", (4,)),
          ("summary", (1, 2, 3, 4, 5))]),
        # design and simulate: the candidates of the swarm, beside their verification
        (f"Design piperidinium cations for PBF_BB_1; simulate {PAIRS.replace('it', 'the best two')}",
         [("hem", ()), ("chemistry", (1,)), ("qm", (2,)), ("qm", (3,)), ("md", (1,)), ("summary", (1, 2, 3, 4, 5))]),
        # two independent parts
        ("Give me the molecular formula of water and, separately, the dipole moment of TMA at GFN2-xTB",
         [("chemistry", ()), ("chemistry", ()), ("qm", (1,)), ("summary", (1, 2, 3))]),
    ],
)  # fmt: skip
def test_a_step_waits_for_what_it_needs_and_for_nothing_else(
    text: str, steps: list[tuple[str, tuple[int, ...]]]
) -> None:
    decision, plan, _ = make_plan(text)
    assert outline(plan) == steps
    assert (decision.rule, decision.agent) == ("complexity", "")
    assert [step.number for step in plan.steps] == list(range(1, len(steps) + 1))


def test_parts_keep_to_their_own_molecules() -> None:
    _, plan, species = make_plan("Hirshfeld charges of TMA; and MD of 8 DMP hydroxide pairs in water at 300 K for 1 ns")
    assert [one.name for one in species] == ["tetramethylammonium", "N,N-dimethylpiperidinium"]
    quantum = [step.goal.molecules for step in plan.steps if step.agent in ("qm_agent", "multiwfn_agent")]
    assert quantum == [("C[N+](C)(C)C",)] * 3
    (dynamics,) = [step for step in plan.steps if step.agent == "md_agent"]
    assert dynamics.goal.molecules == ("C[N+]1(C)CCCCC1",)
    assert dynamics.goal.query.startswith("and MD of 8 DMP")


def test_a_part_that_names_no_molecule_takes_those_it_speaks_of() -> None:
    _, plan, _ = make_plan(f"Optimise TMA with DFT, then simulate {PAIRS}")
    dynamics = plan.step(3)
    assert "8 tetramethylammonium + hydroxide" in dynamics.description
    _, plan, _ = make_plan("HOMO of TMA and papers about it")
    (research,) = [step for step in plan.steps if step.agent == "rag_agent"]
    assert research.goal.query == "papers about it (tetramethylammonium)"


@pytest.mark.parametrize(
    "text",
    [
        f"Optimise TMA with GFN2, then simulate {PAIRS}",
        "Optimise TMA with PBE0; with that structure, run MD of 8 TMA hydroxide pairs in water at 300 K for 1 ns",
        "GFN2-xTB geometry of TMA, after that 8 of them with OH- in a box of water at 300 K for 1 ns, MSD at the end",
    ],
)
def test_a_simulation_of_what_was_optimised_begins_at_its_structures(text: str) -> None:
    _, plan, _ = make_plan(text)
    (dynamics,) = [step for step in plan.steps if step.agent == "md_agent"]
    assert dynamics.goal.geometry_step == 2
    assert dynamics.description.startswith("MD of 8 tetramethylammonium + hydroxide")
    assert dynamics.description.endswith("; begins at the structures of step 2")
    (job,) = dry_run(text)["steps"][dynamics.number - 1]["jobs"]
    assert job["geometry_from"] == "step 2"


def test_a_simulation_of_other_molecules_than_were_optimised_makes_its_own_structures() -> None:
    text = "Optimise TMA with GFN2; with that result, run MD of 8 DMP hydroxide pairs in water at 300 K for 1 ns"
    _, plan, _ = make_plan(text)
    (dynamics,) = [step for step in plan.steps if step.agent == "md_agent"]
    assert dynamics.goal.geometry_step is None
    assert 2 in dynamics.depends_on


def test_numbers_in_descriptions_follow_the_steps() -> None:
    _, plan, _ = make_plan("Summarise the literature on spiro cations and also compute the LUMO of TMA")
    last = [step for step in plan.steps if step.agent == "qm_agent"][-1]
    assert last.goal.geometry_step == last.depends_on[0]
    assert f"at the geometries of step {last.goal.geometry_step}" in last.description


def test_the_steps_of_a_design_take_its_candidates_beside_other_molecules() -> None:
    _, plan, _ = make_plan("Formula of water, then design piperidinium cations for PBF_BB_1 and cite papers on them")
    (swarm,) = [step.number for step in plan.steps if step.agent == "hem_agent"]
    assert {step.goal.molecules_step for step in plan.steps if step.agent == "qm_agent"} == {swarm}


def test_a_dry_run_counts_the_jobs_of_all_parts() -> None:
    shown = dry_run(
        f"Design piperidinium cations for PBF_BB_1; simulate {PAIRS.replace('it', 'the best two')}",
        frozenset({"pso", "xtb", "pyscf", "gromacs"}),
    )
    assert shown["estimated_cost"]["jobs"] >= 1 + 4 + 1
    shown = dry_run("Hirshfeld charges of TMA; and MD of 8 DMP hydroxide pairs in water at 300 K for 1 ns")
    assert [len(step["jobs"]) for step in shown["steps"]] == [0, 1, 1, 1, 1, 0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Run MD of 8 TMA hydroxide pairs in water at 300 K for 1 ns, pick a snapshot, and compute its B3LYP energy",
         "does not say what is to be taken out of the simulation. Say it as in"),
        ("Cite papers on membranes, then compute the LUMO", "names no molecule"),
        ("Find the transition state of OH- attacking TMA, afterwards plot the HOMO", "transition states"),
        ("Search the web for AEMs, then design new cations", "names no family"),
    ],
)  # fmt: skip
def test_a_part_that_cannot_be_planned_refuses_the_whole(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        make_plan(text)
    assert said in str(refused.value)


def test_a_plan_has_a_limit() -> None:
    plan = Plan(steps=tuple(Step(number=n, agent="qm_agent", description="x") for n in range(1, MAX_STEPS + 1)))
    refuse_too_many(plan, "text")
    more = plan.model_copy(update={"steps": (*plan.steps, Step(number=99, agent="qm_agent", description="x"))})
    with pytest.raises(InputError, match=f"needs {MAX_STEPS + 1} steps, and a plan has at most {MAX_STEPS}"):
        refuse_too_many(more, "text")
