"""One calculation with GFN2-xTB or GFN1-xTB by tblite: energies, geometries, frequencies.

Run as ``python -m worker.programs.xtb_job job.json`` with the job's folder as working directory. Electronic temperature
300 K; solvents by ALPB (Ehlert et al., J. Chem. Theory Comput. 17 (2021) 4250). Geometries by ASE's BFGS until the
largest force on an atom (its Euclidean norm, ASE's ``fmax``) is below 0.01 eV/Å (1.9e-4 Eh/bohr, tighter than the
maximum of 4.5e-4 Eh/bohr that geomeTRIC and Gaussian ask for). Second derivatives by central differences of gradients,
displacements of 0.005 bohr, as the xtb program takes them.
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

from tasks.elements import Atom, parse_xyz, write_xyz
from tasks.results import Failure, Progress, QuantumResult
from worker.programs import frequencies
from worker.programs.common import (
    DEBYE_PER_E_BOHR,
    EV_PER_HARTREE,
    HESSIAN_FILE,
    Desk,
    JobFailed,
    QuantumJob,
    RestartPoint,
    run_program,
    say,
)
from worker.programs.hessian import KeptPieces, by_differences

#: largest force on an atom in eV/Å at which a geometry counts as converged
MAX_FORCE = 0.01
STEP_BOHR = 0.005
#: of tblite, relative to its default of 1, for second derivatives
TIGHT = 0.01
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


def calculator_of(job: QuantumJob, molecule: Any, accuracy: float = 1.0) -> Any:
    """Give tblite's calculator at one geometry."""
    positions = molecule.get_positions() / Bohr
    calculator = Calculator(job.method, molecule.numbers, positions, job.charge, job.multiplicity - 1)
    calculator.set("max-iter", job.max_scf_cycles)
    calculator.set("accuracy", accuracy)
    if job.damping:
        calculator.set("mixer-damping", job.damping)
    if job.solvent:
        calculator.add("alpb-solvation", _SOLVENTS.get(job.solvent, job.solvent))
    return calculator


def optimise(job: QuantumJob, molecule: Any, desk: Desk, before: RestartPoint) -> int:
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
        mixer_damping=job.damping or 0.4,
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
        point = {"text": f"after {where}", "optimisation_steps": before.optimisation_steps + steps, "xyz": xyz}
        desk.restart_point(before.model_copy(update=point))
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


def loewdin_charges(calculator: Any, solved: Any) -> tuple[float, ...]:
    """Give the charges by Löwdin's symmetric orthogonalisation; ``calculator`` must have saved its integrals."""
    overlap, density = solved.get("overlap-matrix"), solved.get("density-matrix")
    if density.ndim == 3:
        density = density.sum(axis=0)
    values, vectors = np.linalg.eigh(overlap)
    root = (vectors * np.sqrt(values)) @ vectors.T
    # The charges of the cores follow from Mulliken's, which tblite gives.
    moved = np.einsum("pq,qp->p", density, overlap) - np.einsum("pq,qr,rp->p", root, density, root)
    charges = np.array(solved.get("charges"), dtype=float)
    atoms = calculator.get("shell-map")[calculator.get("orbital-map")]
    np.add.at(charges, atoms, moved)
    return tuple(map(float, charges))


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


def hessian_of(job: QuantumJob, molecule: Any, desk: Desk) -> Any:
    """Give the Hessian by differences of gradients; each gradient is kept as soon as it is there."""
    calculator = calculator_of(job, molecule, TIGHT)
    calculator.set("verbosity", 0)
    solved = calculator.singlepoint()

    def gradient(coordinates: Any) -> Any:
        calculator.update(positions=coordinates)
        return np.asarray(calculator.singlepoint(solved).get("gradient"))

    def tell(what: str, number: int, total: int) -> None:
        where = f"{what} {number} of {total}"
        say(f"Hessian: {where}")
        desk.progress(Progress(text=f"frequencies, {where}", stage="frequencies", step=number, total=total))

    coordinates = molecule.get_positions() / Bohr
    kept = KeptPieces(desk.folder / HESSIAN_FILE, f"displacements {STEP_BOHR}", coordinates)
    hessian = by_differences(gradient, kept, STEP_BOHR, tell)
    kept.keep("hessian", hessian)
    return hessian


def calculate(job: QuantumJob, desk: Desk) -> QuantumResult:
    """Do one job, and give what came out."""
    earlier = desk.earlier(job.atoms) if job.optimises or job.vibrates else None
    if earlier and job.optimises:
        job = job.model_copy(update={"xyz": earlier.xyz})
    say(f"{level_of(job)}, charge {job.charge:+d}, multiplicity {job.multiplicity}, {len(job.atoms)} atoms")
    try:
        return _calculate(job, desk, earlier or RestartPoint(text="", xyz=job.xyz))
    except (TBLiteRuntimeError, CalculationFailed, AseInputError) as error:
        raise JobFailed(library_failure(error)) from error


def _calculate(job: QuantumJob, desk: Desk, point: RestartPoint) -> QuantumResult:
    molecule, steps = ase_atoms(job.atoms), 0
    while True:
        if job.optimises and not point.relaxed:
            steps += optimise(job, molecule, desk, point)
        point = point.model_copy(update={"relaxed": True, "xyz": write_xyz(atoms_of(molecule), "relaxed")})
        result, gradient = solve(job, molecule, desk, steps)
        if not job.vibrates:
            return result
        desk.restart_point(point.model_copy(update={"text": "at the geometry of the frequencies"}))
        vibrations = frequencies.analyse(atoms_of(molecule), hessian_of(job, molecule, desk))
        atoms = atoms_of(molecule)
        found = frequencies.findings(job, atoms, vibrations, result.energy_hartree, gradient)
        if not frequencies.is_saddle_point(job, vibrations):
            return result.model_copy(update=found)
        if point.displacements >= job.displacements:
            raise JobFailed(frequencies.saddle_point(vibrations))
        point = point.model_copy(
            update={
                "text": "off a saddle point",
                "relaxed": False,
                "displacements": point.displacements + 1,
                "xyz": frequencies.off_the_saddle_point(atoms, vibrations, point.displacements + 1),
            }
        )
        desk.restart_point(point)
        molecule = ase_atoms(parse_xyz(point.xyz))


def solve(job: QuantumJob, molecule: Any, desk: Desk, steps: int) -> tuple[QuantumResult, Any]:
    """Give the result at one geometry, and the gradient in hartree per bohr, shape (atoms, 3)."""
    calculator = calculator_of(job, molecule)
    calculator.set("save-integrals", 1)
    solved = calculator.singlepoint()
    homo, lumo = frontier_ev(solved, job.multiplicity)
    energy = float(solved.get("energy"))
    done = steps if job.task.startswith("optimisation") else None
    desk.progress(Progress(text=f"energy {energy:.5f} Eh", stage="done", step=done, energy_hartree=energy))
    result = QuantumResult(
        energy_hartree=energy,
        homo_ev=homo,
        lumo_ev=lumo,
        gap_ev=lumo - homo if homo is not None and lumo is not None else None,
        dipole_debye=dipole_debye(solved, molecule, job.charge),
        mulliken_charges=tuple(float(charge) for charge in solved.get("charges")),
        loewdin_charges=loewdin_charges(calculator, solved),
        optimisation_steps=done,
        xyz=desk.geometry(atoms_of(molecule), f"{level_of(job)}, {energy:.8f} Eh"),
        engine="xtb",
        engine_version=f"tblite {version('tblite')}",
        level=level_of(job),
    )
    return result, np.asarray(solved.get("gradient"))


def main() -> None:
    """Run the job that the command line names."""
    run_program("xtb", calculate)


if __name__ == "__main__":
    main()
