"""An optimised geometry that is a saddle point: displaced along its imaginary mode, and optimised again."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tasks.elements import Atom
from tasks.results import Correction, Failure
from worker.corrections.ladder import next_rung

NAME = "imaginary_mode"
#: Largest displacement of an atom, in ångström: enough to leave the saddle point, too little to break a bond; the
#: second one goes the other way, and further.
AMPLITUDES_ANGSTROM = (0.1, -0.2)


def correct(corrections: Sequence[Correction], failure: Failure) -> Correction | None:
    """Say that the geometry is displaced; the engine does so when it prepares the next run."""
    rungs = [
        Correction(
            name=NAME,
            text=f"The optimised geometry has an imaginary mode: optimised again, {amplitude:+g} Å along it.",
            changes={"displacement_angstrom": amplitude},
        )
        for amplitude in AMPLITUDES_ANGSTROM
    ]
    return next_rung(corrections, failure, NAME, rungs)


def displaced(atoms: Sequence[Atom], mode: Sequence[float], amplitude_angstrom: float) -> list[Atom]:
    """Give a geometry displaced along a mode.

    Parameters
    ----------
    atoms
        In ångström.
    mode
        Cartesian displacements x, y, z of each atom, in any unit; shape (3 times the number of atoms,).
    amplitude_angstrom
        How far the atom goes that moves most.
    """
    moves = [mode[i : i + 3] for i in range(0, len(mode), 3)]
    longest = max(math.hypot(*move) for move in moves)
    scale = amplitude_angstrom / longest
    return [
        Atom(atom.symbol, atom.x + scale * x, atom.y + scale * y, atom.z + scale * z)
        for atom, (x, y, z) in zip(atoms, moves, strict=True)
    ]
