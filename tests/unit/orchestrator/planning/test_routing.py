from __future__ import annotations

import pytest

from orchestrator.planning.routing import absent, route


@pytest.mark.parametrize(
    ("text", "agent"),
    [
        ("molecular weight and formula", "chemistry_agent"),
        ("canonical SMILES", "chemistry_agent"),
        ("HOMO and LUMO", "qm_agent"),
        ("DFT single point", "qm_agent"),
        ("LUMO of this cation", "qm_agent"),
        ("a molecular dynamics simulation in GROMACS", "md_agent"),
        ("design piperidinium cations with a particle swarm", "hem_agent"),
        ("electron density at bond critical points", "multiwfn_agent"),
        ("what does the literature say", "rag_agent"),
        ("latest news", "web_search_agent"),
        ("latest papers", ""),
        ("formula and HOMO", "qm_agent"),
        ("what's for lunch", ""),
        ("the homology of chromosomes, a masseur and a papermill", ""),
    ],
)
def test_whole_words_are_scored_and_ties_abstain(text: str, agent: str) -> None:
    assert route(text).agent == agent


def test_a_phrase_counts_its_words_and_not_its_parts_again() -> None:
    assert route("molecular dynamics").scores == {"md_agent": 2}


def test_what_has_no_agent_yet_is_said_with_the_words_that_gave_it_away() -> None:
    assert absent(route("LUMO and papers")) == ["literature ('papers')"]
    assert absent(route("LUMO")) == []
