"""Second derivatives with PySCF: by coupled perturbed equations atom by atom in the gas phase, else by displacements.

PySCF solves for all atoms at once and keeps nothing. Here each atom is solved for by itself, and its columns of the
Hessian are kept. The formulas are those of ``pyscf.hessian.rhf`` and ``pyscf.hessian.uhf``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyscf import scf
from pyscf.hessian import rhf as restricted
from pyscf.hessian import uhf as unrestricted

from worker.programs.common import QuantumJob
from worker.programs.hessian import KeptPieces, by_differences
from worker.programs.pyscf_method import build_method

Vector = NDArray[np.float64]
Tell = Callable[[str, int, int], None]

#: of the displacements of an atom in each direction: ORCA's default for numerical frequencies
STEP_BOHR = 0.005
#: convergence of the coupled perturbed equations of one atom
_COUPLED_TOLERANCE = 1e-6


def way_of(job: QuantumJob) -> str:
    """Give how the Hessian of a job is computed; implicit solvents only by displacements."""
    return f"displacements {STEP_BOHR}" if job.solvent else "coupled perturbed"


def hessian_of(
    job: QuantumJob, mf: Any, kept: KeptPieces, tell: Tell, failed: Callable[[QuantumJob, Any], Exception]
) -> Vector:
    """Give the Hessian at the geometry of a converged method, in hartree per bohr², shape (3 atoms, 3 atoms).

    Parameters
    ----------
    kept
        The pieces that are there; each new one is kept.
    tell
        Told what was done, its number and the total, after each piece.
    failed
        Gives the exception for a field at a displaced geometry that does not converge.
    """
    if mf.mol.natm == 1:
        return np.zeros((3, 3))
    if not job.solvent:
        return by_atoms(mf, kept, tell)
    density = mf.make_rdm1()

    def gradient(coordinates: Vector) -> Vector:
        moved = build_method(job, mf.mol.set_geom_(coordinates, unit="Bohr", inplace=False), tight=True)
        moved.verbose = moved.mol.verbose = 0
        moved.chkfile = None
        moved.callback = mf.callback
        moved.kernel(density)
        if not moved.converged:
            raise failed(job, moved)
        return np.asarray(moved.nuc_grad_method().kernel())

    return by_differences(gradient, kept, STEP_BOHR, tell)


def by_atoms(mf: Any, kept: KeptPieces, tell: Tell) -> Vector:
    """Give the analytic Hessian of a converged method, atom by atom."""
    worker, atoms = mf.Hessian(), range(mf.mol.natm)
    worker.verbose = 3
    mf.conv_tol_cpscf = _COUPLED_TOLERANCE
    orbitals = mf.mo_energy, mf.mo_coeff, mf.mo_occ
    if "partial" not in kept:
        kept.keep("partial", worker.partial_hess_elec(*orbitals, atoms, mf.max_memory, None))
        tell("atom", 0, len(atoms))
    if missing := [atom for atom in atoms if f"columns-{atom}" not in kept]:
        both_spins = isinstance(mf, scf.uhf.UHF)
        perturbation = worker.make_h1(mf.mo_coeff, mf.mo_occ, None, atoms, None)
        induced = (unrestricted if both_spins else restricted).gen_vind(mf, mf.mo_coeff, mf.mo_occ)
        columns = _unrestricted_columns if both_spins else _restricted_columns
        for atom in missing:
            response = worker.solve_mo1(*orbitals, perturbation, induced, [atom], mf.max_memory, None)
            kept.keep(f"columns-{atom}", columns(mf, perturbation, response, atom))
            tell("atom", atom + 1, len(atoms))
    blocks = kept["partial"] + worker.hess_nuc(mf.mol)
    for atom in atoms:
        blocks[:, atom] += kept[f"columns-{atom}"]
    if mf.do_disp():
        blocks = blocks + worker.get_dispersion()
    hessian = blocks.transpose(0, 2, 1, 3).reshape(3 * len(atoms), 3 * len(atoms))
    return np.asarray((hessian + hessian.T) / 2)


def _restricted_columns(mf: Any, perturbation: Any, response: Any, atom: int) -> Vector:
    first, energies = response
    return 2 * _columns(mf.mol, (mf.mo_energy, mf.mo_coeff, mf.mo_occ), perturbation, first[atom], energies[atom])


def _unrestricted_columns(mf: Any, perturbation: Any, response: Any, atom: int) -> Vector:
    first, energies = response
    columns = [
        _columns(
            mf.mol,
            (mf.mo_energy[spin], mf.mo_coeff[spin], mf.mo_occ[spin]),
            perturbation[spin],
            first[spin][atom],
            energies[spin][atom],
        )
        for spin in (0, 1)
    ]
    return np.asarray(sum(columns))


def _columns(mol: Any, orbitals: tuple[Vector, Vector, Vector], h1: Any, first: Vector, e1: Vector) -> Vector:
    """Give the response of one spin to the moves of one atom, shape (atoms, 3 of theirs, 3 of its own)."""
    energies, coefficients, occupations = orbitals
    occupied, energy = coefficients[:, occupations > 0], energies[occupations > 0]
    overlap = -mol.intor("int1e_ipovlp", comp=3)
    density = np.einsum("ypi,qi->ypq", first, occupied)
    weighted = np.einsum("ypi,qi,i->ypq", first, occupied, energy)
    columns = np.zeros((mol.natm, 3, 3))
    for other, (_, _, begin, end) in enumerate(mol.aoslice_by_atom()):
        s1 = np.zeros_like(overlap)
        s1[:, begin:end] += overlap[:, begin:end]
        s1[:, :, begin:end] += overlap[:, begin:end].transpose(0, 2, 1)
        s1_occupied = np.einsum("xpq,pi,qj->xij", s1, occupied, occupied)
        columns[other] += 2 * np.einsum("xpq,ypq->xy", h1[other], density)
        columns[other] -= 2 * np.einsum("xpq,ypq->xy", s1, weighted)
        columns[other] -= np.einsum("xij,yij->xy", s1_occupied, e1)
    return columns
