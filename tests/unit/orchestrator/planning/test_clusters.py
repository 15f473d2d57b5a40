from __future__ import annotations

import pytest

from orchestrator.planning import dry_run, make_plan
from orchestrator.planning.clusters import cluster_species, read_cluster, without_cluster
from orchestrator.planning.dynamics import read_dynamics
from orchestrator.state import Plan, Step
from tasks.dynamics import Cluster
from tasks.errors import InputError

BOX = "Simulate 8 TMA chloride pairs in water at 300 K for 100 ps"
TMA = "tetramethylammonium"
OFFERED = frozenset({"gromacs", "pyscf", "xtb"})


def one_of(plan: Plan, agent: str) -> Step:
    (step,) = [step for step in plan.steps if step.agent == agent]
    return step


@pytest.mark.parametrize(
    ("after", "cluster", "task"),
    [
        ("then take a TMA with its nearest chloride from it and compute its B3LYP energy", (1, 0), "single_point"),
        ("then compute the HOMO of a TMA with its nearest chloride and 3 waters from the last frame at PBE0",
         (1, 3), "single_point"),
        ("and compute the dipole of the cluster of a cation, its nearest chloride and the 4 closest waters with xtb",
         (1, 4), "single_point"),
        ("then from the last frame take one cation with its two closest chlorides and optimise it with GFN2-xTB",
         (2, 0), "optimisation"),
        ("then pick a cation with its 6 nearest waters from the trajectory and compute its energy with xtb",
         (0, 6), "single_point"),
    ],
)  # fmt: skip
def test_what_is_taken_out_of_a_simulation_is_computed_as_it_stands_there(
    after: str, cluster: tuple[int, int], task: str
) -> None:
    text = f"{BOX}, {after}"
    _, plan, _ = make_plan(text)
    simulation, quantum = one_of(plan, "md_agent"), one_of(plan, "qm_agent")
    ions, waters = cluster
    assert simulation.goal.cluster == Cluster(cation=TMA, counter_ion="chloride", counter_ions=ions, waters=waters)
    assert "takes tetramethylammonium + " in simulation.description
    assert "takes" not in simulation.goal.query and "nearest" not in simulation.goal.query
    number = simulation.number
    assert (quantum.goal.molecules_step, quantum.goal.geometry_step, quantum.depends_on) == (number, number, (number,))
    assert quantum.goal.task == task
    shown = dry_run(text, OFFERED)["steps"]
    (md,), (qm,) = shown[number - 1]["jobs"], shown[quantum.number - 1]["jobs"]
    assert md["spec"]["analysis"]["cluster"]["waters"] == waters
    assert (qm["spec"]["charge"], qm["geometry_from"]) == (1 - ions, f"step {number}")
    assert "xyz" not in qm["spec"]["molecule"] and qm["estimated_cost"]["core_seconds"] > 0


def test_several_levels_work_on_one_cluster() -> None:
    _, plan, _ = make_plan(
        f"{BOX}, then take a TMA with its nearest chloride from it, and its gap at PBE0 and at B3LYP"
    )
    number = one_of(plan, "md_agent").number
    quantum = [step for step in plan.steps if step.agent == "qm_agent"]
    assert [(step.goal.method, step.goal.molecules_step) for step in quantum] == [("PBE0", number), ("B3LYP", number)]
    assert one_of(plan, "md_agent").description.count("takes") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{BOX}, pick a snapshot, and compute its B3LYP energy", "does not say what is to be taken out"),
        (f"{BOX}, then take a TMA with its nearest hydroxide from it and compute its energy with xtb",
         "asks for other counter-ions than the box has, which are chloride"),
        (f"{BOX.replace('300', '300 and 320')}, take a TMA with its nearest chloride and compute its energy with xtb",
         "there are 2 of them"),
        (f"{BOX}, then take a TMA with its nearest chloride from it and compute their binding energy with B3LYP",
         "binding and interaction energies"),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_is_refused_with_what_would_be_right(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        make_plan(text)
    assert said in str(refused.value)


def test_of_several_cations_one_is_named() -> None:
    (spec,) = read_dynamics("MD of a mixture of 4 TMA and 4 DMP with hydroxide in water at 300 K for 1 ns").specs
    text = "take a DMP with its nearest hydroxide from it"
    assert read_cluster(text, spec, text).cation == "N,N-dimethylpiperidinium"
    with pytest.raises(InputError, match="does not say which cation"):
        read_cluster("take a cation with its nearest hydroxide from it", spec, "text")


def test_a_cluster_is_a_molecule_of_the_run_with_its_charge_and_its_parts() -> None:
    (spec,) = read_dynamics(BOX).specs
    species = cluster_species(Cluster(cation=TMA, counter_ion="chloride", counter_ions=2, waters=3), spec)
    assert (species.name, species.smiles) == (f"{TMA} + 2 chloride + 3 water", "C[N+](C)(C)C.[Cl-].[Cl-].O.O.O")
    assert (species.charge, species.multiplicity, species.atoms) == (-1, 1, 17 + 2 + 9)


def test_the_words_about_the_cluster_are_no_molecules_of_the_calculation() -> None:
    text = "compute the HOMO of a TMA with its nearest chloride and 3 waters from the last frame at PBE0/def2-SVP"
    assert without_cluster(text) == "compute the HOMO at PBE0/def2-SVP"
