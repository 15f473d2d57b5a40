"""PySCF's molecule and method for a job, and what can be read from a converged one.

Density fitting with PySCF's default auxiliary basis, integration grid level 3. All basis sets are taken with spherical
d functions, as ORCA takes them (Gaussian's 6-31G* has Cartesian ones). Solvents: C-PCM with the permittivities of
``tasks.methods``, or SMD (Marenich, Cramer, Truhlar, J. Phys. Chem. B 113 (2009) 6378). Dispersion: D3 with Becke and
Johnson's damping without the three-body term (Grimme, Ehrlich, Goerigk, J. Comput. Chem. 32 (2011) 1456), and D4
(Caldeweyher et al., J. Chem. Phys. 150 (2019) 154122).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyscf import dft, gto, scf
from pyscf.data.elements import ELEMENTS, MASSES
from pyscf.lib import param
from pyscf.lib.exceptions import BasisNotFoundError

from tasks.dispersion import DISPERSION_NAMES
from tasks.elements import ATOMIC_NUMBER, Atom
from tasks.methods import SOLVENTS
from tasks.results import Failure
from worker.programs.common import EV_PER_HARTREE, JobFailed, QuantumJob

#: PySCF's words for our methods, where a setting of the user's could change the meaning of the plain one
FUNCTIONALS = {"B3LYP": "b3lypg", "B3LYP5": "b3lyp5"}
#: SMD's words for our solvents, where they differ
_SMD_SOLVENTS = {
    "dmso": "dimethylsulfoxide",
    "dmf": "N,N-dimethylformamide",
    "thf": "tetrahydrofuran",
    "hexane": "n-hexane",
}
#: def2 basis sets bring effective core potentials from rubidium on (Weigend and Ahlrichs, PCCP 7 (2005) 3297)
_LAST_WITHOUT_CORE_POTENTIAL = ATOMIC_NUMBER["Kr"]
#: tighter than PySCF's 1e-9 Eh, for second derivatives
TIGHT_HARTREE = 1e-10


def level_of(job: QuantumJob) -> str:
    """Give the level of theory as a paper would write it."""
    spin = "U" if job.multiplicity > 1 else ""
    dispersion = {"D3BJ": "-D3(BJ)", "D4": "-D4"}.get(job.dispersion or "", "")
    model = "SMD" if job.solvent_model == "SMD" else "C-PCM"
    notes = [
        *(["density fitting"] if job.density_fitting else []),
        *([f"{model} {job.solvent}"] if job.solvent else []),
    ]
    return f"{spin}{job.method}{dispersion}/{job.basis}" + (f" ({', '.join(notes)})" if notes else "")


def build_molecule(job: QuantumJob, atoms: list[Atom]) -> Any:
    """Build PySCF's molecule; coordinates in ångström.

    Raises
    ------
    JobFailed
        With class ``bad_input`` if the basis set does not have all elements.
    """
    heavy = {atom.symbol for atom in atoms if ATOMIC_NUMBER[atom.symbol] > _LAST_WITHOUT_CORE_POTENTIAL}
    has_core_potential = (job.basis or "").startswith("def2-")
    mol = gto.Mole()
    mol.atom = [(atom.symbol, atom[1:]) for atom in atoms]
    mol.charge, mol.spin = job.charge, job.multiplicity - 1
    mol.basis = job.basis
    mol.ecp = dict.fromkeys(heavy, job.basis) if has_core_potential else {}
    # The rest of the memory is for the interpreter and what PySCF does not count.
    mol.max_memory = max(200.0, job.memory_share * job.memory_mb)
    mol.verbose = 4
    try:
        # PySCF's own account of the input would begin with the source of this program.
        return mol.build(dump_input=False, parse_arg=False)
    except BasisNotFoundError as error:
        failure = Failure(
            error_class="bad_input",
            message=f"The basis set {job.basis} does not have all elements of the molecule.",
            evidence=(str(error),),
            remedy="Take def2-SVP, which goes from hydrogen to radon.",
            permanent=True,
        )
        raise JobFailed(failure) from error


def build_method(job: QuantumJob, mol: Any, *, tight: bool = False) -> Any:
    """Build the self-consistent field method: restricted for singlets, unrestricted for all else.

    ``tight`` converges it far enough for second derivatives.
    """
    closed = job.multiplicity == 1
    if job.method == "HF":
        mf = scf.RHF(mol) if closed else scf.UHF(mol)
    else:
        kind = dft.RKS if closed else dft.UKS
        mf = kind(mol, xc=FUNCTIONALS.get(job.method, job.method))
    if job.dispersion:
        mf.disp = f"{job.dispersion.lower()}:{DISPERSION_NAMES[job.dispersion][job.method]}"
    if job.density_fitting:
        mf = mf.density_fit()
    if job.solvent and job.solvent_model == "SMD":
        mf = mf.SMD()
        mf.with_solvent.solvent = _SMD_SOLVENTS.get(job.solvent, job.solvent)
    elif job.solvent:
        mf = mf.PCM()
        mf.with_solvent.method = "C-PCM"
        mf.with_solvent.eps = SOLVENTS[job.solvent]
    mf.max_cycle = job.max_scf_cycles
    mf.level_shift = job.level_shift_hartree
    if job.damping:
        mf.damp = job.damping
    if tight:
        mf.conv_tol, mf.conv_tol_grad = TIGHT_HARTREE, 3e-6
    return mf


def atoms_of(mol: Any) -> list[Atom]:
    """Give the atoms of PySCF's molecule, in ångström."""
    rows = mol.atom_coords() * param.BOHR
    return [Atom(mol.atom_pure_symbol(i), *map(float, row)) for i, row in enumerate(rows)]


def frontier_ev(mf: Any) -> tuple[float | None, float | None]:
    """Give HOMO and LUMO in eV; of both spins the highest occupied and the lowest empty orbital."""
    energies, occupations = np.ravel(mf.mo_energy), np.ravel(mf.mo_occ)
    occupied, empty = energies[occupations > 0], energies[occupations == 0]
    return (
        float(occupied.max()) * EV_PER_HARTREE if occupied.size else None,
        float(empty.min()) * EV_PER_HARTREE if empty.size else None,
    )


def dipole_debye(mf: Any) -> float:
    """Give the norm of the dipole moment about the centre of mass, in debye."""
    mol = mf.mol
    masses = np.array([MASSES[ELEMENTS.index(mol.atom_pure_symbol(i))] for i in range(mol.natm)])
    centre = masses @ mol.atom_coords() / masses.sum()
    return float(np.linalg.norm(mf.dip_moment(unit="Debye", origin=centre, verbose=0)))


def total_density(mf: Any) -> NDArray[np.float64]:
    """Give the density matrix of both spins together, shape (functions, functions)."""
    density = np.asarray(mf.make_rdm1())
    return density.sum(axis=0) if density.ndim == 3 else density


def loewdin_charges(mf: Any) -> tuple[float, ...]:
    """Give the charges by Löwdin's symmetric orthogonalisation (J. Chem. Phys. 18 (1950) 365)."""
    mol = mf.mol
    values, vectors = np.linalg.eigh(mf.get_ovlp())
    root = (vectors * np.sqrt(values)) @ vectors.T
    populations = np.einsum("pq,qr,rp->p", root, total_density(mf), root)
    charges = mol.atom_charges().astype(float)
    for atom, (_, _, first, last) in enumerate(mol.aoslice_by_atom()):
        charges[atom] -= populations[first:last].sum()
    return tuple(map(float, charges))
