from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.planning.clauses import split
from orchestrator.planning.router import route
from orchestrator.planning.scoring import score
from orchestrator.planning.spelling import respelled
from orchestrator.planning.vocabulary import FIELDS
from tests.routing.cases import Case, Part, load
from tests.routing.report import DEVELOPMENT, Judged, judge

_FRAGMENTS = [
    "HOMO", "of", "TMA", "then", "and", "before", "(a)", "1.", "```", '"', "->", "C[N+](C)(C)C", "literature", "MD",
    "swarm", "PBF_BB_1", "please", "not", "I", "know", "?", "\n", "render", "the", "LUMO", "hello", ",", ";", "[",
    "λ = 5", "!",
]  # fmt: skip


@pytest.mark.parametrize("part", DEVELOPMENT)
def test_the_aims_are_met_on_the_development_parts(part: Part) -> None:
    report = judge(part)
    assert report.accuracy >= 0.95
    assert report.abstention <= 0.15
    assert report.leading_wrongly == 0
    assert report.starting_unasked == 0
    assert report.plans_found >= 0.90
    assert report.plan_recognition >= 0.90
    assert report.kept >= 0.95


def test_the_report_prints_its_figures_and_the_confusion() -> None:
    text = judge("development").text()
    for line in (
        "right among answered",
        "abstained",
        "wrong words lead to a simulating agent",
        "jobs that nobody asked for",
        "plan recognition",
        "label \\ outcome",
    ):
        assert line in text


def test_jobs_that_nobody_asked_for_are_counted() -> None:
    def judged(expect: str, started: str, simulates: bool = True, plan: tuple[str, ...] | None = None) -> bool:
        case = Case(id="x", request="x", category="mixed", expect=expect, plan=plan, simulates=simulates)  # type: ignore[arg-type]
        return Judged(case=case, route=route("x"), started=frozenset({started})).starts_unasked

    assert judged("rag_agent", "qm_agent", simulates=False)
    assert judged("hem_agent", "hem_agent", simulates=False)
    assert judged("md_agent", "qm_agent")
    assert not judged("multiwfn_agent", "qm_agent")
    assert not judged("rag_agent", "md_agent", plan=("rag_agent", "md_agent"))


@given(st.text(max_size=300) | st.lists(st.sampled_from(_FRAGMENTS), max_size=12).map(" ".join))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_no_text_breaks_the_router(text: str) -> None:
    found = route(text)
    assert (len(found.agents) > 1) == (found.kind == "plan") or found.kind == "ask"


_AMERICAN = re.compile(r"(?<=[a-z]{4})is(e|ed|es|ing|ation)\b")
_OTHERWISE_WRITTEN: dict[str, Callable[[str], str]] = {
    "blanks": lambda text: f"  {text.replace(' ', '   ')} ",
    "please": lambda text: f"Please, {text}",
    "greeting": lambda text: f"Hello! {text}",
    "thanks": lambda text: f"{text.rstrip('.')}. Thanks!",
    "American": lambda text: _AMERICAN.sub(r"iz\1", text).replace("colour", "color"),
    "capitals": str.upper,
    "small letters": str.lower,
}


@pytest.mark.parametrize("how", _OTHERWISE_WRITTEN)
def test_a_route_does_not_depend_on_how_a_request_is_written(how: str) -> None:
    changed = []
    # Every third request is enough: all of them take a minute.
    for case in [case for part in DEVELOPMENT for case in load(part)][::3]:
        has_names = re.search(r"[\[\]=()#`]|[A-Z]{2}", case.request)
        if case.expect in ("refuse", "respond") or (how in ("capitals", "small letters") and has_names):
            continue
        before, after = route(case.request), route(_OTHERWISE_WRITTEN[how](case.request))
        if (before.kind, before.agents if before.kind != "ask" else ()) != (
            after.kind,
            after.agents if after.kind != "ask" else (),
        ):
            changed.append(case.id)
    assert changed == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We did DFT on TMA last year.", "ask"),
        ("the membrane swells too much", "ask"),
        ("The GROMACS run of TMA is finished.", "ask"),
        ("what about the barrier", "ask"),
        ("optimise", "ask"),
        ("energy of it", "ask"),
        ("Has ORCA 6.1 been released yet?", "agent"),
    ],
)
def test_what_tells_or_says_too_little_is_asked_about(text: str, kind: str) -> None:
    assert route(text).kind == kind


@pytest.mark.parametrize(
    ("text", "agents"),
    [
        ("What diffusion coefficients from MD at 300 K over 5 ns do our papers report?", ("rag_agent",)),
        ("diffusion coefficient of hydroxide? Look it up in the literature.", ("rag_agent",)),
        ("The paper says -1 eV. Compute the LUMO of TMA.", ("qm_agent",)),
        ("swarm on PBF_BB_1 for piperidinium, LUMO above 1 eV", ("hem_agent",)),
        ("LUMO of DMP, leave the molecular dynamics out", ("qm_agent",)),
        ("Our MD people want charges; compute Mulliken charges of TMA at PBE0", ("qm_agent",)),
        ("swarm for imidazolium on PBF_BB_1, DFT check of the best, and MD of it at 353 K",
         ("hem_agent", "qm_agent", "md_agent")),
        ("After optimising TMA at PBE0 draw its electrostatic potential", ("qm_agent", "multiwfn_agent")),
        ("(a) InChI of TMA, (b) news on Ionomr", ("chemistry_agent", "web_search_agent")),
    ],
)  # fmt: skip
def test_context_wishes_and_places_are_no_work(text: str, agents: tuple[str, ...]) -> None:
    assert route(text).agents == agents


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


@pytest.mark.parametrize(
    "word",
    [
        "article",
        "action",
        "selling",
        "caution",
        "optimiser",
        "masses",
        "site",
        "designs",
        "charged",
        "polymers",
        "smiled",
    ],
)
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
