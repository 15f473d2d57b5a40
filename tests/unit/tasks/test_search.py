"""Queries of the search index: what a user types never becomes syntax."""

from __future__ import annotations

import pytest

from tasks.errors import InputError
from tasks.search import parse_range, query


@pytest.mark.parametrize(
    ("text", "tags", "written"),
    [
        ("", {}, "*"),
        ("water dimer", {}, "@label:(water*) @label:(dimer*)"),
        ("a", {}, "@label:(a)"),
        ("'|@owner:{x} -(", {}, "@label:(owner*) @label:(x)"),
        ("", {"owner": "a.b@c", "state": ""}, r"@owner:{a\.b\@c}"),
        ("", {"queue": "program.x} | @state:{y"}, r"@queue:{program\.x\}\ \|\ \@state\:\{y}"),
    ],
)
def test_a_query_is_escaped(text: str, tags: dict[str, str], written: str) -> None:
    assert query(text, tags, {}) == written


def test_ranges_may_be_open() -> None:
    assert query("", {}, {"homo_ev": (-10.5, None)}) == "@homo_ev:[-10.5 +inf]"
    assert query("", {}, {"gap_ev": (None, 2.0)}) == "@gap_ev:[-inf 2.0]"


@pytest.mark.parametrize(
    ("text", "limits"),
    [("-10..-5", (-10.0, -5.0)), ("..2.5", (None, 2.5)), ("-1e-3..", (-0.001, None)), (" 1..1 ", (1.0, 1.0))],
)
def test_a_range_is_read(text: str, limits: tuple[float | None, float | None]) -> None:
    assert parse_range(text, "range") == limits


@pytest.mark.parametrize("text", ["", "..", "5", "a..b", "5..1", "1...2", "nan..1"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_range(text, "range")
