from __future__ import annotations

from typing import Any

import pytest

from orchestrator.chemistry.solutions import complete_dynamics, core_seconds, count_atoms
from tasks.dynamics import DynamicsSpec
from tasks.errors import InputError

DMP = {"smiles": "C[N+]1(C)CCCCC1", "count": 8, "name": "DMP"}


def complete(system: dict[str, Any], **changes: Any) -> DynamicsSpec:
    return complete_dynamics(DynamicsSpec.model_validate({"system": system, **changes}), 400)


def test_a_box_about_which_nothing_is_said_is_filled_with_water() -> None:
    system = complete({"cations": [DMP]}).system
    assert system
    assert (system.edge_nm, system.counter_ions) == (2.6, 8)
    # 2.6³ nm³ at 1 g/cm³ hold 10584.5 g/mol, of which 8 (114.21 + 17.01) belong to the ions: 529 times 18.0154 is left.
    assert system.water == 529


def test_the_edge_follows_from_composition_and_density() -> None:
    system = complete({"water": 512, "density_g_per_cm3": 0.997}).system
    assert system and system.edge_nm == pytest.approx((512 * 18.0154 / (0.997 * 602.214)) ** (1 / 3), abs=1e-4)


def test_the_hydration_number_gives_the_water() -> None:
    system = complete({"cations": [DMP], "waters_per_cation": 63}).system
    assert system and system.water == 504


def test_completing_twice_changes_nothing() -> None:
    once = complete({"cations": [DMP]}, analysis={"species": ["C[N+]1(C)CCCCC1", "water"]})
    assert once.analysis.species == ("DMP", "water")
    assert complete_dynamics(once, 400) == once


def test_atoms_are_counted_and_cost_is_estimated_from_them() -> None:
    spec = complete({"cations": [DMP], "water": 504}, production_ps=50)
    assert count_atoms(spec) == 8 * 24 + 8 * 2 + 504 * 3
    # 250 ps of 1,720 atoms: 20 ps of them take 26 core-seconds.
    assert core_seconds(spec) == pytest.approx(26 * 250 / 20, rel=0.15)


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ({"cations": [{"smiles": "CCO", "count": 3}]}, "is no cation"),
        ({"cations": [{"smiles": "C[N+](C)(C", "count": 3}]}, r"system\.cations\.0\.smiles: .* is not a valid SMILES"),
        ({"cations": [{"smiles": "C[Si](C)(C)C[N+](C)(C)C", "count": 3}]}, "holds Si, which GAFF has"),
        ({"cations": [DMP], "counter_ions": 7}, r"do not make the box neutral: .* \+8\. Give 8"),
        ({"cations": [DMP, {**DMP, "smiles": "C1CCCC[N+]1(C)C"}]}, "names one cation twice"),
        ({"cations": [DMP], "waters_per_cation": 5}, r"is too small for a cut-off of 1 nm.*Take 3\d\d water molecules"),
        ({"cations": [DMP], "water": 500, "edge_nm": 6}, r"makes a density of .* About 2\.5\d nm is right"),
        ({"cations": [{**DMP, "count": 200}], "edge_nm": 2.6}, "has no room for water"),
    ],
)  # fmt: skip
def test_an_impossible_box_is_refused_before_anything_is_queued(system: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        complete(system)


def test_a_species_that_is_not_in_the_box_cannot_be_analysed() -> None:
    with pytest.raises(
        InputError, match=r"analysis.species: 'chloride' is not in the box. Possible are DMP, hydroxide, water"
    ):
        complete({"cations": [DMP]}, analysis={"species": ["chloride"]})
