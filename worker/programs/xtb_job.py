"""One calculation with GFN2-xTB or GFN1-xTB by tblite: a single point or an optimisation.

Run as ``python -m worker.programs.xtb_job job.json`` with the job's folder as working directory. Electronic temperature
300 K; solvents by ALPB (Ehlert et al., J. Chem. Theory Comput. 17 (2021) 4250). Geometries by ASE's BFGS until the
largest force on an atom (its Euclidean norm, ASE's ``fmax``) is below 0.01 eV/Å (1.9e-4 Eh/bohr, tighter than the
maximum of 4.5e-4 Eh/bohr that geomeTRIC and Gaussian ask for).
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
from ase import Atoms
from ase.calculators.calculator import CalculationFailed
from ase.calculators.calculator import InputError as AseInputError
from ase.optimize import BFGS
from ase.units import Bohr, Hartree
from tblite.ase import TBLite
from tblite.exceptions import TBLiteRuntimeError
from tblite.interface import Calculator

from tasks.elements import Atom
from tasks.results import Failure, Progress, QuantumResult
from worker.programs.common import (
    DEBYE_PER_E_BOHR,
    EV_PER_HARTREE,
    Desk,
    JobFailed,
    QuantumJob,
    RestartPoint,
    run_program,
    say,
)

#: largest force on an atom in eV/Å at which a geometry counts as converged
MAX_FORCE = 0.01
#: tblite's words for our solvents, where they differ
_SOLVENTS = {"dichloromethane": "ch2cl2"}


def level_of(job: QuantumJob) -> str:
    """Give the level of theory as a paper would write it."""
    return f"{job.method} (ALPB {job.solvent})" if job.solvent else job.method


def ase_atoms(atoms: list[Atom]) -> Any:
    """Give ASE's molecule."""
    return Atoms([atom.symbol for atom in atoms], positions=[atom[1:] for atom in atoms])


def atoms_of(molecule: Any) -> list[Atom]:
    """Give the atoms of ASE's molecule, in ångström."""
    rows = zip(molecule.get_chemical_symbols(), molecule.get_positions(), strict=True)
    return [Atom(symbol, *map(float, row)) for symbol, row in rows]


def single_point(job: QuantumJob, molecule: Any) -> Any:
    """Give tblite's result, in atomic units, at one geometry."""
    positions = molecule.get_positions() / Bohr
    calculator = Calculator(job.method, molecule.numbers, positions, job.charge, job.multiplicity - 1)
    calculator.set("max-iter", job.max_scf_cycles)
    if job.solvent:
        calculator.add("alpb-solvation", _SOLVENTS.get(job.solvent, job.solvent))
    return calculator.singlepoint()


def optimise(job: QuantumJob, molecule: Any, desk: Desk, done_before: int) -> int:
    """Relax ``molecule`` in place, and give the number of geometries that were computed.

    Raises
    ------
    JobFailed
        If the geometry is not converged after the steps that the job allows.
    """
    molecule.calc = TBLite(
        method=job.method,
        charge=job.charge,
        multiplicity=job.multiplicity,
        max_iterations=job.max_scf_cycles,
        solvation=("alpb", _SOLVENTS.get(job.solvent, job.solvent)) if job.solvent else None,
        verbosity=0,
    )
    steps, converged = 0, False
    # ASE's count leaves out the first geometry.
    for reached in BFGS(molecule, logfile="-").irun(fmax=MAX_FORCE, steps=job.max_optimisation_steps - 1):
        steps, converged = steps + 1, bool(reached)
        energy = float(molecule.get_potential_energy()) / Hartree
        force = float(np.linalg.norm(molecule.get_forces(), axis=1).max())
        where = f"optimisation step {steps}"
        text = f"{where}, {energy:.5f} Eh, largest force {force:.3f} eV/Å"
        xyz = desk.geometry(atoms_of(molecule), text)
        desk.restart_point(RestartPoint(text=f"after {where}", optimisation_steps=done_before + steps, xyz=xyz))
        desk.progress(Progress(text=text, stage="optimisation", step=steps, energy_hartree=energy))
    if not converged:
        failure = Failure(
            error_class="optimisation_not_converged",
            message=f"The geometry did not converge in {job.max_optimisation_steps} steps.",
            evidence=(text,),
            remedy="Go on from the last geometry, or give a better one to begin with.",
        )
        raise JobFailed(failure)
    return steps


def frontier_ev(result: Any, multiplicity: int) -> tuple[float | None, float | None]:
    """Give HOMO and LUMO in eV: the highest orbital that an alpha electron occupies, and the next one.

    The Hamiltonian knows no spin polarisation, so both spins share the orbitals; this is what xtb prints.
    """
    energies = np.ravel(result.get("orbital-energies"))
    electrons = round(float(np.sum(result.get("orbital-occupations"))))
    alpha = (electrons + multiplicity - 1) // 2
    homo = float(energies[alpha - 1]) * EV_PER_HARTREE if alpha > 0 else None
    lumo = float(energies[alpha]) * EV_PER_HARTREE if alpha < energies.size else None
    return homo, lumo


def dipole_debye(result: Any, molecule: Any, charge: int) -> float:
    """Give the norm of the dipole moment about the centre of mass, in debye; tblite's is about the origin."""
    centre = molecule.get_center_of_mass() / Bohr
    return float(np.linalg.norm(result.get("dipole") - charge * centre)) * DEBYE_PER_E_BOHR


def library_failure(error: Exception) -> Failure:
    """Say what an error of tblite means."""
    text = str(error)
    if "not converged" in text.lower():
        return Failure(
            error_class="scf_not_converged",
            message="The self-consistent charges did not converge.",
            evidence=(text,),
            remedy="Check charge, multiplicity and geometry.",
        )
    return Failure(
        error_class="bad_input",
        message="tblite does not take this input.",
        evidence=(text,),
        remedy="Check elements (H to Rn), charge, multiplicity and solvent.",
        permanent=True,
    )


def calculate(job: QuantumJob, desk: Desk) -> QuantumResult:
    """Do one job, and give what came out."""
    optimises = job.task == "optimisation"
    earlier = desk.earlier(job.atoms) if optimises else None
    if earlier:
        job = job.model_copy(update={"xyz": earlier.xyz})
    molecule = ase_atoms(job.atoms)
    say(f"{level_of(job)}, charge {job.charge:+d}, multiplicity {job.multiplicity}, {len(molecule)} atoms")
    steps = None
    try:
        if optimises:
            steps = optimise(job, molecule, desk, earlier.optimisation_steps if earlier else 0)
        solved = single_point(job, molecule)
    except (TBLiteRuntimeError, CalculationFailed, AseInputError) as error:
        raise JobFailed(library_failure(error)) from error
    homo, lumo = frontier_ev(solved, job.multiplicity)
    energy = float(solved.get("energy"))
    desk.progress(Progress(text=f"done, {energy:.5f} Eh", stage="done", step=steps, energy_hartree=energy))
    return QuantumResult(
        energy_hartree=energy,
        homo_ev=homo,
        lumo_ev=lumo,
        gap_ev=lumo - homo if homo is not None and lumo is not None else None,
        dipole_debye=dipole_debye(solved, molecule, job.charge),
        mulliken_charges=tuple(float(charge) for charge in solved.get("charges")),
        optimisation_steps=steps,
        xyz=desk.geometry(atoms_of(molecule), f"{level_of(job)}, {energy:.8f} Eh"),
        engine="xtb",
        engine_version=f"tblite {version('tblite')}",
        level=level_of(job),
    )


def main() -> None:
    """Run the job that the command line names."""
    run_program("xtb", calculate)


if __name__ == "__main__":
    main()
