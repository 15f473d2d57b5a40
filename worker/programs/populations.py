"""Charges of atoms, and the shares of atoms and shells in orbitals.

Mulliken: J. Chem. Phys. 23 (1955) 1833. Löwdin: J. Chem. Phys. 18 (1950) 365. Hirshfeld: Theor. Chim. Acta 44 (1977)
129, with neutral, spherically averaged atoms of fractional occupation, B3LYP in the molecule's own basis set, on
Becke's grid (J. Chem. Phys. 88 (1988) 2547) of PySCF's level 4.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from pyscf import dft, gto
from pyscf.data import elements
from pyscf.scf import atom_ks

from tasks.results import Failure
from worker.programs.common import JobFailed

#: points that are looked at together
_BLOCK = 20_000
_GRID_LEVEL = 4
#: radial and angular points of a free atom, whose density is round
_ATOM_GRID = (75, 110)
#: below this density of the free atoms, in bohr^-3, a point belongs to nobody and holds no charge worth counting
_NOTHING = 1e-30


class Hirshfeld(NamedTuple):
    """Charges in elementary charges, and how many electrons the grid holds in all."""

    charges: Any
    electrons: float


def mulliken(mol: Any, density_matrix: Any) -> Any:
    """Give Mulliken's charges, ``(atoms,)`` in elementary charges."""
    overlap = mol.intor_symmetric("int1e_ovlp")
    return mol.atom_charges() - _by_atom(mol, np.einsum("ij,ji->i", density_matrix, overlap))


def loewdin(mol: Any, density_matrix: Any) -> Any:
    """Give Löwdin's charges, ``(atoms,)`` in elementary charges: functions are orthogonalised symmetrically."""
    values, vectors = np.linalg.eigh(mol.intor_symmetric("int1e_ovlp"))
    root = (vectors * np.sqrt(values)) @ vectors.T
    return mol.atom_charges() - _by_atom(mol, np.einsum("ij,jk,ki->i", root, density_matrix, root, optimize=True))


def _by_atom(mol: Any, populations: Any) -> Any:
    return np.array([populations[first:last].sum() for _, _, first, last in mol.aoslice_by_atom()])


def composition(mol: Any, orbital: Any) -> tuple[Any, dict[str, float]]:
    """Give the Mulliken shares of atoms, ``(atoms,)``, and of shells by angular momentum, in one orbital."""
    gross = orbital * (mol.intor_symmetric("int1e_ovlp") @ orbital)
    shells: dict[str, float] = {}
    places = mol.ao_loc_nr()
    for shell in range(mol.nbas):
        letter = "spdfghi"[mol.bas_angular(shell)]
        shells[letter] = shells.get(letter, 0.0) + float(gross[places[shell] : places[shell + 1]].sum())
    return _by_atom(mol, gross), shells


def hirshfeld(mol: Any, density_matrix: Any) -> Hirshfeld:
    """Share the density out at every point in the ratio of the densities of free atoms."""
    atoms = _free_atoms(mol)
    grids = dft.gen_grid.Grids(mol)
    grids.level = _GRID_LEVEL
    grids.build()
    populations = np.zeros(mol.natm)
    electrons = 0.0
    for first in range(0, len(grids.weights), _BLOCK):
        points, weights = grids.coords[first : first + _BLOCK], grids.weights[first : first + _BLOCK]
        functions = mol.eval_gto("GTOval", points)
        held = weights * np.einsum("pi,ij,pj->p", functions, density_matrix, functions, optimize=True)
        free = np.array([_free_density(*atoms[mol.atom_symbol(i)], mol.atom_coord(i), points) for i in range(mol.natm)])
        total = free.sum(axis=0)
        electrons += float(held.sum())
        populations += free @ np.where(total > _NOTHING, held / np.maximum(total, _NOTHING), 0.0)
    return Hirshfeld(mol.atom_charges() - populations, electrons)


def _free_atoms(mol: Any) -> dict[str, tuple[Any, Any]]:
    """Give one atom at the origin and its density matrix for every kind of atom."""
    atoms = {}
    for index in range(mol.natm):
        symbol = mol.atom_symbol(index)
        if symbol in atoms:
            continue
        atom = gto.Mole()
        atom.atom = [(symbol, (0.0, 0.0, 0.0))]
        atom.basis = {symbol: mol._basis[symbol]}
        atom.ecp = {symbol: mol._ecp[symbol]} if symbol in mol._ecp else {}
        # Free atoms are solved in spherical functions, which hold the same s, p and pure d densities.
        atom.spin, atom.verbose = None, 0
        atom.build(dump_input=False, parse_arg=False)
        free = atom_ks.AtomSphericAverageRKS(atom)
        free.xc, free.grids.atom_grid = "b3lypg", _ATOM_GRID
        free.atomic_configuration = elements.NRSRHFS_CONFIGURATION
        if atom.has_ecp():  # the usual first guess knows only whole atoms
            free.init_guess = "1e"
        free.kernel()
        if not free.converged:
            raise JobFailed(_not_converged(symbol))
        atoms[symbol] = (atom, free.make_rdm1())
    return atoms


def _not_converged(symbol: str) -> Failure:
    return Failure(
        error_class="scf_not_converged",
        message=f"The free atom {symbol}, which Hirshfeld charges are taken against, did not converge.",
        remedy="Leave hirshfeld out, or take another basis set.",
        permanent=True,
    )


def _free_density(atom: Any, density_matrix: Any, centre: Any, points: Any) -> Any:
    functions = atom.eval_gto("GTOval", points - centre)
    return np.maximum(np.einsum("pi,ij,pj->p", functions, density_matrix, functions, optimize=True), 0.0)
