from __future__ import annotations

import pytest

from orchestrator.chemistry.validity import check


@pytest.mark.parametrize(
    ("smiles", "position", "reason"),
    [
        ("CN+(C)C1=CC=CC=C1", 3, "a charge stands outside brackets"),
        ("CC(C", 3, "the branch that opens here is never closed"),
        ("CC)C", 3, "this closes a branch that was never opened"),
        ("C1CC", 2, "ring 1 opens here and is never closed"),
        ("C%12", 2, "ring %12 opens here and is never closed"),
        ("[N+", 1, "the bracket that opens here is never closed"),
        ("CC=", 3, "a bond leads to no atom"),
        ("CC==C", 4, "two bonds follow each other"),
        ("CXe", 2, "'X' is no atom, bond or bracket of a SMILES"),
        ("C[N](C)(C)(C)C", 2, "N has 5 bonds, too many for its charge"),
        ("c1cccc1", 1, "the aromatic ring that holds this atom cannot have alternating double bonds"),
        ("", None, "it is empty"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(smiles: str, position: int | None, reason: str) -> None:
    verdict = check(smiles)
    assert not verdict.valid
    assert (verdict.position, verdict.reason) == (position, reason)
    assert verdict.remedy
    assert reason in verdict.sentence


@pytest.mark.parametrize("smiles", ["CCO", "C%10CC%10", "F/C=C/F", "C[C@H](N)C(=O)O", "[13CH4]", "[nH]1cccc1"])
def test_valid_smiles_are_valid(smiles: str) -> None:
    assert check(smiles).valid


def test_canonical_form_with_and_without_stereochemistry() -> None:
    verdict = check("N[C@@H](C)C(O)=O")
    assert verdict.canonical == "C[C@H](N)C(=O)O"
    assert verdict.connectivity == "CC(N)C(=O)O"
    assert check("[Na+].[Cl-]").parts == 2
