"""The labelled requests for routing: enough of them, labelled soundly, and split as their README says."""

from __future__ import annotations

from collections import Counter
from typing import get_args

import pytest

from tests.routing.cases import AgentName, Answer, Case, Category, Part, load

PARTS: tuple[Part, ...] = get_args(Part)
AGENTS = set(get_args(AgentName))
ANSWERS = set(get_args(Answer))
SIMULATING = {"hem_agent", "qm_agent", "md_agent", "multiwfn_agent"}
#: fewest requests of a category, where it is not the 16 of the others
FEWEST = {"greeting": 12, "hostile": 12, "ambiguous": 12, "multi_step": 20}

ALL = [case for part in PARTS for case in load(part)]


def words(case: Case) -> str:
    """Give the request without differences that do not matter."""
    return " ".join(case.request.lower().split())


def test_there_are_enough_requests_of_every_category() -> None:
    counts = Counter(case.category for case in ALL)
    assert len(ALL) >= 210
    assert {name: counts[name] for name in get_args(Category) if counts[name] < FEWEST.get(name, 16)} == {}


def test_ids_are_unique() -> None:
    assert [id for id, times in Counter(case.id for case in ALL).items() if times > 1] == []


@pytest.mark.parametrize("part", PARTS)
def test_no_request_stands_twice_in_a_part(part: Part) -> None:
    assert [text for text, times in Counter(map(words, load(part))).items() if times > 1] == []


def test_the_first_author_held_nothing_out_that_stands_in_development() -> None:
    # Other authors may have worded a short request alike.
    assert not set(map(words, load("held_out"))) & set(map(words, load("development")))


def test_every_category_of_the_first_author_is_split_into_a_third_and_two_thirds() -> None:
    first: tuple[Part, Part] = ("held_out", "development")
    held_out, development = (Counter(case.category for case in load(part)) for part in first)
    for category in get_args(Category):
        total = held_out[category] + development[category]
        assert held_out[category] == round(total / 3), category


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.id)
def test_labels_are_valid_and_agree_with_each_other(case: Case) -> None:
    assert case.category in get_args(Category)
    assert case.expect in AGENTS | ANSWERS
    assert case.request.strip() == case.request != ""
    assert f"{case.category.replace('_', '-')}-" in case.id.replace("_", "-")
    assert isinstance(case.simulates, bool)
    if case.plan is not None:
        assert len(case.plan) >= 2
        assert set(case.plan) <= AGENTS
        assert case.expect == case.plan[0]
    if case.category == "multi_step":
        assert case.plan is not None
    if case.simulates:
        assert SIMULATING & {case.expect, *(case.plan or ())}


@pytest.mark.parametrize(
    ("category", "expect"),
    [
        ("chemistry", "chemistry_agent"),
        ("hem", "hem_agent"),
        ("qm", "qm_agent"),
        ("md", "md_agent"),
        ("wavefunction", "multiwfn_agent"),
        ("literature", "rag_agent"),
        ("web", "web_search_agent"),
        ("greeting", "respond"),
        ("hostile", "refuse"),
        ("ambiguous", "ask"),
    ],
)
def test_a_category_of_one_field_has_one_label_and_no_plan(category: Category, expect: str) -> None:
    assert {(case.expect, case.plan) for case in ALL if case.category == category} == {(expect, None)}
