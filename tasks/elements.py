"""Symbols of the elements, and molecules as XYZ text."""

from __future__ import annotations

import math
from typing import NamedTuple

from tasks.errors import InputError

_SYMBOLS = (
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb"
    " Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au"
    " Hg Tl Pb Bi Po At Rn"
).split()
ATOMIC_NUMBER = {symbol: number for number, symbol in enumerate(_SYMBOLS, 1)}


class Atom(NamedTuple):
    """One atom, with Cartesian coordinates in ångström."""

    symbol: str
    x: float
    y: float
    z: float


def parse_xyz(text: str, field: str = "molecule.xyz") -> list[Atom]:
    """Read one molecule in XYZ format: number of atoms, a comment, then ``symbol x y z`` in ångström.

    Raises
    ------
    InputError
        If the text is not that; the message names the line.
    """
    remedy = "XYZ is the number of atoms, a comment line, then one line 'C 0.0 0.0 0.0' an atom."
    lines = text.strip("\n").splitlines()
    if not lines or not lines[0].strip().isdigit():
        raise InputError(field, lines[0] if lines else "", "does not begin with the number of atoms", remedy)
    count = int(lines[0])
    body = [line for line in lines[2:] if line.strip()]
    if count < 1 or len(body) != count:
        raise InputError(field, f"{count} atoms", f"is followed by {len(body)} lines of atoms", remedy)
    atoms = []
    for number, line in enumerate(body, 3):
        parts = line.split()
        symbol = parts[0].capitalize()
        if symbol not in ATOMIC_NUMBER:
            raise InputError(f"{field}, line {number}", parts[0], "is not the symbol of an element", remedy)
        try:
            x, y, z = (float(part) for part in parts[1:4])
        except ValueError:
            raise InputError(f"{field}, line {number}", line, "does not hold three coordinates", remedy) from None
        if not all(map(math.isfinite, (x, y, z))):
            raise InputError(f"{field}, line {number}", line, "holds a coordinate that is not finite", remedy)
        atoms.append(Atom(symbol, x, y, z))
    return atoms


def write_xyz(atoms: list[Atom], comment: str = "") -> str:
    """Give one molecule in XYZ format, coordinates in ångström with eight decimals."""
    rows = [f"{a.symbol:<2s} {a.x:15.8f} {a.y:15.8f} {a.z:15.8f}" for a in atoms]
    return "\n".join([str(len(atoms)), " ".join(comment.split()), *rows]) + "\n"


def electron_count(atoms: list[Atom], charge: int) -> int:
    """Give the number of electrons of a molecule with that total charge."""
    return sum(ATOMIC_NUMBER[atom.symbol] for atom in atoms) - charge
