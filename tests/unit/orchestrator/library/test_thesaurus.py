"""Concepts: what a question asks for, under all its names and spellings, and nothing that it does not ask for."""

from __future__ import annotations

import pytest

from orchestrator.library.thesaurus import concepts
from orchestrator.library.words import stems


def said(question: str) -> list[str]:
    return [one.said for one in concepts(question)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How does carbon dioxide harm S-07?", ["carbon dioxide", "harm", "S-07"]),
        ("half-life in the main chain", ["half-life", "main chain"]),
        (
            "self-consistent field of a membrane-electrode assembly",
            ["self-consistent field", "membrane-electrode", "assembly"],
        ),
        ("What is it?", []),
        ("S-07, s-07 and S-07", ["S-07"]),
        ("MD", ["MD"]),
    ],
)
def test_what_belongs_together_stays_together(question: str, expected: list[str]) -> None:
    assert said(question) == expected


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("IEC", "an ion exchange capacity of 2 mmol/g"),
        ("molecular dynamics", "MD runs of 5 ns"),
        ("CO2", "carbon dioxide gets in"),
        ("polarization", "electronic polarisation"),
        ("polarisation", "electronic polarization"),
        ("aging", "ageing in base"),
        ("ageing", "aging in base"),
        ("vapor", "in saturated vapour"),
        ("sulfonate", "a sulphonate"),
        ("Kohn-Sham", "by density functional theory"),
        ("fiber", "a fibre"),
        ("optimized", "an optimised minimum"),
    ],
)
def test_other_names_and_spellings_are_the_same_thing(question: str, text: str) -> None:
    (concept,) = concepts(question)
    assert concept.held(stems(text))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("carbon dioxide", "carbon monoxide and sulfur trioxide"),
        ("mL", "machine learning"),
        ("hour", "hors d'oeuvre"),
        ("conductivity", "transport of goods"),
    ],
)
def test_what_only_looks_alike_is_not(question: str, text: str) -> None:
    assert not any(one.held(stems(text)) for one in concepts(question))
