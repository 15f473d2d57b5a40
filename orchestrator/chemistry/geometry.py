"""3D structures from SMILES, the same each time: distance geometry, then a force field."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import accumulate, combinations
from typing import Any

from rdkit import Chem
from rdkit.Chem import rdDistGeom, rdForceFieldHelpers

from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS, canonical, parse
from tasks.elements import Atom, parse_xyz, write_xyz
from tasks.errors import InputError

SEED = 20_260
#: several starts find the chair of a six-membered ring; above this size one has to do
_CONFORMERS = 10
_CONFORMERS_UP_TO_ATOMS = 100
_STEPS = 2000
#: a bond longer than this times the sum of its covalent radii is taken as broken
_BROKEN = 1.5
#: structures whose distances agree within this are the same, in ångström
_SAME = 0.05


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """A 3D structure and how it was made.

    Attributes
    ----------
    xyz
        XYZ format, ångström; heavy atoms in the order of the canonical SMILES, then hydrogens.
    force_field
        ``MMFF94s``, ``UFF`` (where MMFF94s has no parameters), or empty where neither has (plain distance geometry).
    """

    xyz: str
    force_field: str
    conformers: int

    @property
    def method(self) -> str:
        """How it was made, as a report says it."""
        return f"ETKDGv3 + {self.force_field}" if self.force_field else "ETKDGv3, no force field"


def embed(smiles: str, field: str = "molecule.smiles", max_atoms: int = DEFAULT_MAX_ATOMS) -> Geometry:
    """Make a 3D structure: ETKDGv3 with a fixed seed, then MMFF94s, the lowest of ten conformers.

    Sources: ETKDGv3, Wang, Witek, Landrum, Riniker, J. Chem. Inf. Model. 60 (2020) 2044; MMFF94s, Halgren, J. Comput.
    Chem. 20 (1999) 720; UFF, Rappé et al., J. Am. Chem. Soc. 114 (1992) 10024.

    Raises
    ------
    InputError
        If the SMILES cannot be used, or no structure was found for it.
    """
    # From the canonical form: two spellings of one molecule give one structure, atom by atom.
    text = canonical(parse(smiles, field, max_atoms))
    mol = Chem.AddHs(Chem.MolFromSmiles(text))
    count = _CONFORMERS if 1 < mol.GetNumAtoms() <= _CONFORMERS_UP_TO_ATOMS else 1
    found = _conformers(mol, count, SEED)
    if not found:
        raise InputError(field, smiles, "has no 3D structure that could be found", "Give coordinates as XYZ.")
    force_field, order = _relax(mol, found)
    return _geometry(mol, order[0], text, force_field, len(found), SEED)


def embed_apart(smiles: str) -> str:
    """Give several molecules (``A.B``) as one XYZ text, molecule after molecule, 10 Å apart."""
    atoms = [
        atom._replace(x=atom.x + 10 * place)
        for place, part in enumerate(smiles.split("."))
        for atom in parse_xyz(embed(part).xyz)
    ]
    return write_xyz(atoms)


def other_conformer(smiles: str, xyz: str, seed: int = SEED + 1) -> Geometry | None:
    """Make a 3D structure that differs from the given one: the lowest other conformer, by another seed.

    None: of ten no other was found, as for a rigid molecule.

    Raises
    ------
    InputError
        If the SMILES cannot be used.
    """
    text = canonical(parse(smiles, max_atoms=1_000_000))
    mol = Chem.AddHs(Chem.MolFromSmiles(text))
    found = _conformers(mol, _CONFORMERS, seed)
    force_field, order = _relax(mol, found) if found else ("", [])
    made = (_geometry(mol, conformer, text, force_field, len(found), seed) for conformer in order)
    return next((one for one in made if not same_structure(one.xyz, xyz)), None)


def same_structure(one: str, other: str) -> bool:
    """Tell whether two structures have the same distances, whatever their orientation and the order of equal atoms."""
    mine, theirs = _distances(one), _distances(other)
    return len(mine) == len(theirs) and all(abs(a - b) < _SAME for a, b in zip(mine, theirs, strict=True))


def _distances(xyz: str) -> list[float]:
    return sorted(math.dist(a[1:], b[1:]) for a, b in combinations(parse_xyz(xyz), 2))


def _conformers(mol: Chem.Mol, count: int, seed: int) -> list[int]:
    """Embed conformers by ETKDGv3; from random coordinates if it finds none otherwise."""
    parameters: Any = rdDistGeom.ETKDGv3()
    parameters.randomSeed = seed
    parameters.numThreads = 1
    found = list(rdDistGeom.EmbedMultipleConfs(mol, count, parameters))
    if not found:
        parameters.useRandomCoords = True
        found = list(rdDistGeom.EmbedMultipleConfs(mol, count, parameters))
    return found


def _geometry(mol: Chem.Mol, conformer: int, smiles: str, force_field: str, count: int, seed: int) -> Geometry:
    positions = mol.GetConformer(conformer).GetPositions()
    atoms = [Atom(a.GetSymbol(), *map(float, positions[a.GetIdx()])) for a in mol.GetAtoms()]
    made = Geometry(xyz="", force_field=force_field, conformers=count)
    return replace(made, xyz=write_xyz(atoms, f"{smiles} ({made.method}, seed {seed})"))


def _relax(mol: Chem.Mol, conformers: list[int]) -> tuple[str, list[int]]:
    """Minimise all conformers in place; give the force field, and their ids from the lowest one up."""
    if mol.GetNumAtoms() == 1:
        return "", conformers
    if rdForceFieldHelpers.MMFFHasAllMoleculeParams(mol):
        name = "MMFF94s"
        results = rdForceFieldHelpers.MMFFOptimizeMoleculeConfs(
            mol, numThreads=1, maxIters=_STEPS, mmffVariant="MMFF94s"
        )
    elif rdForceFieldHelpers.UFFHasAllMoleculeParams(mol):
        name = "UFF"
        results = rdForceFieldHelpers.UFFOptimizeMoleculeConfs(mol, numThreads=1, maxIters=_STEPS)
    else:
        return "", conformers
    energies = [energy if math.isfinite(energy) else math.inf for _, energy in results]
    return name, [conformers[i] for i in sorted(range(len(energies)), key=energies.__getitem__)]


def broken_bonds(smiles: str, xyz: str) -> list[str]:
    """Name the bonds of the SMILES that a structure no longer has, as ``C1-N2 (2.91 Å)``.

    The structure must hold its atoms in the order of ``embed``, which engines keep; of a cluster (``A.B``) molecule
    after molecule.
    """
    atoms = parse_xyz(xyz)
    parts = smiles.split(".")
    if len(parts) > 1:
        sizes = [Chem.AddHs(Chem.MolFromSmiles(part)).GetNumAtoms() for part in parts]
        ends = list(accumulate(sizes))
        pieces = [write_xyz(atoms[end - size : end]) for size, end in zip(sizes, ends, strict=True)]
        if ends[-1] != len(atoms):
            return ["the atoms are not those of the SMILES"]
        return [bond for part, piece in zip(parts, pieces, strict=True) for bond in broken_bonds(part, piece)]
    mol = Chem.AddHs(Chem.MolFromSmiles(canonical(parse(smiles, max_atoms=1_000_000))))
    if [a.GetSymbol() for a in mol.GetAtoms()] != [a.symbol for a in atoms]:
        return ["the atoms are not those of the SMILES"]
    table = Chem.GetPeriodicTable()
    broken = []
    for bond in mol.GetBonds():
        i, j = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        length = math.dist(atoms[i][1:], atoms[j][1:])
        if length > _BROKEN * (table.GetRcovalent(atoms[i].symbol) + table.GetRcovalent(atoms[j].symbol)):
            broken.append(f"{atoms[i].symbol}{i + 1}-{atoms[j].symbol}{j + 1} ({length:.2f} Å)")
    return broken
