"""Clusters out of a frame: the nearest molecules, whole, across the walls of the box."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tasks.dynamics import Cluster
from tasks.elements import parse_xyz
from tests.conftest import missing
from worker.programs.common import JobFailed

EDGE = 20.0
#: cation (C, H), counter-ions (O, H) and waters (O, H, H), by their first atoms; all others lie 1 Å along x
CATIONS = [(0.3, 10, 10), (10, 10, 10)]
IONS = [(13.5, 10, 10), (17.3, 10, 10)]
WATERS = [(0.3, 13, 10), (10, 15, 10), (0.3, 10, 15.5)]


@pytest.fixture
def frame() -> tuple[Any, dict[str, list[Any]], list[str]]:
    """A box of 20 Å: the second ion is the nearest to the first cation, through the wall."""
    try:
        import MDAnalysis
    except ImportError:
        missing("MDAnalysis")

    positions, groups, symbols = [], {"cation": [], "hydroxide": [], "water": []}, []  # type: ignore[var-annotated]
    for species, places, elements in (("cation", CATIONS, "CH"), ("hydroxide", IONS, "OH"), ("water", WATERS, "OHH")):
        for place in places:
            start = len(symbols)
            for number, symbol in enumerate(elements):
                positions.append(((place[0] + number) % EDGE, *place[1:]))
                symbols.append(symbol)
            groups[species].append(np.arange(start, len(symbols)))
    universe = MDAnalysis.Universe.empty(len(symbols), trajectory=True)
    universe.add_TopologyAttr("masses", [{"C": 12.0, "O": 16.0, "H": 1.008}[symbol] for symbol in symbols])
    universe.atoms.positions = positions
    universe.dimensions = [EDGE, EDGE, EDGE, 90, 90, 90]
    return universe, groups, symbols


CHARGES = {"cation": 1, "hydroxide": -1, "water": 0}


def test_the_pair_that_is_nearest_is_taken_with_its_waters_through_the_walls(frame: Any) -> None:
    from worker.programs.cluster import take_cluster

    universe, groups, symbols = frame
    wanted = Cluster(cation="cation", counter_ions=1, waters=2)
    taken, xyz = take_cluster(universe, wanted, groups, CHARGES, symbols)
    assert [(one.species, one.number) for one in taken.members] == [
        ("cation", 1), ("hydroxide", 2), ("water", 1), ("water", 3),
    ]  # fmt: skip
    assert [one.distance_angstrom for one in taken.members] == pytest.approx([0, 3.0, 3.0, 5.5], abs=1e-4)
    assert taken.charge == 0
    atoms = parse_xyz(xyz)
    assert [atom.symbol for atom in atoms] == list("CHOHOHHOHH")
    # Whole, and at the nearest image: the ion stands 3 Å to the left, its hydrogen 1 Å to the right of it.
    assert [round(atom.x, 3) for atom in atoms] == [0, 1, -3, -2, 0, 1, 2, 0, 1, 2]


def test_the_cation_is_the_one_with_the_nearest_counter_ion(frame: Any) -> None:
    from worker.programs.cluster import take_cluster

    universe, groups, symbols = frame
    moved = universe.atoms.positions
    moved[groups["hydroxide"][0][0]] = (12.5, 10, 10)
    universe.atoms.positions = moved
    taken, _ = take_cluster(universe, Cluster(cation="cation"), groups, CHARGES, symbols)
    assert [(one.species, one.number) for one in taken.members] == [("cation", 2), ("hydroxide", 1)]


def test_more_than_the_box_holds_is_refused(frame: Any) -> None:
    from worker.programs.cluster import take_cluster

    universe, groups, symbols = frame
    with pytest.raises(JobFailed) as refused:
        take_cluster(universe, Cluster(cation="cation", waters=4), groups, CHARGES, symbols)
    assert "asks for 4 water, and the box holds 3" in refused.value.failure.message


def test_elements_are_known_by_their_masses() -> None:
    from worker.programs.masses import symbols_of

    assert symbols_of([12.01, 1.008, 14.01, 16.0, 35.45, 79.9]) == ["C", "H", "N", "O", "Cl", "Br"]
