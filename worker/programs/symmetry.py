"""The symmetry number of a molecule: how many rotations bring it to where it was."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

#: how far an atom may be from where symmetry would have it, in ångström: optimised geometries are that exact
TOLERANCE_ANGSTROM = 0.03
_LOOSE = 4.0

Vector = NDArray[np.float64]


def symmetry_number(symbols: Sequence[str], coordinates_angstrom: Vector) -> int:
    """Count the proper rotations of a molecule, itself included; 1 for a single atom, 1 or 2 for a linear molecule.

    A rotation is fixed by where it takes two atoms that do not lie on one line with the centre. All pairs of atoms of
    the same elements and distances are tried, and kept where the best rotation brings every atom to within
    ``TOLERANCE_ANGSTROM`` of one of its element.

    Parameters
    ----------
    coordinates_angstrom
        Shape (atoms, 3).
    """
    kinds = np.array(symbols)
    centred = coordinates_angstrom - coordinates_angstrom.mean(axis=0)
    radii = np.linalg.norm(centred, axis=1)
    if len(kinds) < 2:
        return 1
    first = _rarest(kinds, radii, radii > TOLERANCE_ANGSTROM)
    distance_from_axis = np.linalg.norm(np.cross(centred, centred[first] / radii[first]), axis=1)
    if distance_from_axis.max() < TOLERANCE_ANGSTROM:
        return 2 if _matches(kinds, centred, -centred) is not None else 1
    second = _rarest(kinds, radii, distance_from_axis > 0.5 * distance_from_axis.max())
    return sum(
        _is_rotation(kinds, centred, (first, second), (i, j))
        for i in _like(kinds, radii, first)
        for j in _like(kinds, radii, second)
    )


def _like(kinds: NDArray[np.str_], radii: Vector, atom: int) -> NDArray[np.int_]:
    return np.flatnonzero((kinds == kinds[atom]) & (abs(radii - radii[atom]) < _LOOSE * TOLERANCE_ANGSTROM))


def _rarest(kinds: NDArray[np.str_], radii: Vector, allowed: NDArray[np.bool_]) -> int:
    return int(min(np.flatnonzero(allowed), key=lambda atom: (len(_like(kinds, radii, int(atom))), -radii[atom])))


def _frame(a: Vector, b: Vector) -> Vector | None:
    """Give three axes, as columns, of which the first points to ``a`` and the second lies in the plane of both."""
    x, z = a, np.cross(a, b)
    if np.linalg.norm(x) < TOLERANCE_ANGSTROM or np.linalg.norm(z) < TOLERANCE_ANGSTROM**2:
        return None
    x, z = x / np.linalg.norm(x), z / np.linalg.norm(z)
    return np.column_stack((x, np.cross(z, x), z))


def _is_rotation(kinds: NDArray[np.str_], centred: Vector, here: tuple[int, int], there: tuple[int, int]) -> bool:
    before, after = (_frame(centred[i], centred[j]) for i, j in (here, there))
    if before is None or after is None:
        return False
    found = _matches(kinds, centred, centred @ (after @ before.T).T, _LOOSE)
    if found is None or (found[here[0]], found[here[1]]) != there:
        return False
    # The best rotation for that permutation (Kabsch, Acta Cryst. A 32 (1976) 922).
    u, _, vt = np.linalg.svd(centred.T @ centred[found])
    turn = vt.T @ np.diag([1.0, 1.0, np.sign(np.linalg.det(vt.T @ u.T))]) @ u.T
    return bool(np.linalg.norm(centred @ turn.T - centred[found], axis=1).max() < TOLERANCE_ANGSTROM)


def _matches(kinds: NDArray[np.str_], centred: Vector, moved: Vector, times: float = 1.0) -> NDArray[np.int_] | None:
    """Give for each moved atom the atom of its element in whose place it is; None if one is in no such place."""
    distances = np.linalg.norm(moved[:, None] - centred[None], axis=2)
    distances[kinds[:, None] != kinds[None]] = np.inf
    nearest = distances.argmin(axis=1)
    close = bool(distances[np.arange(len(kinds)), nearest].max() < times * TOLERANCE_ANGSTROM)
    return nearest if close and len(set(nearest)) == len(kinds) else None
