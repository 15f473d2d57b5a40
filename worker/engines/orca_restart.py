"""What an ORCA run can go on from: orbitals, the newest geometry, and the Hessian of a geometry that is no minimum."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.elements import Atom, parse_xyz
from tasks.errors import InputError
from worker.engines.orca_input import JOB

ORBITALS, GEOMETRY, HESSIAN = f"{JOB}.gbw", f"{JOB}.xyz", f"{JOB}.hess"


@dataclass(frozen=True, kw_only=True)
class Hessian:
    """Modes of one geometry.

    Attributes
    ----------
    frequencies_per_cm
        Of all 3N modes, imaginary ones negative.
    modes
        Cartesian displacements, shape (modes, 3N).
    """

    frequencies_per_cm: tuple[float, ...]
    modes: tuple[tuple[float, ...], ...]


def read_geometry(path: Path, atoms: Sequence[Atom]) -> list[Atom] | None:
    """Read a geometry that ORCA keeps; None if there is none, or it is not whole, or of another molecule."""
    try:
        found = parse_xyz(path.read_text(encoding="utf-8", errors="replace"))
    except (OSError, InputError):
        return None
    return found if [atom.symbol for atom in found] == [atom.symbol for atom in atoms] else None


def is_whole_hessian(path: Path) -> bool:
    """Tell whether a ``.hess`` file has its end."""
    try:
        return "$end" in path.read_text(encoding="utf-8", errors="replace").splitlines()[-3:]
    except OSError:
        return False


def read_hessian(path: Path) -> Hessian | None:
    """Read frequencies and normal modes of a ``.hess`` file; None if it is not there or not whole.

    The file is a list of sections that begin with ``$``; matrices stand in blocks of columns, each headed by the
    columns' numbers (manual of ORCA 6.0, 9.36).
    """
    if not is_whole_hessian(path):
        return None
    sections = {
        lines[0].strip(): [line.split() for line in lines[1:] if line.strip()]
        for part in path.read_text(encoding="utf-8", errors="replace").split("$")[1:]
        if (lines := part.splitlines())
    }
    try:
        (count,), *rows = sections["vibrational_frequencies"]
        frequencies = tuple(float(row[1]) for row in rows[: int(count)])
        (size, _), *blocks = sections["normal_modes"]
        return Hessian(frequencies_per_cm=frequencies, modes=_columns(blocks, int(size)))
    except (KeyError, ValueError, IndexError):
        return None


def _columns(blocks: Sequence[Sequence[str]], size: int) -> tuple[tuple[float, ...], ...]:
    columns: dict[int, list[float]] = {}
    heads: list[int] = []
    for row in blocks:
        if all(re.fullmatch(r"\d+", cell) for cell in row):
            heads = [int(cell) for cell in row]
            continue
        for head, cell in zip(heads, row[1:], strict=True):
            columns.setdefault(head, []).append(float(cell))
    modes = tuple(tuple(columns[i]) for i in range(size))
    if any(len(mode) != size for mode in modes):
        raise ValueError("a matrix is not whole")
    return modes


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
