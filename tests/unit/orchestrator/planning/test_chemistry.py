from __future__ import annotations

import pytest

from orchestrator.planning import make_plan
from orchestrator.planning.chemistry import read_smiles
from orchestrator.planning.planners import Abstained
from tasks.errors import InputError


@pytest.mark.parametrize(
    ("text", "operations", "names"),
    [
        ("SELFIES and InChIKey of TMA", ("selfies", "inchi"), ["tetramethylammonium"]),
        ("Tanimoto similarity of methanol and ethanol", ("similarity",), ["methanol", "ethanol"]),
        ("logP and TPSA of ethanol", ("descriptors",), ["ethanol"]),
        ("PAINS and Brenk alerts of phenol", ("filters",), ["phenol"]),
        ("Which functional groups has acetone?", ("groups",), ["acetone"]),
        ("monoisotopic mass of acetone", ("masses",), ["acetone"]),
        ("how many carbon atoms in toluene", ("atoms",), ["toluene"]),
        ("number of hydrogens of toluene", ("atoms",), ["toluene"]),
        ("Count the nitrogens in DMF.", ("atoms",), ["dimethylformamide"]),
        ("CAS number of toluene", ("cas",), ["toluene"]),
        ("IUPAC name of 'CCO'", ("iupac",), ["CCO"]),
        ("draw TMA", ("picture",), ["tetramethylammonium"]),
        ("Please draw the 2D structure of benzyltrimethylammonium", ("picture",), ["benzyltrimethylammonium"]),
        ("is C[N+](C)(C)C valid?", ("validity",), ["C[N+](C)(C)C"]),
    ],
)
def test_operations_are_read_and_need_no_simulation(text: str, operations: tuple[str, ...], names: list[str]) -> None:
    decision, plan, species = make_plan(text)
    assert decision.agent == "chemistry_agent"
    assert [step.agent for step in plan.steps] == ["chemistry_agent", "summary_agent"]
    assert plan.steps[0].goal.operations == operations
    assert [one.name for one in species] == names


def test_operations_stand_beside_a_simulation() -> None:
    _, plan, _ = make_plan("HOMO and SELFIES of TMA")
    assert plan.steps[0].goal.operations == ("selfies",)
    assert "qm_agent" in {step.agent for step in plan.steps}


def test_an_orbital_that_is_drawn_is_no_picture_of_a_molecule() -> None:
    _, plan, _ = make_plan("draw the HOMO of TMA")
    assert "multiwfn_agent" in {step.agent for step in plan.steps}
    assert plan.steps[0].goal.operations == ()


@pytest.mark.parametrize(
    "text",
    [
        "validate this SMILES: CN+(C)C1=CC=CC=C1",
        "Is 'CN+(C)C1=CC=CC=C1' a valid SMILES?",
        "Is CN+(C)C1=CC=CC=C1 valid?",
    ],
)
def test_a_wrong_smiles_that_shall_be_checked_is_not_refused(text: str) -> None:
    _, plan, species = make_plan(text)
    assert plan.steps[0].goal.query == "CN+(C)C1=CC=CC=C1"
    assert plan.steps[0].goal.operations == ("validity",)
    assert species == ()


def test_a_wrong_smiles_in_any_other_request_is_refused() -> None:
    with pytest.raises(InputError):
        make_plan("SELFIES of 'CN+(C)C1=CC=CC=C1'")


def test_words_are_no_smiles() -> None:
    assert read_smiles("Is this SMILES valid, and functional-group wise the parser's choice?") == ()
    assert read_smiles("HOMO of CCO") == ()


def test_similarity_of_one_molecule_is_refused() -> None:
    with pytest.raises(Abstained, match="only one molecule"):
        make_plan("Tanimoto similarity of ethanol")


def test_what_nothing_computes_is_still_refused() -> None:
    with pytest.raises(Abstained, match="asks for solubility, which no agent computes"):
        make_plan("molar mass and solubility of TMA")


@pytest.mark.parametrize(
    ("text", "reaction"),
    [
        ("Is CCO.O>>CC=O balanced?", "CCO.O>>CC=O"),
        ("is the reaction CN(C)C.CI>>C[N+](C)(C)C.[I-] balanced?", "CN(C)C.CI>>C[N+](C)(C)C.[I-]"),
        ("Check whether the reaction 'CC>O>C' is balanced.", "CC>O>C"),
    ],
)
def test_reactions_are_checked_for_balance(text: str, reaction: str) -> None:
    _, plan, species = make_plan(text)
    assert plan.steps[0].goal.operations == ("balance",)
    assert plan.steps[0].goal.query == reaction
    assert species == ()
