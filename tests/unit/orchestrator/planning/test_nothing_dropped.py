"""What a quantum request says is done or refused: nothing of it is dropped, and nothing is read as its opposite."""

from __future__ import annotations

import pytest

from orchestrator.planning.decide import make_plan
from orchestrator.state import Goal, Species
from tasks.errors import InputError


def last_goal(text: str) -> Goal:
    return [step for step in make_plan(text)[1].steps if step.agent == "qm_agent"][-1].goal


def molecule(text: str) -> Species:
    (one,) = make_plan(text)[2]
    return one


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("HOMO of 'CCO' with PBE0 without dispersion correction", "dispersion", None),
        ("HOMO of 'CCO' with B3LYP without D4", "dispersion", None),
        ("HOMO of 'CCO' with B3LYP, no D3BJ please", "dispersion", None),
        ("HOMO of 'CCO' with B3LYP-D4", "dispersion", "D4"),
        ("HOMO of 'CCO' with B3LYP not in water but in vacuum", "solvent", None),
        ("HOMO of 'CCO' with B3LYP in methanol instead of in water", "solvent", "methanol"),
        ("Gibbs energy of 'CCO' at 77 °F", "temperature_kelvin", 298.15),
        ("Gibbs energy of 'CCO' at -20 °C", "temperature_kelvin", 253.15),
    ],
)
def test_a_wish_is_not_read_as_its_opposite(text: str, field: str, value: object) -> None:
    assert getattr(last_goal(text), field) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Gibbs energy of 'CCO' at 298, 323 and 353 K", "are several"),
        ("Gibbs energy of 'CCO' at 298 and 350 K", "are several"),
        ("Gibbs energy of 'CCO' from 300 to 400 K", "are several"),
        ("Gibbs energy of 'CCO' at 300-400 K", "are several"),
        ("Gibbs energy of 'CCO' at 1 and 10 bar", "are several"),
        ("Gibbs energy of 'CCO' at 50 degrees", "does not say of which scale"),
        ("Compare the HOMO of tetramethylammonium in water and in the gas phase", "is asked for besides water"),
        ("HOMO of protonated trimethylamine 'CN(C)C'", "makes another ion"),
        ("HOMO of the radical cation of 'CN(C)C'", "makes another ion"),
        ("Energy of the water dimer", "is more than one molecule"),
        ("HOMO of the ion pair of tetramethylammonium and hydroxide", "is more than one molecule"),
        ("HOMO of 'CCO' in explicit water", "is no implicit solvent"),
        ("Energy of '[CH2]' as singlet and triplet", "are several spin states"),
        ("Singlet-triplet gap of 'C=C'", "singlet-triplet gaps"),
        ("Enthalpy of formation of 'CCO'", "heats of formation"),
        ("Heat capacity of 'CCO' with GFN2-xTB", "heat capacities"),
        ("C-O bond length of 'CCO' with GFN2-xTB", "single bond lengths"),
        ("Frequencies of 'CCO' scaled by 0.96", "is not done to frequencies"),
        ("HOMO of 'CCO' using B3PW91", "B3PW91"),
        ("HOMO of 'CCO' with B3LYP and a triple-zeta basis", "triple-zeta"),
        ("HOMO of 'CCO' with B3LYP in sulfolane", "sulfolane"),
        ("HOMO of 'CCO' with B3LYP in 1 M KOH", "KOH"),
        ("HOMO of imidazole anion", "has no negative charge"),
        ("HOMO of the trimethylamine cation", "has no positive charge"),
        ("HOMO of tetramethylammonium with and without water", "is two calculations"),
        ("HOMO of water.xyz", "is a file"),
        ("Similarity of choline and tetramethylammonium with MACCS keys", "is no similarity"),
        ("Similarity of choline and tetramethylammonium by Dice", "is no similarity"),
    ],
)
def test_what_nothing_carries_out_is_refused_and_named(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        make_plan(text)


@pytest.mark.parametrize(("word", "multiplicity"), [("quintet", 5), ("triplet", 3), ("singlet", 1)])
def test_a_stated_spin_state_is_computed(word: str, multiplicity: int) -> None:
    assert molecule(f"Energy of 'O=O' as a {word} with B3LYP").multiplicity == multiplicity


def test_a_later_part_of_a_request_does_not_take_a_stated_spin_state_away() -> None:
    assert molecule("Compute the energy of 'O=O' as a triplet with B3LYP, then give its SELFIES").multiplicity == 3
    assert molecule("Give the InChI of 'O=O'. Then compute the dipole of 'O=O' as a triplet").multiplicity == 3


@pytest.mark.parametrize("text", ["HOMO of choline cation", "HOMO of hydroxide anion", "HOMO-LUMO gap of imidazole"])
def test_the_kind_of_an_ion_may_be_said(text: str) -> None:
    assert last_goal(text).properties


def test_orbitals_in_the_plural_are_all_taken() -> None:
    steps = make_plan("Plot orbitals 10 and 11 of choline")[1].steps
    (analysis,) = (step for step in steps if step.agent == "multiwfn_agent")
    assert analysis.goal.orbitals == ("10", "11")


@pytest.mark.parametrize("number", ["two", "2"])
def test_cores_may_be_said_in_words(number: str) -> None:
    assert last_goal(f"HOMO of choline on {number} cores").cores == 2
