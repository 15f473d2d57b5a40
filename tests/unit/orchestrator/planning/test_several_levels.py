from __future__ import annotations

import pytest

from orchestrator.planning import make_plan
from orchestrator.planning.several_levels import parts_by_level
from orchestrator.state import Plan, Step
from tasks.errors import InputError

TMA, WATER = "C[N+](C)(C)C", "O"
GFN2 = ("optimisation", "GFN2-xTB", None)


def quantum(plan: Plan) -> list[Step]:
    return [step for step in plan.steps if step.agent == "qm_agent"]


def levels(plan: Plan) -> list[tuple[str, str, int | None]]:
    """Give task, level and the step whose geometry is taken, of each quantum step."""
    return [(s.goal.task, f"{s.goal.method}/{s.goal.basis}".removesuffix("/None"), s.goal.geometry_step)
            for s in quantum(plan)]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # the same at each level: one optimisation, and the single points side by side
        ("Compare the gap of TMA at PBE0 and at B3LYP",
         [GFN2, ("single_point", "PBE0/def2-SVP", 2), ("single_point", "B3LYP/def2-SVP", 2)]),
        ("How different is the LUMO of DMP between PBE0 and B3LYP?",
         [GFN2, ("single_point", "PBE0/def2-SVP", 2), ("single_point", "B3LYP/def2-SVP", 2)]),
        ("Energy of TMA with B3LYP/def2-SVP and B3LYP/def2-TZVP",
         [GFN2, ("single_point", "B3LYP/def2-SVP", 2), ("single_point", "B3LYP/def2-TZVP", 2)]),
        ("Energy of TMA with B3LYP in the def2-SVP and def2-TZVP basis sets",
         [GFN2, ("single_point", "B3LYP/def2-SVP", 2), ("single_point", "B3LYP/def2-TZVP", 2)]),
        # the only basis set that is named is that of all
        ("HOMO of TMA with HF, PBE0 and B3LYP/def2-TZVP",
         [GFN2, *(("single_point", f"{method}/def2-TZVP", 2) for method in ("HF", "PBE0", "B3LYP"))]),
        ("Optimise TMA at PBE0 and at B3LYP",
         [("optimisation", "PBE0/def2-SVP", None), ("optimisation", "B3LYP/def2-SVP", None)]),
        ("Dipole of water with GFN2-xTB and GFN1-xTB",
         [GFN2, ("optimisation", "GFN1-xTB", None)]),
        ("Compare GFN2-xTB and B3LYP dipole moments of water",
         [GFN2, GFN2, ("single_point", "B3LYP/def2-SVP", 3)]),
        # one after the other: the second takes the geometry of the first
        ("Optimise TMA with PBE/def2-SVP, then single point with B3LYP/def2-TZVP",
         [("optimisation", "PBE/def2-SVP", None), ("single_point", "B3LYP/def2-TZVP", 2)]),
        ("Optimise TMA with PBE/def2-SVP, then compute its HOMO with PBE0 and B3LYP",
         [("optimisation", "PBE/def2-SVP", None), ("single_point", "PBE0/def2-SVP", 2),
          ("single_point", "B3LYP/def2-SVP", 2)]),
        ("Optimise TMA with PBE0/def2-SVP and then frequencies at B3LYP/def2-SVP",
         [("optimisation", "PBE0/def2-SVP", None), ("optimisation_frequencies", "B3LYP/def2-SVP", 2)]),
        ("Optimise TMA with PBE; optimise DMP with B3LYP",
         [("optimisation", "PBE/def2-SVP", None), ("optimisation", "B3LYP/def2-SVP", None)]),
        # one level for the geometry and one for the properties is one calculation, as ever
        ("Optimise TMA with GFN2, then single point with B3LYP/def2-SVP",
         [GFN2, ("single_point", "B3LYP/def2-SVP", 2)]),
        ("HOMO of TMA at B3LYP/def2-TZVP//PBE/def2-SVP",
         [("optimisation", "PBE/def2-SVP", None), ("single_point", "B3LYP/def2-TZVP", 2)]),
        ("LUMO of TMA with B3LYP at the GFN2-xTB geometry",
         [GFN2, ("single_point", "B3LYP/def2-SVP", 2)]),
        # a correction belongs to its functional
        ("Energy of TMA at B3LYP-D3(BJ)/def2-SVP and PBE0-D4/def2-SVP",
         [GFN2, ("single_point", "B3LYP/def2-SVP", 2), ("single_point", "PBE0/def2-SVP", 2)]),
    ],
)  # fmt: skip
def test_each_part_has_its_level(text: str, expected: list[tuple[str, str, int | None]]) -> None:
    _, plan, _ = make_plan(text)
    assert levels(plan) == [(*one[:2], one[2]) for one in expected]
    for step in quantum(plan):
        assert step.goal.geometry_step is None or step.goal.geometry_step in step.depends_on


def test_dispersion_corrections_stay_with_their_functionals() -> None:
    _, plan, _ = make_plan("Energy of TMA at B3LYP-D3(BJ)/def2-SVP and PBE0-D4/def2-SVP")
    assert [step.goal.dispersion for step in quantum(plan)] == [None, "D3BJ", "D4"]


def test_parts_for_other_molecules_are_independent_of_each_other() -> None:
    _, plan, species = make_plan("Optimise TMA with xtb and compute the dipole of water with B3LYP")
    assert {one.smiles for one in species} == {TMA, WATER}
    assert [(step.goal.molecules, step.depends_on) for step in quantum(plan)] == [
        ((TMA,), (1,)), ((WATER,), (1,)), ((WATER,), (3,)),
    ]  # fmt: skip


def test_the_level_of_a_geometry_that_is_handed_over_is_named() -> None:
    _, plan, _ = make_plan("Optimise TMA with PBE/def2-SVP in water, then single point with B3LYP/def2-TZVP on 2 cores")
    last = quantum(plan)[-1]
    assert last.goal.protocol == "B3LYP/def2-TZVP//PBE/def2-SVP in water"
    assert last.description.endswith("at the geometries of step 2: energy")
    assert {(step.goal.solvent, step.goal.cores) for step in quantum(plan)} == {("water", 2)}


def test_analyses_follow_the_orbitals_of_their_own_level() -> None:
    _, plan, _ = make_plan("Plot the LUMO of TMA at PBE0 and at B3LYP")
    analyses = [step for step in plan.steps if step.agent == "multiwfn_agent"]
    assert [plan.step(step.depends_on[0]).goal.method for step in analyses] == ["PBE0", "B3LYP"]


@pytest.mark.parametrize(
    "text",
    ["HOMO of TMA with B3LYP/def2-SVP", "HOMO of TMA", "Optimise TMA and compute its gap with PBE0", "nothing at all",
     "MP2 energy of TMA, and B3LYP", "HOMO of 'C1CC' at PBE0 and B3LYP"],
)  # fmt: skip
def test_what_names_one_level_or_cannot_be_read_stays_whole(text: str) -> None:
    assert parts_by_level(text) == [text]


def test_a_request_for_too_many_levels_is_refused_before_anything_is_queued() -> None:
    bases = ("def2-SVP", "def2-TZVP", "def2-TZVPP", "def2-QZVP", "cc-pVDZ", "cc-pVTZ")
    levels = [f"{method}/{basis}" for method in ("HF", "PBE", "BLYP", "PBE0", "B3LYP") for basis in bases]
    with pytest.raises(InputError, match="needs 33 steps, and a plan has at most 30"):
        make_plan(f"Energy of TMA with {', '.join(levels[:-1])} and {levels[-1]}")
