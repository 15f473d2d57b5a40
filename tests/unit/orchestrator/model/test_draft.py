"""Drafts: text and wishes out of what a model writes, and how much of it may be told before it is whole."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.model.draft import Draft, tellable
from orchestrator.model.numbers import sentences

WATER = {"kind": "quantum", "task": "single_point", "method": "GFN2-xTB", "engine": "xtb", "molecule": {"smiles": "O"}}
ARRAY = [
    {"text": "The gap is 9.61 eV."},
    {"action": {"name": "quantum_job", "arguments": WATER}},
    {"action": {"name": "approve", "arguments": {"gate": "all"}}},
    {"text": "Another level would help [1]."},
]
CITING = "[1] says so. It holds [2]."


def read(text: str, *cuts: int, agent: str = "qm_agent") -> Draft:
    draft = Draft(agent, "k", step=2)
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    for begin, end in itertools.pairwise(places):
        draft.feed(text[begin:end])
    draft.close()
    return draft


@given(st.lists(st.integers(0, 10_000), max_size=8), st.sampled_from(["", "```json\n", " \n"]))
def test_an_array_gives_text_and_allowed_wishes_however_it_is_cut(cuts: list[int], before: str) -> None:
    draft = read(before + json.dumps(ARRAY), *cuts)
    assert draft.text == "The gap is 9.61 eV. Another level would help [1]."
    assert [(one.kind, one.data["name"], one.data["proposed"]) for one in draft.wishes] == [
        ("action", "quantum_job", True)
    ]
    assert [(one.kind, one.data["problem"]) for one in draft.dropped] == [("error", "not_allowed")]
    assert "approve" in draft.dropped[0].data["text"]


@given(st.lists(st.integers(0, 10_000), max_size=8), st.sampled_from([CITING, "Plain words.", "[", "``", "", "[ x"]))
def test_plain_sentences_are_text_however_they_are_cut(cuts: list[int], text: str) -> None:
    draft = read(text, *cuts)
    assert (draft.text, draft.wishes, draft.dropped) == (text, [], [])


def test_who_may_do_nothing_wishes_nothing() -> None:
    draft = read(json.dumps(ARRAY), agent="rag_agent")
    assert (draft.wishes, len(draft.dropped)) == ([], 2)


def test_an_array_that_breaks_off_says_so() -> None:
    draft = read('[{"text": "The ga')
    assert draft.text == "The ga"
    assert [one.data["problem"] for one in draft.dropped] == ["truncated"]


def no_seven(text: str) -> str:
    return "seven" if "7" in text else ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ""),
        ("The HOMO", "The"),
        ("The HOMO of water", "The HOMO of"),
        ("The HOMO of water ", "The HOMO of water"),
        ("The HOMO of water is -9.1 eV and", "The HOMO of water is"),
        ("The HOMO of water is -9.1 eV. The", "The HOMO of water is -9.1 eV."),
        ("The HOMO of water is -7.1 eV. The gap", ""),
        ("All is well. See www.evil.example now ", "All is well. See"),
        ("All is well. See [here](x) now ", "All is well. See"),
        ("All is\n\n well, said (Eve) twice ", "All is well, said (Eve) twice"),
        ("# Title of it ", ""),
    ],
)
def test_only_whole_sentences_and_words_that_hold_nothing_to_check_are_told(text: str, told: str) -> None:
    assert tellable(text, no_seven) == told


@given(st.lists(st.sampled_from(["Water", "is", "-9.1", "eV.", "well.", "7", "[1].", "et al.", "so,"]), min_size=1))
def test_what_was_told_stays_the_beginning_of_what_is_told_next(words: list[str]) -> None:
    text, before = " ".join(words), ""
    for end in range(1, len(text) + 1):
        part = tellable(text[:end], no_seven)
        assert not part or part.startswith(before) or "7" in text[:end]
        assert "7" not in part
        assert not part or " ".join(text.split()).startswith(part)
        before = part or before


def test_sentences_end_at_their_ends() -> None:
    assert sentences("Smith et al. found it. [1] It, e.g. water, holds 1.5 eV [2]. Done") == [
        "Smith et al. found it. [1] It, e.g. water, holds 1.5 eV [2].",
        "Done",
    ]
