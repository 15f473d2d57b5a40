"""Candidates of a swarm as molecules: canonical SMILES, descriptors, structures (RDKit)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rdkit import Chem, rdBase
from rdkit.Chem import AllChem, rdDistGeom, rdForceFieldHelpers, rdMolDescriptors

from tasks.elements import Atom, parse_xyz, write_xyz
from tasks.errors import InputError

SEED = 20_260
_CONFORMERS = 4
#: a bond longer than this times the sum of its covalent radii is broken
_BROKEN = 1.5
_HYDROXIDE_MASS, _HYDROGEN_MASS = 17.007, 1.008


def keep_rdkit_quiet() -> None:
    """Let a program's output hold no warnings of RDKit about molecules that are tried; for the whole process."""
    rdBase.DisableLog("rdApp.*")


def canonical(spellings: Sequence[str]) -> str | None:
    """Give the one SMILES of a molecule that is written in several ways; None if it is no possible molecule."""
    found = [Chem.MolFromSmiles(text) for text in spellings if text]
    if not found or any(mol is None or not mol.GetNumAtoms() for mol in found):
        return None
    return min(str(Chem.MolToSmiles(mol)) for mol in found)


def descriptors(smiles: str, backbone: str, volume: bool = False) -> dict[str, float]:
    """Give what the structure formula alone says of a cation of charge +1.

    ``iec_mmol_per_g``: one cation a repeat unit, bound to it in place of a hydrogen on either side, dry, in the
    hydroxide form: 1000 / (M(repeat unit) + M(cation) - 2 M(H) + M(OH)). ``logp``: Wildman and Crippen, J. Chem. Inf.
    Comput. Sci. 39 (1999) 868. ``labute_surface_square_angstrom``: Labute, J. Mol. Graph. Model. 18 (2000) 464.
    """
    mol = Chem.MolFromSmiles(smiles)
    mass = _mass(mol)
    found = {
        "molar_mass_g_per_mol": mass,
        "iec_mmol_per_g": 1000 / (repeat_unit_mass(backbone) + mass - 2 * _HYDROGEN_MASS + _HYDROXIDE_MASS),
        "logp": float(rdMolDescriptors.CalcCrippenDescriptors(mol)[0]),
        "labute_surface_square_angstrom": float(rdMolDescriptors.CalcLabuteASA(mol)),
        "heavy_atoms": float(mol.GetNumHeavyAtoms()),
    }
    if volume:
        embedded = _embedded(smiles)
        computed: Any = AllChem
        found["volume_cubic_angstrom"] = float(computed.ComputeMolVolume(embedded, confId=_lowest(embedded)))
    return found


def repeat_unit_mass(backbone: str) -> float:
    """Give the molar mass of a repeat unit in g/mol, its ends ``[*]`` left open.

    Raises
    ------
    InputError
        If it is no molecule with two ends.
    """
    mol = Chem.MolFromSmiles(backbone)
    if mol is None or sum(atom.GetAtomicNum() == 0 for atom in mol.GetAtoms()) != 2:
        remedy = "Give a SMILES with two ends, for example '[*]c1ccc([*])cc1'."
        raise InputError("backbone", backbone, "is not a repeat unit", remedy)
    return _mass(mol)


def _mass(mol: Any) -> float:
    return float(sum(atom.GetMass() + atom.GetTotalNumHs() * _HYDROGEN_MASS for atom in mol.GetAtoms()))


def heavy_atoms(smiles: str) -> int:
    """Count the atoms that are no hydrogens."""
    return int(Chem.MolFromSmiles(smiles).GetNumAtoms())


def charge(smiles: str) -> int:
    """Give the formal charge."""
    return int(Chem.GetFormalCharge(Chem.MolFromSmiles(smiles)))


def structure(smiles: str) -> str:
    """Give a 3D structure as XYZ, the same each time: ETKDGv3, the lowest of four conformers by MMFF94s.

    Sources: Wang, Witek, Landrum, Riniker, J. Chem. Inf. Model. 60 (2020) 2044; Halgren, J. Comput. Chem. 20 (1999)
    720. Heavy atoms stand in the order of the SMILES, hydrogens after them.

    Raises
    ------
    InputError
        If none was found.
    """
    mol = _embedded(smiles)
    positions = mol.GetConformer(_lowest(mol)).GetPositions()
    atoms = [Atom(a.GetSymbol(), *map(float, positions[a.GetIdx()])) for a in mol.GetAtoms()]
    return write_xyz(atoms, f"{smiles} (ETKDGv3 + MMFF94s, seed {SEED})")


def _embedded(smiles: str) -> Any:
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    parameters: Any = rdDistGeom.ETKDGv3()
    parameters.randomSeed, parameters.numThreads = SEED, 1
    if not list(rdDistGeom.EmbedMultipleConfs(mol, _CONFORMERS, parameters)):
        raise InputError("smiles", smiles, "has no 3D structure that could be found", "Leave it out.")
    return mol


def _lowest(mol: Any) -> int:
    """Minimise all conformers in place, and give the number of the lowest one."""
    if not rdForceFieldHelpers.MMFFHasAllMoleculeParams(mol):
        return 0
    done = rdForceFieldHelpers.MMFFOptimizeMoleculeConfs(mol, numThreads=1, maxIters=2000, mmffVariant="MMFF94s")
    energies = [energy if math.isfinite(energy) else math.inf for _, energy in done]
    return energies.index(min(energies))


def broken_bond(smiles: str, xyz: str) -> str:
    """Name a bond of the SMILES that a structure no longer has, as ``C1-N2 (2.91 Å)``; empty: all are there."""
    atoms = parse_xyz(xyz)
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    if [a.GetSymbol() for a in mol.GetAtoms()] != [atom.symbol for atom in atoms]:
        return "the atoms are not those of the SMILES"
    table = Chem.GetPeriodicTable()
    for bond in mol.GetBonds():
        i, j = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        length = math.dist(atoms[i][1:], atoms[j][1:])
        if length > _BROKEN * (table.GetRcovalent(atoms[i].symbol) + table.GetRcovalent(atoms[j].symbol)):
            return f"{atoms[i].symbol}{i + 1}-{atoms[j].symbol}{j + 1} ({length:.2f} Å)"
    return ""
