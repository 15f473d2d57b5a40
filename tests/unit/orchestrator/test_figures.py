from __future__ import annotations

import struct

import pytest

from orchestrator.figures import Levels, _name_lines, level_diagram

TMA = Levels(name="tetramethylammonium", formula="C4H12N+", homo_ev=-15.58, lumo_ev=-3.86)


def _size(png: bytes) -> tuple[int, int]:
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def test_the_same_levels_give_the_same_picture() -> None:
    assert level_diagram([TMA], "caption") == level_diagram([TMA], "caption")


def test_a_diagram_grows_with_its_molecules_and_stops() -> None:
    two, eight, hundred = (_size(level_diagram([TMA] * n, "c", dpi=50)) for n in (2, 8, 100))
    assert two[0] < eight[0] < hundred[0]
    assert hundred == _size(level_diagram([TMA] * 16, "c", dpi=50))


@pytest.mark.parametrize(
    "levels",
    [
        Levels(name="$weird$ \\name{", formula="", homo_ev=0.0, lumo_ev=0.0),
        Levels(name="C" * 200, homo_ev=-1.0),
        Levels(name="x", formula="CO3-2", lumo_ev=1.0),
        Levels(name="", homo_ev=-1e6, lumo_ev=1e6),
    ],
)
def test_any_name_and_any_level_can_be_drawn(levels: Levels) -> None:
    assert level_diagram([levels, TMA], "caption $\\frac{") != b""


def test_nothing_to_draw_is_refused() -> None:
    with pytest.raises(ValueError, match="no orbital energy"):
        level_diagram([Levels(name="x")], "")


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("N,N-dimethylpiperidinium", ["N,N-dimethylpiperidinium"]),
        ("1-benzyl-3-methylimidazolium", ["1-benzyl-", "3-methylimidazolium"]),
        ("1,2,3,4,5-pentamethylimidazolium", ["1,2,3,4,5-pentamethyl-", "imidazolium"]),
        ("dimethyl sulfoxide", ["dimethyl sulfoxide"]),
    ],
)
def test_names_break_between_syllables(name: str, lines: list[str]) -> None:
    assert _name_lines(name) == lines
