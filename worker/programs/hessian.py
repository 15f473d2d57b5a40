"""Second derivatives of the energy piece by piece, each kept as soon as it is there, so that a kill loses at most one.

What was kept belongs to one geometry and one way of computing; another one's is not used.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from worker.programs.common import say

Vector = NDArray[np.float64]
#: kept geometries have eight decimals in ångström
_SAME_BOHR = 1e-6


class KeptPieces:
    """Numbered pieces of a Hessian in one file, which is replaced in one step after each.

    Parameters
    ----------
    path
        The file; if it is there and fits, its pieces are taken over.
    way
        How the pieces are computed.
    coordinates_bohr
        The geometry, shape (atoms, 3).
    """

    def __init__(self, path: Path, way: str, coordinates_bohr: Vector) -> None:
        self.path, self.way, self.coordinates = path, way, coordinates_bohr
        self.pieces: dict[str, Vector] = {}
        self._take_over()

    def _take_over(self) -> None:
        try:
            with np.load(self.path) as kept:
                found = {name: kept[name] for name in kept.files}
        except FileNotFoundError:
            return
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            say(f"{self.path.name} cannot be read, so the Hessian begins from the beginning: {error}")
            return
        way, place = found.pop("way", None), found.pop("coordinates", None)
        fits = way is not None and str(way) == self.way and place is not None and place.shape == self.coordinates.shape
        if fits and place is not None and abs(place - self.coordinates).max() < _SAME_BOHR:
            self.pieces = found

    def __contains__(self, name: str) -> bool:
        return name in self.pieces

    def __getitem__(self, name: str) -> Vector:
        return self.pieces[name]

    def keep(self, name: str, piece: Vector) -> None:
        """Add a piece."""
        self.pieces[name] = piece
        temporary = self.path.with_name(f".{self.path.name}.new")
        with temporary.open("wb") as stream:
            np.savez(stream, way=np.array(self.way), coordinates=self.coordinates, **self.pieces)  # type: ignore[arg-type]
        temporary.replace(self.path)


def displacements(coordinates_bohr: Vector, step_bohr: float) -> Iterator[tuple[str, Vector]]:
    """Give name and geometry of each displacement: every coordinate of every atom, up and down."""
    for index in range(coordinates_bohr.size):
        for sign in (1, -1):
            moved = coordinates_bohr.copy()
            moved.flat[index] += sign * step_bohr
            yield f"{index}{'+' if sign > 0 else '-'}", moved


def by_differences(
    gradient: Callable[[Vector], Vector],
    kept: KeptPieces,
    step_bohr: float,
    tell: Callable[[str, int, int], None],
) -> Vector:
    """Give the Hessian by central differences of gradients, in hartree per bohr², shape (3 atoms, 3 atoms).

    Parameters
    ----------
    gradient
        Gives the gradient at a geometry, both of shape (atoms, 3), in atomic units.
    kept
        Where the gradients are kept; those that are there are not computed again.
    tell
        Told name, number and total after each displacement.
    """
    total = 2 * kept.coordinates.size
    for number, (name, moved) in enumerate(displacements(kept.coordinates, step_bohr), 1):
        if name not in kept:
            kept.keep(name, gradient(moved))
            tell("displacement", number, total)
    rows = [(kept[f"{index}+"] - kept[f"{index}-"]).ravel() / (2 * step_bohr) for index in range(kept.coordinates.size)]
    hessian = np.array(rows)
    return (hessian + hessian.T) / 2
