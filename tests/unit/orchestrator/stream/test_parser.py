"""The parser of streamed output: however the input is cut, the same text, actions and problems come out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from orchestrator.stream.parser import Action, Parser, Piece, Problem, TextDelta


def read(pieces: Sequence[str]) -> list[Piece]:
    """Read an input in pieces; the text of each item as one."""
    parser = Parser()
    found = [one for piece in pieces for one in parser.feed(piece)]
    merged: list[Piece] = []
    for one in [*found, *parser.close()]:
        if isinstance(one, TextDelta) and merged and isinstance(merged[-1], TextDelta) and merged[-1].item == one.item:
            merged[-1] = TextDelta(item=one.item, text=merged[-1].text + one.text)
        else:
            merged.append(one)
    return merged


def text(number: int, words: str) -> TextDelta:
    return TextDelta(item=number, text=words)


def action(number: int, **content: object) -> Action:
    return Action(item=number, content=content)


def problems(pieces: list[Piece]) -> list[tuple[int, str]]:
    return [(one.item, one.kind) for one in pieces if isinstance(one, Problem)]


#: one loaded host is slow now and then; what counts is the answer
ROBUST = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
ANY = st.characters(codec="utf-8")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(ANY),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
TEXTS = st.text(st.one_of(st.sampled_from('[]{}",:\\`\n😀é'), ANY), max_size=30)
ITEMS = st.lists(
    st.one_of(
        st.builds(lambda words: {"text": words}, TEXTS),
        st.builds(
            lambda content: {"action": content},
            st.dictionaries(st.text(ANY, max_size=6), JSON, max_size=3),
        ),
    ),
    max_size=6,
)
#: prose without what begins an array
BEFORE = st.sampled_from(["", "```json\n", "Here is [my] answer, {so}: [ as asked ]\n```\n", "[["])
AFTER = st.sampled_from(["", "\n```", '\n```\nThat is all: [{"text": "no"}]', " ]]}"])
#: any text that is likely to be almost right
NEARLY = st.lists(
    st.sampled_from(
        [
            "[",
            "]",
            "{",
            "}",
            ",",
            ":",
            '"',
            '"text"',
            '"action"',
            "\\",
            "\\u",
            "d83d",
            "\\ude00",
            "\\ud83d",
            " ",
            "x",
            "1",
        ]
    ),
    max_size=40,
).map("".join)


def cut(whole: str, places: list[int]) -> list[str]:
    """Cut a text at some places."""
    marks = [0, *sorted(place % (len(whole) + 1) for place in places), len(whole)]
    return [whole[a:b] for a, b in pairwise(marks)]


@ROBUST
@given(ITEMS, BEFORE, AFTER, st.booleans(), st.sampled_from([None, 2]), st.lists(st.integers(0, 10_000), max_size=30))
def test_every_split_gives_exactly_what_was_written(
    items: list[dict[str, object]], before: str, after: str, ascii_only: bool, indent: int | None, places: list[int]
) -> None:
    whole = before + json.dumps(items, ensure_ascii=ascii_only, indent=indent) + after
    wanted: list[Piece] = []
    for number, item in enumerate(items):
        if item.get("text"):
            wanted.append(text(number, str(item["text"])))
        elif "action" in item:
            wanted.append(Action(item=number, content=item["action"]))  # type: ignore[arg-type]
    assert read(cut(whole, places)) == wanted
    assert read(list(whole)) == wanted


@ROBUST
@given(NEARLY, st.lists(st.integers(0, 10_000), max_size=30))
@example('[{"text":"\\ud83d\\ude00"', [9, 12, 17])
@example('[{"text":"a","text":"b"}]', [3])
def test_every_split_of_nearly_right_input_gives_the_same(whole: str, places: list[int]) -> None:
    assert read(cut(whole, places)) == read([whole]) == read(list(whole))


@ROBUST
@given(ITEMS, st.integers(0, 10_000), st.lists(st.integers(0, 10_000), max_size=10))
def test_whatever_is_cut_off_what_was_whole_is_given_and_the_rest_is_reported(
    items: list[dict[str, object]], end: int, places: list[int]
) -> None:
    whole = json.dumps(items)
    part = whole[: end % len(whole)]
    found, wanted = read(cut(part, places)), read([whole])
    assert [one for one in found if isinstance(one, Action)] == [one for one in wanted if isinstance(one, Action)][
        : sum(isinstance(one, Action) for one in found)
    ]
    assert isinstance(found[-1], Problem)
    assert found[-1].kind in ("truncated", "no_array")
    assert len(problems(found)) == 1
    texts = {one.item: one.text for one in wanted if isinstance(one, TextDelta)}
    for one in found:
        if isinstance(one, TextDelta):
            known = texts[one.item]
            assert known.startswith((one.text, one.text.removesuffix("\ufffd")))


def test_text_comes_as_it_is_written_and_an_action_when_it_is_whole() -> None:
    parser = Parser()
    assert parser.feed('```json\n[{"text": "I sha') == [text(0, "I sha")]
    assert parser.feed("ll \\u00e") == [text(0, "ll ")]
    assert parser.feed("9\\") == [text(0, "é")]
    assert parser.feed('n"}, {"action": {"name": "x"') == [text(0, "\n")]
    assert parser.feed("}") == []
    assert parser.feed("}, ") == [action(1, name="x")]
    assert parser.feed("]\n``` and more") == []
    assert parser.close() == []


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (r'[{"text": "\ud83d\ude00"}]', "😀"),
        (r'[{"text": "\ud83dx"}]', "\ufffdx"),
        (r'[{"text": "\ud83d"}]', "\ufffd"),
        (r'[{"text": "\ude00\ud83d\ud83d\ude00"}]', "\ufffd\ufffd😀"),
        (r'[{"text": "a\"]}\\b\/"}]', 'a"]}\\b/'),
        ('[{"text": "line\nbreak"}]', "line\nbreak"),
    ],
)
def test_escapes_are_decoded(written: str, wanted: str) -> None:
    assert read(list(written)) == [text(0, wanted)]


@pytest.mark.parametrize(
    "item",
    [
        "{}",
        '{"text": 1}',
        '{"text": "a", "action": {}}',
        '{"action": {}, "text": "a"}',
        '{"action": [1]}',
        '{"action": {"a": 1, "a": 2}}',
        '{"action": {"a": NaN}}',
        '{"action": {"a": "\\ud83d"}}',
        '{"action": {"a": 1]}',
        '{"action": {"a": 1,}}',
        '{"thought": "x"}',
        '{"action": ' + '{"a": ' * 100_000 + "1" + "}" * 100_001,
    ],
)
def test_an_item_that_is_malformed_is_a_problem_and_no_action_and_the_next_one_is_read(item: str) -> None:
    found = read([f'[{item}, {{"action": {{"name": "next"}}}}]'])
    assert problems(found) == [(0, "malformed")]
    assert [one for one in found if isinstance(one, Action)] == [action(1, name="next")]


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("", (0, "no_array")),
        ("I would rather talk about [this].", (0, "no_array")),
        ("[", (0, "no_array")),
        ('[{"text": "a"', (0, "truncated")),
        ('[{"text": "a"}', (1, "truncated")),
        ('[{"text": "a"}, {"action": {"name": "delete"', (1, "truncated")),
        ('[{"text": "a"} {"text": "b"}]', (1, "malformed")),
        ('[{"text": "a"}, "b"]', (1, "malformed")),
    ],
)
def test_what_is_missing_or_in_the_wrong_place_is_reported(written: str, wanted: tuple[int, str]) -> None:
    found = read([written])
    assert problems(found) == [wanted]
    assert not any(isinstance(one, Action) for one in found)


def test_brackets_in_prose_before_and_in_text_are_no_array() -> None:
    found = read(['See [1] and [ 2 ]: [ {"text": "a [b] {c} \\"]\\""} ] [{"action": {"name": "late"}}]'])
    assert found == [text(0, 'a [b] {c} "]"')]
