from __future__ import annotations

import math
from itertools import pairwise

import pytest

from orchestrator.chemistry import broken_bonds, embed, identify
from orchestrator.chemistry.names import TABLE
from tasks.elements import parse_xyz, write_xyz
from tasks.errors import InputError


def _distance(xyz: str, i: int, j: int) -> float:
    atoms = parse_xyz(xyz)
    return math.dist(atoms[i][1:], atoms[j][1:])


def test_the_same_molecule_has_the_same_structure_however_it_is_written() -> None:
    assert embed("CCO").xyz == embed("OCC").xyz == embed("C(O)C").xyz


# Experimental bond lengths, CRC Handbook of Chemistry and Physics, 97th ed., section 9: C-C in ethane 1.535 Å, O-H in
# water 0.958 Å, C=C in ethene 1.339 Å, C≡N in acetonitrile 1.157 Å. A force field is right to a few hundredths.
@pytest.mark.parametrize(
    ("smiles", "i", "j", "length"),
    [("CC", 0, 1, 1.535), ("O", 0, 1, 0.958), ("C=C", 0, 1, 1.339), ("CC#N", 1, 2, 1.157)],
)
def test_bond_lengths_are_those_of_experiment(smiles: str, i: int, j: int, length: float) -> None:
    assert _distance(embed(smiles).xyz, i, j) == pytest.approx(length, abs=0.03)


def test_the_best_of_ten_piperidinium_rings_is_a_chair() -> None:
    # In a chair all six torsions in the ring are near 55° and alternate in sign (a twist-boat has two near 30°).
    geometry = embed("C[N+]1(C)CCCCC1")
    atoms = parse_xyz(geometry.xyz)
    ring = [1, 3, 4, 5, 6, 7]
    assert "".join(atoms[i].symbol for i in ring) == "NCCCCC"
    torsions = [_torsion(*(atoms[ring[(k + n) % 6]][1:] for n in range(4))) for k in range(6)]
    assert all(45 < abs(angle) < 65 for angle in torsions)
    assert all(a * b < 0 for a, b in pairwise(torsions))


def _torsion(*points: tuple[float, float, float]) -> float:
    a, b, c, d = points
    u, v, w = ([q - p for p, q in zip(x, y, strict=True)] for x, y in ((a, b), (b, c), (c, d)))
    n1, n2 = _cross(u, v), _cross(v, w)
    length = math.sqrt(sum(x * x for x in v))
    y = length * sum(p * q for p, q in zip(u, n2, strict=True))
    return math.degrees(math.atan2(y, sum(p * q for p, q in zip(n1, n2, strict=True))))


def _cross(p: list[float], q: list[float]) -> list[float]:
    return [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]


@pytest.mark.parametrize(
    ("smiles", "method"),
    [
        ("C[N+](C)(C)C", "ETKDGv3 + MMFF94s"),
        ("F[B-](F)(F)F", "ETKDGv3 + UFF"),
        ("[Cl-]", "ETKDGv3, no force field"),
    ],
)
def test_it_is_said_how_a_structure_was_made(smiles: str, method: str) -> None:
    geometry = embed(smiles)
    assert geometry.method == method
    assert method in geometry.xyz.splitlines()[1]


def test_every_molecule_of_the_table_has_a_structure_of_its_own_bonds() -> None:
    for entry in TABLE:
        if identify(entry.smiles).atoms <= 20:
            geometry = embed(entry.smiles)
            assert len(parse_xyz(geometry.xyz)) == identify(entry.smiles).atoms
            assert broken_bonds(entry.smiles, geometry.xyz) == [], entry.name


def test_a_bond_that_came_apart_is_named() -> None:
    atoms = parse_xyz(embed("C[N+](C)(C)C").xyz)
    atoms[0] = atoms[0]._replace(x=atoms[0].x * 3, y=atoms[0].y * 3, z=atoms[0].z * 3)
    broken = broken_bonds("C[N+](C)(C)C", write_xyz(atoms))
    assert any(text.startswith("C1-N2 (") for text in broken)
    assert broken_bonds("CC", write_xyz(atoms)) == ["the atoms are not those of the SMILES"]


def test_a_bad_smiles_is_refused_here_too() -> None:
    with pytest.raises(InputError, match="is empty"):
        embed("")
