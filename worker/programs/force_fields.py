"""Force fields of water and monatomic or diatomic ions, as parts of a GROMACS topology (nm, kJ/mol, e).

Water is SPC/E: Berendsen, Grigera, Straatsma, J. Phys. Chem. 91 (1987) 6269. Halides are those of Joung and Cheatham
for SPC/E, J. Phys. Chem. B 112 (2008) 9020, as AmberTools' ``frcmod.ionsjc_spce`` has them. Hydroxide is a rigid pair
of charges -1.3 and +0.3 with the types 434 and 435 of OPLS-AA, as GROMACS' ``oplsaa.ff/ffnonbonded.itp`` has them,
under the combination rules of the other molecules. It cannot pass on a proton.
"""

from __future__ import annotations

from dataclasses import dataclass

#: nm of σ for each ångström of Rmin/2, and kJ for each kcal
_SIGMA_PER_HALF_RMIN = 0.1 * 2 / 2 ** (1 / 6)
_KJ_PER_KCAL = 4.184

#: non-bonded terms and scaling of 1-4 pairs of AMBER and GAFF
DEFAULTS = "[ defaults ]\n; nbfunc comb-rule gen-pairs fudgeLJ fudgeQQ\n1 2 yes 0.5 0.8333\n"


@dataclass(frozen=True, kw_only=True)
class Part:
    """One kind of molecule: what it adds to a topology, and one molecule of it.

    Attributes
    ----------
    atom_types
        Rows of ``[ atomtypes ]``, by the name of the type.
    topology
        From ``[ moleculetype ]`` on.
    structure
        One molecule as a ``.gro`` file; empty for water, which comes from GROMACS' own box.
    """

    molecule_type: str
    atoms: int
    charge: int
    mass_dalton: float
    atom_types: dict[str, str]
    topology: str
    structure: str


def atom_type(name: str, number: int, mass: float, sigma_nm: float, epsilon_kj: float) -> str:
    """Give a row of ``[ atomtypes ]``."""
    return f"{name} {number} {mass:.4f} 0.0 A {sigma_nm:.8e} {epsilon_kj:.8e}"


def structure(residue: str, atoms: list[tuple[str, float, float, float]]) -> str:
    """Give one molecule as a ``.gro`` file; positions in nm."""
    rows = [
        f"{1:5d}{residue:<5}{name:>5}{number:5d}{x:8.3f}{y:8.3f}{z:8.3f}"
        for number, (name, x, y, z) in enumerate(atoms, 1)
    ]
    return "\n".join([residue, f"{len(atoms):5d}", *rows, "   1.00000   1.00000   1.00000", ""])


def water() -> Part:
    """Give SPC/E water."""
    topology = """[ moleculetype ]
SOL 2
[ atoms ]
1 OW_spce 1 SOL OW  1 -0.8476 15.9994
2 HW_spce 1 SOL HW1 1  0.4238  1.0080
3 HW_spce 1 SOL HW2 1  0.4238  1.0080
#ifndef FLEXIBLE
[ settles ]
1 1 0.1 0.16330
#else
[ bonds ]
1 2 1 0.1 345000 0.1 345000
1 3 1 0.1 345000 0.1 345000
[ angles ]
2 1 3 1 109.47 383 109.47 383
#endif
[ exclusions ]
1 2 3
2 1 3
3 1 2
"""
    types = {
        "OW_spce": atom_type("OW_spce", 8, 15.9994, 0.316557, 0.650194),
        "HW_spce": atom_type("HW_spce", 1, 1.008, 0.0, 0.0),
    }
    return Part(
        molecule_type="SOL",
        atoms=3,
        charge=0,
        mass_dalton=18.0154,
        atom_types=types,
        topology=topology,
        structure="",
    )


def hydroxide() -> Part:
    """Give the rigid hydroxide ion."""
    topology = """[ moleculetype ]
OH 1
[ atoms ]
1 O_oh 1 OH O 1 -1.3 15.9994
2 H_oh 1 OH H 1  0.3  1.0080
[ constraints ]
1 2 1 0.0945
"""
    types = {
        "O_oh": atom_type("O_oh", 8, 15.9994, 0.32, 1.04600),
        "H_oh": atom_type("H_oh", 1, 1.008, 0.0, 0.0),
    }
    return Part(
        molecule_type="OH",
        atoms=2,
        charge=-1,
        mass_dalton=17.0074,
        atom_types=types,
        topology=topology,
        structure=structure("OH", [("O", 0.0, 0.0, 0.0), ("H", 0.0945, 0.0, 0.0)]),
    )


#: name -> molecule type, atomic number, mass in dalton, Rmin/2 in ångström, ε in kcal/mol
_HALIDES = {
    "fluoride": ("F", 9, 19.00, 2.257, 0.0074005),
    "chloride": ("CL", 17, 35.45, 2.711, 0.0127850),
    "bromide": ("BR", 35, 79.90, 2.751, 0.0269586),
    "iodide": ("I", 53, 126.9, 2.919, 0.0427845),
}


def halide(name: str) -> Part:
    """Give a halide ion by its name."""
    molecule_type, number, mass, half_rmin, epsilon = _HALIDES[name]
    type_name = f"{molecule_type}_jc"
    sigma = half_rmin * _SIGMA_PER_HALF_RMIN
    topology = f"""[ moleculetype ]
{molecule_type} 1
[ atoms ]
1 {type_name} 1 {molecule_type} {molecule_type} 1 -1.0 {mass:.3f}
"""
    return Part(
        molecule_type=molecule_type,
        atoms=1,
        charge=-1,
        mass_dalton=mass,
        atom_types={type_name: atom_type(type_name, number, mass, sigma, epsilon * _KJ_PER_KCAL)},
        topology=topology,
        structure=structure(molecule_type, [(molecule_type, 0.0, 0.0, 0.0)]),
    )


def anion(name: str) -> Part:
    """Give a counter-ion by its name."""
    return hydroxide() if name == "hydroxide" else halide(name)
