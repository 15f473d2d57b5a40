"""One calculation with PySCF: Hartree-Fock or density functional theory, a single point or an optimisation.

Run as ``python -m worker.programs.pyscf_job job.json`` with the job's folder as working directory. Density fitting with
PySCF's default auxiliary basis, integration grid level 3, geometries by geomeTRIC with its default criteria
(energy 1e-6 Eh, gradient rms 3e-4 and maximum 4.5e-4 Eh/bohr, displacement rms 1.2e-3 and maximum 1.8e-3 Å). All basis
sets are taken with spherical d functions, as ORCA takes them (Gaussian's 6-31G* has Cartesian ones).
"""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyscf
from pyscf import dft, gto, scf
from pyscf.data.elements import ELEMENTS, MASSES
from pyscf.geomopt import geometric_solver
from pyscf.lib import chkfile, param
from pyscf.lib.exceptions import BasisNotFoundError

from tasks.elements import ATOMIC_NUMBER, Atom, write_xyz
from tasks.methods import SOLVENTS
from tasks.results import Failure, Progress, QuantumResult
from worker.programs.common import (
    EV_PER_HARTREE,
    Desk,
    JobFailed,
    QuantumJob,
    RestartPoint,
    run_program,
    say,
)

ORBITALS_FILE = "orbitals.chk"
RESTART_ORBITALS_FILE = "restart.chk"

#: PySCF's words for our methods, where a setting of the user's could change the meaning of the plain one
FUNCTIONALS = {"B3LYP": "b3lypg", "B3LYP5": "b3lyp5"}
#: def2 basis sets bring effective core potentials from rubidium on (Weigend and Ahlrichs, PCCP 7 (2005) 3297)
_LAST_WITHOUT_CORE_POTENTIAL = ATOMIC_NUMBER["Kr"]
#: share of the memory that PySCF plans with; the rest is for the interpreter and what it does not count
_MEMORY_SHARE = 0.8


def level_of(job: QuantumJob) -> str:
    """Give the level of theory as a paper would write it."""
    spin = "U" if job.multiplicity > 1 else ""
    solvent = f", C-PCM {job.solvent}" if job.solvent else ""
    return f"{spin}{job.method}/{job.basis} (density fitting{solvent})"


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
    mol.max_memory = max(200.0, _MEMORY_SHARE * job.memory_mb)
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


def build_method(job: QuantumJob, mol: Any) -> Any:
    """Build the self-consistent field method: restricted for singlets, unrestricted for all else."""
    closed = job.multiplicity == 1
    if job.method == "HF":
        mf = scf.RHF(mol) if closed else scf.UHF(mol)
    else:
        kind = dft.RKS if closed else dft.UKS
        mf = kind(mol, xc=FUNCTIONALS.get(job.method, job.method))
    mf = mf.density_fit()
    if job.solvent:
        mf = mf.PCM()
        mf.with_solvent.method = "C-PCM"
        mf.with_solvent.eps = SOLVENTS[job.solvent]
    mf.max_cycle = job.max_scf_cycles
    return mf


def atoms_of(mol: Any) -> list[Atom]:
    """Give the atoms of PySCF's molecule, in ångström."""
    rows = mol.atom_coords() * param.BOHR
    return [Atom(mol.atom_pure_symbol(i), *map(float, row)) for i, row in enumerate(rows)]


class Course:
    """What has been done in this attempt, and where progress and restart points are written from."""

    def __init__(self, job: QuantumJob, desk: Desk, earlier: RestartPoint | None) -> None:
        self.job, self.desk = job, desk
        self.before = earlier or RestartPoint(text="", xyz=job.xyz)
        self.scf_cycles = 0
        self.steps = 0
        # A single atom has nothing to relax, and geomeTRIC no coordinates for it.
        self.optimises = job.task == "optimisation" and len(job.atoms) > 1

    def after_cycle(self, envs: dict[str, Any]) -> None:
        """Take note of one cycle; PySCF calls this when its own checkpoint file is complete."""
        self.scf_cycles += 1
        cycle, energy = envs["cycle"] + 1, float(envs["e_tot"])
        step = self.steps + 1
        where = f"optimisation step {step}, SCF cycle {cycle}" if self.optimises else f"SCF cycle {cycle}"
        self._keep(envs["mol"], where)
        self.desk.progress(
            Progress(
                text=f"{where}, {energy:.5f} Eh",
                stage="optimisation" if self.optimises else "scf",
                step=step if self.optimises else cycle,
                energy_hartree=energy if math.isfinite(energy) else None,
            )
        )

    def after_gradient(self, envs: dict[str, Any]) -> None:
        """Take note of one step of an optimisation; the geometry solver calls this."""
        self.steps += 1
        if not envs["g_scanner"].converged:
            raise JobFailed(scf_not_converged(self.job, envs["g_scanner"].base))
        energy, steepest = float(envs["energy"]), float(np.abs(envs["gradients"]).max())
        text = f"optimisation step {self.steps}, {energy:.5f} Eh, largest gradient {steepest:.1e} Eh/bohr"
        self.desk.geometry(atoms_of(envs["mol"]), text)
        self.desk.progress(Progress(text=text, stage="optimisation", step=self.steps, energy_hartree=energy))

    def _keep(self, mol: Any, where: str) -> None:
        # Orbitals first: with the next geometry's orbitals and this geometry a restart is still right, since PySCF
        # projects a guess from one geometry to another.
        folder = self.desk.folder
        temporary = folder / f".{RESTART_ORBITALS_FILE}.new"
        shutil.copyfile(folder / ORBITALS_FILE, temporary)
        temporary.replace(folder / RESTART_ORBITALS_FILE)
        self.desk.restart_point(
            RestartPoint(
                text=f"after {where}",
                scf_cycles=self.before.scf_cycles + self.scf_cycles,
                optimisation_steps=self.before.optimisation_steps + self.steps,
                xyz=write_xyz(atoms_of(mol), where),
            )
        )


def scf_not_converged(job: QuantumJob, mf: Any) -> Failure:
    """Give the failure of a self-consistent field that did not converge."""
    return Failure(
        error_class="scf_not_converged",
        message=f"The self-consistent field did not converge in {job.max_scf_cycles} cycles.",
        evidence=(f"last energy {float(mf.e_tot):.8f} Eh after {mf.cycles} cycles",),
        remedy="Check charge, multiplicity and geometry; a tight-binding optimisation beforehand often helps.",
    )


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


def optimise(job: QuantumJob, mf: Any, course: Course) -> Any:
    """Relax the geometry, and give the method converged there."""
    scanner = mf.nuc_grad_method().as_scanner()
    converged, final = geometric_solver.kernel(
        scanner, callback=course.after_gradient, maxsteps=job.max_optimisation_steps
    )
    if not converged:
        failure = Failure(
            error_class="optimisation_not_converged",
            message=f"The geometry did not converge in {job.max_optimisation_steps} steps.",
            evidence=(f"last energy {float(scanner.base.e_tot):.8f} Eh",),
            remedy="Go on from the last geometry, or optimise with GFN2-xTB beforehand.",
        )
        raise JobFailed(failure)
    solved = scanner.base
    if not np.allclose(solved.mol.atom_coords(), final.atom_coords(), atol=1e-7):
        solved(final)
    return solved


def holds_orbitals(path: Path) -> bool:
    """Tell whether a checkpoint file of PySCF can be read."""
    try:
        return chkfile.load(str(path), "scf/mo_coeff") is not None and chkfile.load_mol(str(path)).natm > 0
    except (OSError, KeyError, ValueError) as error:
        say(f"{path.name} cannot be read, so the orbitals begin from the beginning: {error}")
        return False


def calculate(job: QuantumJob, desk: Desk) -> QuantumResult:
    """Do one job, and give what came out."""
    atoms = job.atoms
    earlier = desk.earlier(atoms)
    if earlier and job.task == "optimisation":
        job = job.model_copy(update={"xyz": earlier.xyz})
        atoms = job.atoms
    course = Course(job, desk, earlier)
    mol = build_molecule(job, atoms)
    say(f"{level_of(job)}, charge {job.charge:+d}, multiplicity {job.multiplicity}, {mol.nao} basis functions")
    say(write_xyz(atoms, f"{job.task} with PySCF {pyscf.__version__}, coordinates in ångström"))
    mf = build_method(job, mol)
    mf.chkfile = str(desk.folder / ORBITALS_FILE)
    if earlier and holds_orbitals(desk.folder / RESTART_ORBITALS_FILE):
        shutil.copyfile(desk.folder / RESTART_ORBITALS_FILE, mf.chkfile)
        mf.init_guess = "chkfile"
    mf.callback = course.after_cycle
    if course.optimises:
        mf = optimise(job, mf, course)
    else:
        mf.kernel()
    if not mf.converged:
        raise JobFailed(scf_not_converged(job, mf))
    return _result(job, mf, course)


def _result(job: QuantumJob, mf: Any, course: Course) -> QuantumResult:
    homo, lumo = frontier_ev(mf)
    energy = float(mf.e_tot)
    _, charges = mf.mulliken_pop(verbose=0)
    level = level_of(job)
    if course.before.text:
        say(f"{course.scf_cycles} SCF cycles in this attempt, which went on {course.before.text} of an earlier one.")
    return QuantumResult(
        energy_hartree=energy,
        homo_ev=homo,
        lumo_ev=lumo,
        gap_ev=lumo - homo if homo is not None and lumo is not None else None,
        dipole_debye=dipole_debye(mf),
        mulliken_charges=tuple(float(charge) for charge in charges),
        scf_cycles=course.scf_cycles,
        optimisation_steps=course.steps if job.task == "optimisation" else None,
        xyz=course.desk.geometry(atoms_of(mf.mol), f"{level}, {energy:.8f} Eh"),
        engine="pyscf",
        engine_version=pyscf.__version__,
        level=level,
    )


def main() -> None:
    """Run the job that the command line names."""
    run_program("pyscf", calculate)


if __name__ == "__main__":
    main()
