"""Where the nodes of the supervisor graph stand in its picture, and along which lines its usual ways run, in inches.

The one node that waits lies across the middle; above it is what people say and are asked, below it what is computed, in
an order in which no two lines cross.
"""

from __future__ import annotations

from typing import NamedTuple

from langgraph.graph import END, START

Point = tuple[float, float]


class Box(NamedTuple):
    """A node: its middle and its size."""

    x: float
    y: float
    width: float = 2.3
    height: float = 0.8


#: the columns from left to right, and the rows from above
_X = (2.0, 5.4, 8.8, 12.2, 15.1)
_TOP, _MIDDLE, _BOTTOM = 10.3, 7.9, 5.5
_HALF = 0.4

BOXES: dict[str, Box] = {
    "gate": Box(_X[0], _TOP),
    "revise": Box(_X[1], _TOP),
    "decide": Box(_X[2], _TOP),
    "review": Box(_X[3], _TOP),
    "await_batches": Box((_X[0] + _X[3]) / 2, _MIDDLE, width=_X[3] - _X[0]),
    "finish": Box(_X[4], _MIDDLE),
    "advance": Box(_X[0], _BOTTOM),
    "dispatch": Box(_X[1], _BOTTOM),
    "recover": Box(_X[2], _BOTTOM),
    "interpret": Box(_X[3], _BOTTOM),
    START: Box(_X[2], _TOP + 1.7, width=0.9, height=0.45),
    END: Box(_X[4] + 0.5, _MIDDLE - 1.3, width=0.9, height=0.45),
}


def _down(x: float) -> tuple[Point, Point]:
    """Give the line from the upper row to the middle."""
    return (x, _TOP - _HALF), (x, _MIDDLE + _HALF)


def _below(x: float) -> tuple[Point, Point]:
    """Give the line from the middle to the lower row."""
    return (x, _MIDDLE - _HALF), (x, _BOTTOM + _HALF)


def _up(line: tuple[Point, Point]) -> tuple[Point, Point]:
    return line[1], line[0]


def _beside(source: int, target: int, y: float) -> tuple[Point, Point]:
    """Give the line between two neighbours of a row."""
    side = 1.15 if target > source else -1.15
    return (_X[source] + side, y), (_X[target] - side, y)


def _under(start: float, y: float, end: float) -> tuple[Point, ...]:
    """Give the line from one node of the lower row to another one, below those between them."""
    return (start, _BOTTOM - _HALF), (start, y), (end, y), (end, _BOTTOM - _HALF)


_OVER, _ROOF = _TOP + 0.85, _TOP + 1.2

WAYS: dict[tuple[str, str], tuple[Point, ...]] = {
    (START, "decide"): ((_X[2], _TOP + 1.47), (_X[2], _TOP + _HALF)),
    ("decide", "gate"): ((_X[2] - 0.7, _TOP + _HALF), (_X[2] - 0.7, _OVER), (_X[0], _OVER), (_X[0], _TOP + _HALF)),
    ("decide", "advance"): (
        *((_X[2] - 0.7, _TOP + _HALF), (_X[2] - 0.7, _OVER), (0.4, _OVER)),
        *((0.4, _BOTTOM), (_X[0] - 1.15, _BOTTOM)),
    ),
    ("decide", "await_batches"): _down(_X[2] - 0.7),
    ("await_batches", "decide"): _up(_down(_X[2] + 0.5)),
    ("decide", "finish"): (
        *((_X[2] + 0.7, _TOP + _HALF), (_X[2] + 0.7, _ROOF)),
        *((_X[4] + 0.5, _ROOF), (_X[4] + 0.5, _MIDDLE + _HALF)),
    ),
    ("await_batches", "finish"): (
        *((_X[2] + 1.6, _MIDDLE + _HALF), (_X[2] + 1.6, _OVER - 0.1)),
        *((_X[4] - 0.4, _OVER - 0.1), (_X[4] - 0.4, _MIDDLE + _HALF)),
    ),
    ("gate", "await_batches"): _down(_X[0] + 0.7),
    ("await_batches", "revise"): _up(_down(_X[1])),
    ("revise", "gate"): _beside(1, 0, _TOP),
    ("review", "await_batches"): _down(_X[3] - 0.85),
    ("advance", "gate"): ((_X[0] - 0.6, _BOTTOM + _HALF), (_X[0] - 0.6, _TOP - _HALF)),
    ("await_batches", "advance"): _below(_X[0] + 0.7),
    ("await_batches", "dispatch"): _below(_X[1] - 0.7),
    ("dispatch", "await_batches"): _up(_below(_X[1] + 0.6)),
    ("recover", "await_batches"): _up(_below(_X[2] - 0.7)),
    ("await_batches", "recover"): _below(_X[2] + 0.6),
    ("await_batches", "interpret"): _below(_X[3] - 0.7),
    ("interpret", "review"): ((_X[3] + 0.75, _BOTTOM + _HALF), (_X[3] + 0.75, _TOP - _HALF)),
    ("advance", "dispatch"): _beside(0, 1, _BOTTOM),
    ("recover", "dispatch"): _beside(2, 1, _BOTTOM),
    ("interpret", "recover"): _beside(3, 2, _BOTTOM),
    ("interpret", "dispatch"): _under(_X[3] - 0.4, _BOTTOM - 0.75, _X[1]),
    ("interpret", "advance"): _under(_X[3], _BOTTOM - 1.1, _X[0]),
    ("advance", "finish"): (
        *((_X[0] - 0.4, _BOTTOM - _HALF), (_X[0] - 0.4, _BOTTOM - 1.45)),
        *((_X[4] - 0.4, _BOTTOM - 1.45), (_X[4] - 0.4, _MIDDLE - _HALF)),
    ),
    ("finish", END): ((_X[4] + 0.5, _MIDDLE - _HALF), (_X[4] + 0.5, _MIDDLE - 1.07)),
}
