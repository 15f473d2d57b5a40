from __future__ import annotations

import pytest

from orchestrator.chemistry import identify
from tasks.errors import InputError

# Formula; average molar mass from IUPAC's abridged standard atomic weights 2021 (H 1.008, C 12.011, N 14.007, O 15.999,
# P 30.974, F 18.998, Cl 35.45), added up by hand; charge; multiplicity; atoms.
KNOWN = [
    ("C[N+](C)(C)C", "C4H12N+", 4 * 12.011 + 12 * 1.008 + 14.007, 1, 1, 17),
    ("C[N+]1(C)CCCCC1", "C7H16N+", 7 * 12.011 + 16 * 1.008 + 14.007, 1, 1, 24),
    ("O", "H2O", 2 * 1.008 + 15.999, 0, 1, 3),
    ("[OH-]", "HO-", 1.008 + 15.999, -1, 1, 2),
    ("[O-]C(=O)[O-]", "CO3-2", 12.011 + 3 * 15.999, -2, 1, 4),
    ("[CH3]", "CH3", 12.011 + 3 * 1.008, 0, 2, 4),
    ("F[P-](F)(F)(F)(F)F", "F6P-", 30.974 + 6 * 18.998, -1, 1, 7),
    # CRC Handbook of Chemistry and Physics, 97th ed.: aspirin 180.16, caffeine 194.19, methanol 32.042 g/mol.
    ("CC(=O)Oc1ccccc1C(=O)O", "C9H8O4", 180.16, 0, 1, 21),
    ("Cn1cnc2c1c(=O)n(C)c(=O)n2C", "C8H10N4O2", 194.19, 0, 1, 24),
    ("CO", "CH4O", 32.042, 0, 1, 6),
    ("[2H]O[2H]", "H2O", 2 * 2.014 + 15.999, 0, 1, 3),
]


@pytest.mark.parametrize(("smiles", "formula", "mass", "charge", "multiplicity", "atoms"), KNOWN)
def test_identity_agrees_with_atomic_weights_and_handbook(
    smiles: str, formula: str, mass: float, charge: int, multiplicity: int, atoms: int
) -> None:
    found = identify(smiles)
    assert (found.formula, found.charge, found.multiplicity, found.atoms) == (formula, charge, multiplicity, atoms)
    assert found.mass_dalton == pytest.approx(mass, abs=0.01)


def test_spellings_of_one_molecule_have_one_canonical_form() -> None:
    spellings = ["OCC", "C(O)C", "CCO", "[CH3][CH2][OH]", "[H]OCC"]
    assert {identify(text).smiles for text in spellings} == {"CCO"}


def test_canonical_form_keeps_stereochemistry_and_is_a_fixed_point() -> None:
    for smiles in ("C/C=C/C", "C[C@H](N)C(=O)O", "F/C=C\\F", "C1C[C@@H]2CC[C@H]1C2"):
        once = identify(smiles).smiles
        assert identify(once).smiles == once
    assert identify("C/C=C/C").smiles != identify("C/C=C\\C").smiles


@pytest.mark.parametrize(
    ("smiles", "expected"),
    [("C[N+](C)(C)C", True), ("C[N+]12CCC(CC1)CC2", True), ("C[NH+](C)C", False), ("Cn1cc[n+](C)c1", False)],
)  # fmt: skip
def test_quaternary_ammonium_needs_four_carbons_on_a_tetrahedral_nitrogen(smiles: str, expected: bool) -> None:
    assert identify(smiles).quaternary_ammonium is expected


@pytest.mark.parametrize(
    ("smiles", "expected"),
    [
        ("", "is empty"),
        ("   ", "is empty"),
        ("C1CC", "ring 1 opens here and is never closed at character 2"),
        ("C(C", "the branch that opens here is never closed at character 2"),
        ("CC)C", "closes a branch that was never opened at character 3"),
        ("CN+(C)C1=CC=CC=C1", "character 3"),
        ("C==C", "character 3"),
        ("water", "character 1"),
        ("C[N+](C)(C)(C)C", "atom 2 (N) has 5 bonds, too many for its charge"),
        ("C[N](C)(C)C", "atom 2 (N) has 4 bonds"),
        ("c1cccc1", "the aromatic atoms 1, 2, 3, 4, 5"),
        ("CCO ethanol", "a blank stands in it, which no SMILES has at character 4"),
        # RDKit reads this as acetic acid.
        ("CC(=O)O\u2212", "is not the '-' of the keyboard at character 8"),
        ("[Na+].[Cl-]", "is 2 molecules, not one"),
        ("C[N+](C)(C)C.[OH-]", "'C[N+](C)(C)C' and '[OH-]'"),
        ("*C", "holds '*' as atom 1"),
        ("C[U]", "holds 'U' as atom 2"),
        ("[H+]", "has no electrons"),
        ("C" * 200, "has 602 atoms"),
        ("C" * 50_000, "has 50000 characters"),
    ],
)
def test_what_is_no_single_molecule_is_refused_with_reason_and_place(
    smiles: str, expected: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError) as caught:
        identify(smiles)
    assert expected in str(caught.value)
    assert str(caught.value).startswith("molecule.smiles: ")
    assert caught.value.exit_code == 2
    assert caught.value.remedy
    # RDKit's own complaints do not reach the terminal.
    assert capfd.readouterr() == ("", "")


def test_size_limit_counts_hydrogens_and_is_inclusive() -> None:
    assert identify("CC", max_atoms=8).atoms == 8
    with pytest.raises(InputError, match="has 8 atoms"):
        identify("CC", max_atoms=7)
