"""From a Hessian to the fields of a result: frequencies, thermochemistry, and whether the geometry is a minimum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.elements import Atom, write_xyz
from tasks.results import Failure
from worker.programs.common import QuantumJob, say
from worker.programs.masses import masses_of
from worker.programs.symmetry import symmetry_number
from worker.programs.thermochemistry import BOHR_ANGSTROM, thermochemistry
from worker.programs.vibrations import Vibrations, displaced, harmonic

Vector = NDArray[np.float64]

#: imaginary modes below this are noise of the numerical second derivatives (the xtb program takes the same limit)
NOISE_PER_CM = 20.0
#: geomeTRIC's and Gaussian's limit of the largest component of the gradient at a stationary point
STATIONARY_HARTREE_PER_BOHR = 4.5e-4
#: how far the atom that moves most is moved along an imaginary mode, in ångström, by turns up and down
_OFF_A_SADDLE_POINT = 0.15


def coordinates_bohr(atoms: list[Atom]) -> Vector:
    """Give the coordinates of atoms, shape (atoms, 3), in bohr."""
    return np.array([atom[1:] for atom in atoms]) / BOHR_ANGSTROM


def analyse(atoms: list[Atom], hessian: Vector) -> Vibrations:
    """Give the normal modes of a molecule; ``hessian`` in hartree per bohr², shape (3 atoms, 3 atoms)."""
    return harmonic(hessian, masses_of([atom.symbol for atom in atoms]), coordinates_bohr(atoms))


def findings(
    job: QuantumJob, atoms: list[Atom], vibrations: Vibrations, energy_hartree: float, gradient: Vector
) -> dict[str, Any]:
    """Give the fields of a result that frequencies add; what people should know goes into the output as well."""
    symbols = [atom.symbol for atom in atoms]
    frequencies = vibrations.frequencies_per_cm
    number = symmetry_number(symbols, np.array([atom[1:] for atom in atoms]))
    heat = thermochemistry(
        energy_hartree=energy_hartree,
        frequencies_per_cm=frequencies,
        masses_dalton=masses_of(symbols),
        coordinates_bohr=coordinates_bohr(atoms),
        multiplicity=job.multiplicity,
        symmetry_number=number,
        temperature_kelvin=job.temperature_kelvin,
        pressure_pascal=job.pressure_pascal,
    )
    steepest = float(abs(gradient).max())
    say("frequencies in 1/cm: " + " ".join(f"{value:.1f}" for value in frequencies))
    say(f"symmetry number {number}, at {job.temperature_kelvin} K and {job.pressure_pascal} Pa:")
    say(f"zero-point energy {heat.zero_point_energy_hartree:.8f} Eh, enthalpy {heat.enthalpy_hartree:.8f} Eh,")
    say(f"entropy {heat.entropy_hartree_per_kelvin:.6e} Eh/K, Gibbs energy {heat.gibbs_energy_hartree:.8f} Eh")
    if steepest > STATIONARY_HARTREE_PER_BOHR:
        say(f"NOT STATIONARY: the largest component of the gradient is {steepest:.1e} Eh/bohr.")
    return {
        "frequencies_per_cm": tuple(map(float, frequencies)),
        "imaginary_modes": int((frequencies < 0).sum()),
        "largest_gradient_hartree_per_bohr": steepest,
        "symmetry_number": number,
        "zero_point_energy_hartree": heat.zero_point_energy_hartree,
        "enthalpy_hartree": heat.enthalpy_hartree,
        "entropy_hartree_per_kelvin": heat.entropy_hartree_per_kelvin,
        "gibbs_energy_hartree": heat.gibbs_energy_hartree,
        "temperature_kelvin": job.temperature_kelvin,
        "pressure_pascal": job.pressure_pascal,
    }


def is_saddle_point(job: QuantumJob, vibrations: Vibrations) -> bool:
    """Tell whether a geometry that was to be a minimum is none."""
    return job.optimises and bool((vibrations.frequencies_per_cm < -NOISE_PER_CM).any())


def off_the_saddle_point(atoms: list[Atom], vibrations: Vibrations, times: int) -> str:
    """Give the geometry, as XYZ, moved along the lowest mode; ``times`` counts from 1, and turns the direction."""
    amplitude = _OFF_A_SADDLE_POINT * times * (1 if times % 2 else -1)
    moved = displaced(np.array([atom[1:] for atom in atoms]), vibrations.modes[0], amplitude)
    text = f"moved by {amplitude:+.2f} Å along the mode of {vibrations.frequencies_per_cm[0]:.1f} 1/cm"
    say(f"SADDLE POINT: {text}")
    rows = [Atom(atom.symbol, *map(float, place)) for atom, place in zip(atoms, moved, strict=True)]
    return write_xyz(rows, text)


def saddle_point(vibrations: Vibrations) -> Failure:
    """Give the failure of an optimisation that ended where the energy is no minimum."""
    modes = ", ".join(f"{value:.1f}" for value in vibrations.frequencies_per_cm if value < -NOISE_PER_CM)
    return Failure(
        error_class="imaginary_mode",
        message="The optimised geometry is no minimum: it has imaginary modes.",
        evidence=(f"imaginary modes at {modes} 1/cm",),
        remedy="Begin from another geometry; the task frequencies gives the modes of this one as they are.",
    )
