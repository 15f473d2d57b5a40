from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from orchestrator.planning import estimate
from orchestrator.planning.cost import FUNCTIONS, basis_functions
from tasks.methods import BASES
from tasks.specs import ProgramSpec, parse_spec


def _seconds(smiles: str, **fields: Any) -> float:
    cost = estimate(parse_spec({"molecule": {"smiles": smiles}, **fields}))
    assert cost.core_seconds is not None
    return cost.core_seconds


# Timings of FACTS, section 6, on two threads; 20 % is far below the spread between hosts.
@pytest.mark.parametrize(
    ("smiles", "fields", "core_seconds"),
    [
        ("C[N+](C)(C)C", {}, 2 * 12),
        ("C[N+]1(C)CCCCC1", {}, 2 * 27),
        ("C[N+](C)(C)C", {"task": "optimisation"}, 2 * 56),
        ("C[N+]1(C)CCCCC1", {"method": "GFN2"}, 0.02),
        ("C[N+]1(C)CCCCC1", {"method": "GFN2", "task": "optimisation"}, 1.0),
    ],
)
def test_estimates_reproduce_the_measured_timings(smiles: str, fields: dict[str, Any], core_seconds: float) -> None:
    assert _seconds(smiles, **fields) == pytest.approx(core_seconds, rel=0.2)


# Contractions as the basis sets' papers define them: def2-SVP is [2s1p] on H and [3s2p1d] on C and N, def2-TZVP [3s1p]
# and [5s3p2d1f], cc-pVTZ [3s2p1d] and [4s3p2d1f], 6-31G* [2s] and [3s2p1d]; spherical functions.
@pytest.mark.parametrize(
    ("basis", "hydrogen", "carbon"),
    [("def2-SVP", 5, 14), ("def2-TZVP", 6, 31), ("cc-pVTZ", 14, 30), ("6-31G*", 2, 14), ("STO-3G", 1, 5)],
)
def test_basis_functions_follow_from_the_contractions(basis: str, hydrogen: int, carbon: int) -> None:
    assert basis_functions(Counter({"C": 4, "N": 1, "H": 12}), basis) == 5 * carbon + 12 * hydrogen


def test_every_basis_that_is_offered_has_its_size() -> None:
    assert set(FUNCTIONS) == set(BASES.values())


def test_cost_grows_with_molecule_basis_and_task() -> None:
    assert _seconds("CCCCCC") > _seconds("CC")
    assert _seconds("CC", basis="def2-TZVP") > _seconds("CC")
    assert _seconds("CC", task="optimisation") > _seconds("CC")
    assert _seconds("[Cl-]", task="optimisation") == _seconds("[Cl-]")


def test_a_structure_costs_what_its_smiles_costs() -> None:
    xyz = "3\n\nO 0 0 0\nH 0 0 1\nH 0 1 0\n"
    assert estimate(parse_spec({"molecule": {"xyz": xyz}, "charge": 0})) == estimate(
        parse_spec({"molecule": {"smiles": "O"}})
    )


def test_the_cost_of_a_declared_program_is_unknown_and_said_to_be() -> None:
    cost = estimate(ProgramSpec(program="sleep"))
    assert cost.core_seconds is None
    assert cost.core_hours is None
    assert "unknown" in cost.note
