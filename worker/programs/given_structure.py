"""A molecule put into a box as it was optimised elsewhere: its own positions in place of those of its topology."""

from __future__ import annotations

import math
from dataclasses import replace

from tasks.elements import Atom, parse_xyz
from tasks.results import Failure
from worker.programs.common import JobFailed
from worker.programs.force_fields import Part
from worker.programs.masses import masses_of

#: a bond of the topology that is longer in the structure is none there, in ångström; the longest of GAFF is 2.3
_LONGEST_BOND = 2.6
#: topologies round masses
_MASS_ERROR = 0.1


def placed(part: Part, xyz: str, species: str) -> Part:
    """Give a molecule with the positions of an XYZ text, whose atoms stand in the order of the topology.

    Raises
    ------
    JobFailed
        If the structure has other atoms, or lacks a bond of the topology.
    """
    atoms = parse_xyz(xyz)
    sections = _rows(part.topology)
    masses = [float(row[7]) for row in sections["atoms"]]
    known = masses_of([atom.symbol for atom in atoms])
    if len(atoms) != part.atoms or any(abs(a - b) > _MASS_ERROR for a, b in zip(masses, known, strict=True)):
        raise JobFailed(_failure(species, "has not the atoms of its SMILES in their order"))
    for first, second in ((int(row[0]) - 1, int(row[1]) - 1) for row in sections.get("bonds", [])):
        length = math.dist(atoms[first][1:], atoms[second][1:])
        if length > _LONGEST_BOND:
            bond = f"{atoms[first].symbol}{first + 1}-{atoms[second].symbol}{second + 1}"
            raise JobFailed(_failure(species, f"is no longer this molecule: {bond} is {length:.2f} Å long"))
    return replace(part, structure=_gro(part.structure, atoms))


def _rows(topology: str) -> dict[str, list[list[str]]]:
    sections: dict[str, list[list[str]]] = {}
    rows: list[list[str]] = []
    for line in topology.splitlines():
        if line.startswith("["):
            rows = sections.setdefault(line.strip("[] "), [])
        elif line.strip():
            rows.append(line.split())
    return sections


def _gro(structure: str, atoms: list[Atom]) -> str:
    """Give a ``.gro`` text with other positions, in nm."""
    title, count, *rest = structure.splitlines()
    rows = [
        f"{row[:20]}{atom.x / 10:8.3f}{atom.y / 10:8.3f}{atom.z / 10:8.3f}"
        for row, atom in zip(rest, atoms, strict=False)
    ]
    return "\n".join([title, count, *rows, *rest[len(atoms) :], ""])


def _failure(species: str, problem: str) -> Failure:
    return Failure(
        error_class="bad_input",
        message=f"The structure given for {species} {problem}.",
        remedy="Optimise it again from another structure, or leave the structure out: then it is made from the SMILES.",
        permanent=True,
    )
