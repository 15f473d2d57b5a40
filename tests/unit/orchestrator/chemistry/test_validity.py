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
        ("CQe", 2, "'Q' is no atom, bond or bracket of a SMILES"),
        ("C[N](C)(C)(C)C", 2, "N has 5 bonds, too many for its charge"),
        ("c1cccc1", 1, "the aromatic ring that holds this atom cannot have alternating double bonds"),
        ("", None, "it holds nothing"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(smiles: str, position: int | None, reason: str) -> None:
    verdict = check(smiles)
    assert not verdict.valid
    assert (verdict.position, verdict.reason) == (position, reason)
    assert verdict.remedy
    assert reason in verdict.sentence


@pytest.mark.parametrize(
    ("smiles", "position", "right"),
    [
        ("CC(=O)O-", 8, "[O-]"),
        ("OC(=O)C(O-)C", 10, "[O-]"),
        ("c1ccncc1O-", 10, "[O-]"),
        ("Cl-", 3, "[Cl-]"),
        ("CN+(C)C", 3, "[N+]"),
        ("CC(=O)O\u2212", 8, "[O-]"),
        ("CC(=O)O\u207b", 8, "[O-]"),
        ("[NH4]", 1, "[NH4+]"),
        ("C[N](C)(C)C", 2, "[N+]"),
        ("CN(C)(C)C", 2, "[N+]"),
        ("NC(=[NH2])N", 5, "[NH2+]"),
        ("B(C)(C)(C)C", 1, "[B-]"),
        ("[N+H4]", 1, "[NH4+]"),
        ("CL", 1, "Cl"),
        ("CBR", 2, "Br"),
        ("NaCl", 1, "[Na+]"),
        ("C[Si](C)(C)Si", 12, "[Si]"),
        ("n1cccc1", 1, "[nH]"),
        ("c1cccc1", 1, "[nH], o, s or [cH-]"),
        ("cc", 1, "a capital letter: C"),
        ("CH4", 2, "Leave hydrogens out"),
        ("CC]", 3, "write '['"),
        ("C11", 3, "after another atom"),
        ("C%1C", 2, "%10"),
        ("C@H", 2, "[C@H]"),
        ("CCO>>CC=O", 4, "balanced"),
        ("CCO.", 4, "Take it out"),
        ("C C", 2, "one word"),
        ("[Xx]", 2, "[13CH3]"),
        ("C#C#C", 3, "4 bonds"),
        ("FCF(F)F", 3, "F has 1 bond"),
        ("CN(=O)(=O)(C)C", 2, "[N+](=O)[O-]"),
    ],
)
def test_common_slips_are_told_with_what_would_be_right(smiles: str, position: int, right: str) -> None:
    verdict = check(smiles)
    assert not verdict.valid
    assert verdict.position == position
    assert right in verdict.remedy


def test_a_verdict_has_a_subject() -> None:
    assert check("").sentence == "An empty text is not valid: it holds nothing. Give a SMILES, such as 'CCO'."


@pytest.mark.parametrize(
    "smiles",
    ["CCO", "C%10CC%10", "F/C=C/F", "C[C@H](N)C(=O)O", "[13CH4]", "[nH]1cccc1", "C-C", "[Na+].[Cl-]", "CS(C)=O"],
)
def test_valid_smiles_are_valid(smiles: str) -> None:
    assert check(smiles).valid


def test_canonical_form_with_and_without_stereochemistry() -> None:
    verdict = check("N[C@@H](C)C(O)=O")
    assert verdict.canonical == "C[C@H](N)C(=O)O"
    assert verdict.connectivity == "CC(N)C(=O)O"
    assert check("[Na+].[Cl-]").parts == 2
