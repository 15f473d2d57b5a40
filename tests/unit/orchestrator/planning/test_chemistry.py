from __future__ import annotations

import pytest

from orchestrator.planning import make_plan, plan_request
from orchestrator.planning.asked import Asked
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
        ("Draw TMA and count its carbons", ("atoms", "picture"), ["tetramethylammonium"]),
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


@pytest.mark.parametrize(
    ("text", "agents", "operations"),
    [
        ("Plot the LUMO of the last job and draw its 2D picture", ("multiwfn_agent", "chemistry_agent"), ("picture",)),
        ("Hirshfeld charges of the last job and its SELFIES", ("multiwfn_agent", "chemistry_agent"), ("selfies",)),
        ("Plot the LUMO of the last job and its molar mass", ("multiwfn_agent", "chemistry_agent"), ()),
        ("SELFIES of the last job", ("chemistry_agent",), ("selfies",)),
        ("draw the molecule of the last job", ("chemistry_agent",), ("picture",)),
    ],
)
def test_what_is_asked_about_an_earlier_job_s_molecule_is_planned(
    text: str, agents: tuple[str, ...], operations: tuple[str, ...]
) -> None:
    _, plan, species = make_plan(text)
    assert tuple(step.agent for step in plan.steps) == (*agents, "summary_agent")
    step = next(step for step in plan.steps if step.agent == "chemistry_agent")
    assert (step.goal.operations, step.goal.source_job) == (operations, "last")
    assert plan.steps[-1].depends_on == tuple(range(1, len(plan.steps)))
    assert species == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "Hirshfeld charges and the dipole moment of the last job",
            "asks for dipole of the last job, which its own run",
        ),
        ("similarity of the last job", "the similarity of one molecule, that of the last job"),
        ("Hirshfeld charges of the last job and its solubility", "asks for solubility, which no agent computes yet"),
    ],
)
def test_what_an_earlier_job_does_not_give_is_said(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_plan(text)


@pytest.mark.parametrize(
    ("text", "operations"),
    [
        ("Design piperidinium cations for PBF_BB_1 and draw them", ("picture",)),
        ("Design piperidinium cations for PBF_BB_1 and check structural alerts", ("filters",)),
        (
            "Design piperidinium cations for PBF_BB_1, then give the similarity of the best 3 to each other",
            ("similarity",),
        ),
        ("Design piperidinium cations for PBF_BB_1 with logP between 1 and 3", ()),
    ],
)
def test_operations_are_done_on_the_candidates_of_a_design(text: str, operations: tuple[str, ...]) -> None:
    # Some of these are a tie of two agents, which a person then breaks.
    plan = plan_request(Asked(text=text, agent="hem_agent")).plan
    asked = [name for step in plan.steps if step.agent == "chemistry_agent" for name in step.goal.operations]
    assert tuple(asked) == operations
    assert "multiwfn_agent" not in {step.agent for step in plan.steps}


def test_candidates_are_only_compared_where_there_are_several() -> None:
    with pytest.raises(InputError, match=r"similarity of one candidate.*the best 3"):
        make_plan("Design piperidinium cations for PBF_BB_1 and give their Tanimoto similarity")


def test_orbitals_of_candidates_are_still_drawn_as_orbitals() -> None:
    _, plan, _ = make_plan("Design piperidinium cations for PBF_BB_1 and draw the LUMO of the best")
    assert "multiwfn_agent" in {step.agent for step in plan.steps}
    assert plan.steps[1].goal.operations == ()


@pytest.mark.parametrize(
    ("words", "operations"),
    [("draw the cation", ("picture",)), ("give its SELFIES", ("selfies",)), ("draw the MSD", ())],
)
def test_operations_stand_beside_a_simulation_of_a_box(words: str, operations: tuple[str, ...]) -> None:
    box = "Run MD of 8 N,N-dimethylpiperidinium hydroxide pairs in water at 353 K for 50 ps"
    _, plan, _ = make_plan(f"{box} and {words}")
    done = [name for step in plan.steps if step.agent == "chemistry_agent" for name in step.goal.operations]
    assert tuple(done) == operations
    assert "md_agent" in {step.agent for step in plan.steps}
