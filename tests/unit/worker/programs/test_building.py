"""Topologies and boxes: force fields against their sources, and one box really built."""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path

import pytest

from tasks.dynamics import Solution
from tasks.elements import Atom, write_xyz
from tests.conftest import missing
from worker.programs.common import JobFailed
from worker.programs.dynamics_build import BuildJob, build, count_residues, topology
from worker.programs.force_fields import anion, water

ACPYPE_ITP = """; written by us after the sections that acpype writes
[ atomtypes ]
;name   bond_type     mass     charge   ptype   sigma         epsilon       Amb
 n4       n4          0.00000  0.00000   A     3.25000e-01   7.11280e-01 ; 1.82  0.1700
 hn       hn          0.00000  0.00000   A     1.06908e-01   6.56888e-02 ; 0.60  0.0157

[ moleculetype ]
 X              3

[ atoms ]
     1   n4     1   MOL     N    1    -0.860000     14.01000 ; qtot
     2   hn     1   MOL    H1    2     0.930000      1.00800
     3   hn     1   MOL    H2    3     0.930000      1.00800

[ bonds ]
     1      2   1    1.0330e-01    3.0878e+05 ; N - H1

[ dihedrals ] ; propers
     1      2   3   1   9   0.0   1.0   2
[ dihedrals ] ; impropers
     2      1   3   1   4   180.0   4.6   2
"""
ACPYPE_GRO = "MOL\n    3\n" + "".join(
    f"    1MOL  {name:>5}{number:5d}   0.100   0.200   0.300\n" for number, name in enumerate(("N", "H1", "H2"), 1)
)


def test_halides_have_the_parameters_of_joung_and_cheatham() -> None:
    # J. Phys. Chem. B 112 (2008) 9020, table 5 (SPC/E): Cl- Rmin/2 2.711 Å, ε 0.0127850 kcal/mol;
    # σ = 2^(5/6) Rmin/2 = 4.830 Å, ε = 0.05349 kJ/mol.
    (row,) = anion("chloride").atom_types.values()
    sigma, epsilon = map(float, row.split()[-2:])
    assert sigma == pytest.approx(0.2711 * 2 ** (5 / 6), rel=1e-6)
    assert epsilon == pytest.approx(0.0127850 * 4.184, rel=1e-6)


def test_water_is_spc_e() -> None:
    # Berendsen, Grigera, Straatsma 1987: qO -0.8476 e, OH 1 Å, HOH 109.47°, σ 3.166 Å, ε 0.650 kJ/mol.
    part = water()
    sigma, epsilon = map(float, part.atom_types["OW_spce"].split()[-2:])
    assert (sigma, epsilon) == (pytest.approx(0.3166, abs=1e-4), pytest.approx(0.650, abs=1e-3))
    charges = [float(line.split()[6]) for line in part.topology.splitlines() if "_spce" in line]
    assert charges == [-0.8476, 0.4238, 0.4238]
    assert 2 * math.degrees(math.asin(0.16330 / 2 / 0.1)) == pytest.approx(109.47, abs=0.02)


def test_acpype_s_topology_is_taken_apart_and_renamed() -> None:
    from worker.programs import parameters

    part = parameters.read_topology(ACPYPE_ITP, ACPYPE_GRO, 1)
    assert part.atom_types == {"n4": "n4 0 0.00000 0.00000 A 3.25000e-01 7.11280e-01",
                               "hn": "hn 0 0.00000 0.00000 A 1.06908e-01 6.56888e-02"}  # fmt: skip
    assert "atomtypes" not in part.topology
    assert part.topology.count("[ dihedrals ]") == 1 and part.topology.count(" 9 ") + part.topology.count(" 4 ") >= 2
    assert (part.atoms, part.charge, part.mass_dalton) == (3, 1, 16.026)
    renamed = parameters._renamed(part, "C01")
    assert "C01 3" in renamed.topology and "MOL" not in renamed.topology + renamed.structure.partition("\n")[2]
    assert count_residues(renamed.structure) == {"C01": 1}
    with pytest.raises(JobFailed, match=r"charge 1.000 instead of \+2"):
        parameters.read_topology(ACPYPE_ITP, ACPYPE_GRO, 2)


AMMONIA_LIKE = "3\n\nN 0 0 0\nH 1.0 0 0\nH 0 1.02 0.5\n"


def test_a_molecule_is_put_into_the_box_as_it_was_given() -> None:
    from worker.programs import parameters
    from worker.programs.given_structure import placed

    part = parameters.read_topology(ACPYPE_ITP, ACPYPE_GRO, 1)
    given = placed(part, AMMONIA_LIKE, "X")
    assert given.topology == part.topology
    assert [line[20:].split() for line in given.structure.splitlines()[2:5]] == [
        ["0.000", "0.000", "0.000"], ["0.100", "0.000", "0.000"], ["0.000", "0.102", "0.050"],
    ]  # fmt: skip
    assert [line[:20] for line in given.structure.splitlines()] == [line[:20] for line in part.structure.splitlines()]


@pytest.mark.parametrize(
    ("xyz", "said"),
    [
        ("3\n\nH 1 0 0\nN 0 0 0\nH 0 1 0\n", "has not the atoms of its SMILES in their order"),
        ("2\n\nN 0 0 0\nH 1 0 0\n", "has not the atoms"),
        (AMMONIA_LIKE.replace("H 1.0", "H 3.1"), "is no longer this molecule: N1-H2 is 3.10 Å long"),
    ],
)
def test_a_structure_of_another_molecule_is_refused(xyz: str, said: str) -> None:
    from worker.programs import parameters
    from worker.programs.given_structure import placed

    with pytest.raises(JobFailed) as refused:
        placed(parameters.read_topology(ACPYPE_ITP, ACPYPE_GRO, 1), xyz, "X")
    assert said in refused.value.failure.message
    assert refused.value.failure.permanent


def test_one_type_of_atom_with_two_parameters_is_refused() -> None:
    other = water()
    other.atom_types["OW_spce"] = "OW_spce 8 15.9994 0.0 A 1.0 1.0"
    with pytest.raises(JobFailed, match="OW_spce different parameters"):
        topology([("a", water(), 1), ("b", other, 1)])


def builds(tmp_path: Path, system: Solution, **changes: object) -> BuildJob:
    from worker.engines.gromacs import Gromacs

    offer = Gromacs.detect()
    if offer is None:
        missing("GROMACS with the extra md")
    values = {"system": system, "gmx": offer.command, "cache": str(tmp_path / "cache"), "seed": 3, **changes}
    return BuildJob.model_validate(values)


def test_a_box_of_ions_and_water_has_the_atoms_that_its_topology_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cation = {"smiles": "C[N+](C)(C)C", "count": 2, "name": "TMA"}
    system = Solution.model_validate({"cations": [cation], "water": 150, "edge_nm": 1.75})
    job = builds(tmp_path, system)
    built = build(job, tmp_path)
    assert {kind.species: kind.count for kind in built.kinds} == {"TMA": 2, "hydroxide": 2, "water": 150}
    assert built.atoms == 2 * 17 + 2 * 2 + 150 * 3
    assert sum(kind.charge * kind.count for kind in built.kinds) == 0
    assert count_residues((tmp_path / "system.gro").read_text()) == {"C01": 2, "OH": 2, "SOL": 150}
    (kept,) = (tmp_path / "cache").iterdir()
    assert json.loads(kept.read_text())["smiles"] == "C[N+](C)(C)C"
    stamp = kept.stat().st_mtime_ns
    # The same molecule, written in another way, is not parameterised again.
    again = Solution.model_validate(
        {"cations": [{**cation, "smiles": "[N+](C)(C)(C)C"}], "water": 150, "edge_nm": 1.75}
    )
    assert build(builds(tmp_path, again), tmp_path).atoms == built.atoms
    assert [path.stat().st_mtime_ns for path in (tmp_path / "cache").iterdir()] == [stamp]
    # A structure of its own, 2 % larger than the force field has it, stands in the box as it was given.
    rows = [line.split()[-3:] for line in json.loads(kept.read_text())["structure"].splitlines()[2:19]]
    given = [Atom(s, *(1.02 * 10 * float(x) for x in row)) for s, row in zip("CNCCC" + 12 * "H", rows, strict=True)]
    (tmp_path / "cation-1.xyz").write_text(write_xyz(given))
    own = Solution.model_validate({"cations": [{**cation, "geometry": "cation-1.xyz"}], "water": 150, "edge_nm": 1.75})
    build(builds(tmp_path, own, inputs=str(tmp_path)), tmp_path)
    packed = (tmp_path / "system.gro").read_text().splitlines()[2:]
    first = [Atom("X", *(10 * float(row[x : x + 8]) for x in (20, 28, 36))) for row in packed[:17]]
    assert distances(first) == pytest.approx(distances(given), abs=0.03)


def distances(atoms: list[Atom]) -> list[float]:
    """Give all distances between the atoms of one molecule, in ångström."""
    return [math.dist(one[1:], other[1:]) for one, other in combinations(atoms, 2)]


def test_what_does_not_fit_in_is_a_box_that_is_too_small(tmp_path: Path) -> None:
    job = builds(tmp_path, Solution.model_validate({"water": 300, "edge_nm": 1.8}), edge_may_grow=False)
    with pytest.raises(JobFailed) as failed:
        build(job, tmp_path)
    assert failed.value.failure.error_class == "box_too_small"
    assert "of water did not fit in" in failed.value.failure.message
