from __future__ import annotations

import pytest

from orchestrator.planning.clauses import split
from orchestrator.planning.router import route
from orchestrator.planning.scoring import score
from orchestrator.planning.spelling import respelled
from orchestrator.planning.vocabulary import FIELDS
from tests.routing.report import judge


def test_the_aims_are_met_on_the_development_part() -> None:
    report = judge("development")
    assert report.accuracy >= 0.95
    assert report.abstention <= 0.15
    assert report.starting_wrongly == 0
    assert report.plans_found >= 0.90
    assert report.plan_recognition >= 0.90
    assert report.kept >= 0.95


def test_the_report_prints_its_figures_and_the_confusion() -> None:
    text = judge("development").text()
    for line in (
        "right among answered",
        "abstained",
        "would start a simulation",
        "plan recognition",
        "label \\ outcome",
    ):
        assert line in text


@pytest.mark.parametrize("text", ["HOMO", "homo", "the HOMO."])
def test_words_are_whole_words(text: str) -> None:
    assert route(text).agents == ("qm_agent",)
    assert route(f"{text.strip('.')}logy of chromosomes").kind == "ask"


def test_tools_beat_topics() -> None:
    assert score("energy from GROMACS").leaders == ("md_agent",)
    assert score("density by Multiwfn").leaders == ("multiwfn_agent",)


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("optimise the geometry", "optimize the geometry"),
        ("analyse the wavefunction", "analyze the wavefunction"),
        ("visualise the HOMO", "visualize the HOMO"),
        ("localised orbitals", "localized orbitals"),
    ],
)
def test_both_spellings_weigh_the_same(british: str, american: str) -> None:
    assert score(british).weights == score(american).weights


@pytest.mark.parametrize(
    ("text", "kept", "gone"),
    [
        ("Don't run any DFT, just the molecular formula", "chemistry_agent", "qm_agent"),
        ("HOMO of TMA, without any molecular dynamics", "qm_agent", "md_agent"),
        ("no GROMACS please: cite papers on diffusion", "rag_agent", "md_agent"),
        ("I know you could run a PSO. Please don't. What does the literature say?", "rag_agent", "hem_agent"),
    ],
)
def test_negated_words_do_not_count(text: str, kept: str, gone: str) -> None:
    assert route(text).agents == (kept,)
    assert gone not in score(text).weights


def test_how_something_is_done_is_not_what_is_denied() -> None:
    assert route("HOMO of TMA without optimisation").agents == ("qm_agent",)


@pytest.mark.parametrize(
    "text",
    [
        "Sum formula?\n```\nSCF NOT CONVERGED\nHOMO -0.3\nGROMACS 2024\n```",
        "Sum formula of the compound below\n> I ran GROMACS and a DFT job",
        "What is the molar mass of the SMILES string PSO?",
        'Which functional groups has "GROMACS DFT"?',
    ],
)
def test_pasted_and_quoted_text_and_smiles_are_no_words(text: str) -> None:
    assert score(text).leaders == ("chemistry_agent",)
    assert set(score(text).weights) == {"chemistry_agent"}


def test_levels_of_theory_and_solvents_are_no_topics() -> None:
    assert score("Mayer bond orders at B3LYP/def2-SVP in CPCM water").leaders == ("multiwfn_agent",)
    assert "qm_agent" not in score("Mayer bond orders in CPCM water").weights


@pytest.mark.parametrize(
    ("slip", "word"),
    [("optmize", "optimize"), ("serach", "search"), ("publicatons", "publications"), ("litterature", "literature")],
)
def test_slips_of_the_keyboard_are_set_right(slip: str, word: str) -> None:
    assert respelled(slip) == word


@pytest.mark.parametrize("word", ["optimiser", "masses", "site", "designs", "charged", "polymers", "smiled"])
def test_words_of_their_own_are_no_slips(word: str) -> None:
    assert respelled(word) == word


def test_what_fits_several_agents_alike_is_asked_for_with_the_words() -> None:
    found = route("the latest papers")
    assert found.kind == "ask"
    assert set(found.agents) == {"rag_agent", "web_search_agent"}
    assert "papers" in found.reason and "latest" in found.reason


def test_a_person_decides_a_tie_and_the_rest_of_the_request_stays() -> None:
    text = "HOMO of TMA, and the latest papers on it"
    assert route(text).kind == "ask"
    assert route(text, "rag_agent").agents == ("qm_agent", "rag_agent")


def test_a_hint_starts_no_simulation() -> None:
    found = route("optimise my membrane")
    assert found.kind == "ask"


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("Optimise TMA, then render its LUMO", ["Optimise TMA", "render its LUMO"]),
        ("1. optimise water\n2. compute charges", ["optimise water", "compute charges"]),
        ("a -> b", ["a", "b"]),
        ("Before analysing X, optimise Y", ["optimise Y", "analysing X"]),
        ("Plot the LUMO after optimising Y", ["optimising Y", "Plot the LUMO"]),
        ("HOMO and LUMO of TMA and DMP", ["HOMO and LUMO of TMA and DMP"]),
        ("Give the HOMO; with that structure, run MD", ["Give the HOMO", "with that structure, run MD"]),
        ("Is C(C)(C);C fine", ["Is C(C)(C)", "C fine"]),
        ("cite papers, e.g. Marino", ["cite papers, e.g. Marino"]),
    ],
)
def test_clauses_come_in_the_order_of_their_work(text: str, clauses: list[str]) -> None:
    assert split(text) == clauses


def test_every_agent_that_can_be_asked_has_words_and_a_planner() -> None:
    from orchestrator.agents import AGENTS
    from orchestrator.planning.planners import PLANNERS

    assert FIELDS.keys() == PLANNERS.keys()
    assert set(AGENTS) - {"summary_agent"} <= FIELDS.keys()
