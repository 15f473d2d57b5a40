"""What of a text no reader has read, and how it is shown."""

from __future__ import annotations

import re

import pytest

from orchestrator.planning.unread import AMOUNT, Unread, wished
from tasks.errors import InputError


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("at 300 K and -10 °C", ["300 K", "-10 °C"]),
        ("for 1.5 ns in a 3-nm box at 122 °F", ["1.5 ns", "3-nm", "122 °F"]),
        ("on two cores with 8 GB and 5 wt%", ["two cores", "8 GB", "5 wt%"]),
        ("16 pairs of 2", ["16", "2"]),
        # parts of words, names, levels and SMILES count nothing
        ("B3LYP/6-31G* of C1CC1 with GFN2-xTB on PBF_BB_1, SPC/E, TIP4P/2005", []),
        # nor do steps, entries of a list and the best of several
        ("1. step 2, the best 3 of table 4", []),
    ],
)
def test_numbers_are_found_with_their_units_and_outside_of_words(text: str, left: list[str]) -> None:
    assert [match[0].strip() for match in Unread(text).numbers()] == left


def test_a_bare_number_is_no_amount() -> None:
    assert Unread("50 g of it, 100 lines").numbers(AMOUNT) == []


def test_what_was_taken_is_read_and_places_stay() -> None:
    unread = Unread("at 300 K for 50 ps")
    assert unread.take(re.compile(r"\d+ K"))
    assert unread.text == "at       for 50 ps"
    with pytest.raises(InputError, match=re.escape("'K for 50 ps' holds '50 ps', which nothing here reads. Say how.")):
        unread.refuse_numbers("request", "Say how.")


def test_a_wish_that_is_negated_is_none() -> None:
    wishes = {"annealing": re.compile("annealing"), "walls": re.compile("walls")}
    assert wished("walls, without any annealing", wishes) == ["walls"]
