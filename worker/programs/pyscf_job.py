"""One calculation with PySCF: Hartree-Fock or density functional theory; energies, geometries, frequencies.

Run as ``python -m worker.programs.pyscf_job job.json`` with the job's folder as working directory. The method is built
in ``pyscf_method``. Geometries by geomeTRIC with its default criteria (energy 1e-6 Eh, gradient rms 3e-4 and maximum
4.5e-4 Eh/bohr, displacement rms 1.2e-3 and maximum 1.8e-3 Å); the second derivatives are those of ``pyscf_hessian``.
"""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyscf
from pyscf.geomopt import geometric_solver
from pyscf.lib import chkfile

from tasks.elements import parse_xyz, write_xyz
from tasks.results import Failure, Progress, QuantumResult
from worker.programs import frequencies
from worker.programs.common import HESSIAN_FILE, Desk, JobFailed, QuantumJob, RestartPoint, run_program, say
from worker.programs.hessian import KeptPieces
from worker.programs.pyscf_hessian import hessian_of, way_of
from worker.programs.pyscf_method import (
    TIGHT_HARTREE,
    atoms_of,
    build_method,
    build_molecule,
    dipole_debye,
    frontier_ev,
    level_of,
    loewdin_charges,
)

ORBITALS_FILE = "orbitals.chk"
RESTART_ORBITALS_FILE = "restart.chk"


class Course:
    """What has been done in this attempt, and where progress and restart points are written from."""

    def __init__(self, job: QuantumJob, desk: Desk, earlier: RestartPoint | None) -> None:
        self.job, self.desk = job, desk
        self.before = earlier or RestartPoint(text="", xyz=job.xyz)
        self.scf_cycles = 0
        self.steps = 0
        #: the geometry is relaxed, now or by an earlier attempt
        self.relaxed = self.before.relaxed or not job.optimises
        self.displacements = self.before.displacements

    def after_cycle(self, envs: dict[str, Any]) -> None:
        """Take note of one cycle; PySCF calls this when its own checkpoint file is complete."""
        self.scf_cycles += 1
        # The second-order solver calls its cycles otherwise.
        cycle, energy = envs.get("cycle", envs.get("imacro", 0)) + 1, float(envs["e_tot"])
        step = self.steps + 1
        where = f"SCF cycle {cycle}" if self.relaxed else f"optimisation step {step}, SCF cycle {cycle}"
        self._keep(envs["mol"], where)
        self.desk.progress(
            Progress(
                text=f"{where}, {energy:.5f} Eh",
                stage="scf" if self.relaxed else "optimisation",
                step=cycle if self.relaxed else step,
                energy_hartree=energy if math.isfinite(energy) else None,
            )
        )

    def count_cycle(self, envs: dict[str, Any]) -> None:
        """Count one cycle at a displaced geometry, whose orbitals are nothing to go on from."""
        self.scf_cycles += 1

    def after_gradient(self, envs: dict[str, Any]) -> None:
        """Take note of one step of an optimisation; the geometry solver calls this."""
        self.steps += 1
        if not envs["g_scanner"].converged:
            raise JobFailed(scf_not_converged(self.job, envs["g_scanner"].base))
        energy, steepest = float(envs["energy"]), float(np.abs(envs["gradients"]).max())
        text = f"optimisation step {self.steps}, {energy:.5f} Eh, largest gradient {steepest:.1e} Eh/bohr"
        self.desk.geometry(atoms_of(envs["mol"]), text)
        self.desk.progress(Progress(text=text, stage="optimisation", step=self.steps, energy_hartree=energy))

    def after_piece(self, what: str, number: int, total: int) -> None:
        """Take note of a piece of the Hessian, which is kept already."""
        where = f"{what} {number} of {total}"
        say(f"Hessian: {where}")
        self.desk.progress(Progress(text=f"frequencies, {where}", stage="frequencies", step=number, total=total))

    def point(self, xyz: str, text: str) -> None:
        """Make a geometry the one that a later attempt goes on from."""
        self.desk.restart_point(
            RestartPoint(
                text=text,
                scf_cycles=self.before.scf_cycles + self.scf_cycles,
                optimisation_steps=self.before.optimisation_steps + self.steps,
                relaxed=self.relaxed,
                displacements=self.displacements,
                xyz=xyz,
            )
        )

    def _keep(self, mol: Any, where: str) -> None:
        # Orbitals first: with the next geometry's orbitals and this geometry a restart is still right, since PySCF
        # projects a guess from one geometry to another.
        folder = self.desk.folder
        temporary = folder / f".{RESTART_ORBITALS_FILE}.new"
        shutil.copyfile(folder / ORBITALS_FILE, temporary)
        temporary.replace(folder / RESTART_ORBITALS_FILE)
        self.point(write_xyz(atoms_of(mol), where), f"after {where}")


def scf_not_converged(job: QuantumJob, mf: Any) -> Failure:
    """Give the failure of a self-consistent field that did not converge."""
    return Failure(
        error_class="scf_not_converged",
        message=f"The self-consistent field did not converge in {job.max_scf_cycles} cycles.",
        evidence=(f"last energy {float(mf.e_tot):.8f} Eh after {mf.cycles} cycles",),
        remedy="Check charge, multiplicity and geometry; a tight-binding optimisation beforehand often helps.",
    )


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
    if not solved.converged:
        raise JobFailed(scf_not_converged(job, solved))
    return solved


def holds_orbitals(path: Path) -> bool:
    """Tell whether a checkpoint file of PySCF can be read."""
    try:
        return chkfile.load(str(path), "scf/mo_coeff") is not None and chkfile.load_mol(str(path)).natm > 0
    except (OSError, KeyError, ValueError) as error:
        say(f"{path.name} cannot be read, so the orbitals begin from the beginning: {error}")
        return False


def solve(job: QuantumJob, mf: Any, density: Any = None) -> None:
    """Converge a method at its geometry.

    Raises
    ------
    JobFailed
        If it does not converge.
    """
    mf.kernel(density)
    if not mf.converged:
        raise JobFailed(scf_not_converged(job, mf))


def calculate(job: QuantumJob, desk: Desk) -> QuantumResult:
    """Do one job, and give what came out."""
    earlier = desk.earlier(job.atoms)
    if earlier and job.optimises:
        job = job.model_copy(update={"xyz": earlier.xyz})
    course = Course(job, desk, earlier)
    mol = build_molecule(job, job.atoms)
    say(f"{level_of(job)}, charge {job.charge:+d}, multiplicity {job.multiplicity}, {mol.nao} basis functions")
    say(write_xyz(job.atoms, f"{job.task} with PySCF {pyscf.__version__}, coordinates in ångström"))
    mf = watched(job, mol, course, guess=earlier is not None and holds_orbitals(desk.folder / RESTART_ORBITALS_FILE))
    while True:
        if course.relaxed:
            solve(job, mf)
        else:
            mf = optimise(job, mf, course)
            course.relaxed = True
        if not job.vibrates:
            return _result(job, mf, course)
        found, saddle_point = vibrate(job, mf, course)
        if saddle_point is None:
            return found
        course.relaxed = False
        mol = build_molecule(job, parse_xyz(saddle_point))
        course.point(saddle_point, "off a saddle point")
        mf = watched(job, mol, course, guess=holds_orbitals(desk.folder / RESTART_ORBITALS_FILE))


def watched(job: QuantumJob, mol: Any, course: Course, *, guess: bool, tight: bool = False) -> Any:
    """Build a method whose cycles are kept as restart points; ``guess``: it begins with the orbitals that are kept."""
    mf = build_method(job, mol, tight=tight or (job.vibrates and course.relaxed))
    mf.chkfile = str(course.desk.folder / ORBITALS_FILE)
    if guess:
        shutil.copyfile(course.desk.folder / RESTART_ORBITALS_FILE, mf.chkfile)
        mf.init_guess = "chkfile"
    mf.callback = course.after_cycle
    return mf.newton() if job.second_order else mf


def vibrate(job: QuantumJob, mf: Any, course: Course) -> tuple[QuantumResult, str | None]:
    """Compute the frequencies; give the result, or also the geometry to go on from where this one is no minimum.

    Raises
    ------
    JobFailed
        If the geometry is a saddle point, and was moved off as often as the job allows.
    """
    desk, atoms = course.desk, atoms_of(mf.mol)
    course.point(write_xyz(atoms, "relaxed" if job.optimises else "as given"), "at the geometry of the frequencies")
    if mf.conv_tol > TIGHT_HARTREE:
        density = mf.make_rdm1()
        mf = watched(job, mf.mol, course, guess=False, tight=True)
        solve(job, mf, density)
    gradient = np.asarray(mf.nuc_grad_method().kernel())
    result = _result(job, mf, course)
    mf.callback = course.count_cycle
    kept = KeptPieces(desk.folder / HESSIAN_FILE, way_of(job), mf.mol.atom_coords())
    hessian = hessian_of(job, mf, kept, course.after_piece, lambda *of: JobFailed(scf_not_converged(*of)))
    kept.keep("hessian", hessian)
    vibrations = frequencies.analyse(atoms, hessian)
    fields = frequencies.findings(job, atoms, vibrations, result.energy_hartree, gradient)
    if not frequencies.is_saddle_point(job, vibrations):
        return result.model_copy(update={**fields, "scf_cycles": course.scf_cycles}), None
    if course.displacements >= job.displacements:
        raise JobFailed(frequencies.saddle_point(vibrations))
    course.displacements += 1
    return result, frequencies.off_the_saddle_point(atoms, vibrations, course.displacements)


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
        loewdin_charges=loewdin_charges(mf),
        scf_cycles=course.scf_cycles,
        optimisation_steps=course.steps if job.task.startswith("optimisation") else None,
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
