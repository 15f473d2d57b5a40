"""Thermochemistry of one molecule as an ideal gas: rigid rotor and harmonic oscillator, the same for every program.

Formulas: McQuarrie, Statistical Mechanics (1976), chapters 5, 6 and 8, which the ORCA manual ("Thermochemistry") gives
too. No mode is treated as a free rotor; imaginary modes are left out of all sums. Atomic units throughout; constants
are CODATA 2018.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BOLTZMANN_HARTREE_PER_KELVIN = 3.1668115634556e-6
ELECTRON_MASSES_PER_DALTON = 1822.888486209
HARTREE_PER_WAVENUMBER = 1 / 219474.6313632
BOHR_ANGSTROM = 0.529177210903
PASCAL_PER_ATOMIC_PRESSURE = 2.9421015697e13
#: a molecule whose smallest moment of inertia is below this share of its largest counts as linear
_LINEAR = 1e-4

Vector = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Thermochemistry:
    """What the partition functions give; energies in hartree with the electronic energy, entropies per molecule.

    Attributes
    ----------
    thermal_energy_hartree
        Internal energy: electronic, zero-point and thermal.
    translation, rotation, vibration, electronic
        The parts of the entropy, in hartree per kelvin.
    """

    zero_point_energy_hartree: float
    thermal_energy_hartree: float
    enthalpy_hartree: float
    entropy_hartree_per_kelvin: float
    gibbs_energy_hartree: float
    translation: float
    rotation: float
    vibration: float
    electronic: float


def moments_of_inertia(masses_dalton: Vector, coordinates_bohr: Vector) -> Vector:
    """Give the three principal moments of inertia about the centre of mass, ascending, in dalton bohr²."""
    centred = coordinates_bohr - masses_dalton @ coordinates_bohr / masses_dalton.sum()
    tensor = np.einsum("a,ax,ay->xy", masses_dalton, centred, centred)
    return np.asarray(np.linalg.eigvalsh(np.trace(tensor) * np.eye(3) - tensor))


def is_linear(masses_dalton: Vector, coordinates_bohr: Vector) -> bool:
    """Tell whether all atoms of a molecule lie on one line; a single atom does not count."""
    moments = moments_of_inertia(masses_dalton, coordinates_bohr)
    return len(masses_dalton) > 1 and bool(moments[0] < _LINEAR * moments[2])


def thermochemistry(
    *,
    energy_hartree: float,
    frequencies_per_cm: Vector,
    masses_dalton: Vector,
    coordinates_bohr: Vector,
    multiplicity: int = 1,
    symmetry_number: int = 1,
    temperature_kelvin: float = 298.15,
    pressure_pascal: float = 101_325.0,
) -> Thermochemistry:
    """Give enthalpy, entropy and Gibbs energy of the ideal gas.

    Parameters
    ----------
    energy_hartree
        Electronic energy, with the repulsion of the nuclei.
    frequencies_per_cm
        Shape (modes,), without translations and rotations; imaginary ones negative, and left out here.
    masses_dalton, coordinates_bohr
        Shapes (atoms,) and (atoms, 3).
    multiplicity
        2S+1: degeneracy of the electronic ground state, the only one that is occupied.
    symmetry_number
        Number of rotations that bring the molecule to where it was.
    """
    kt = BOLTZMANN_HARTREE_PER_KELVIN * temperature_kelvin
    k = BOLTZMANN_HARTREE_PER_KELVIN
    mass = float(masses_dalton.sum()) * ELECTRON_MASSES_PER_DALTON
    volume = kt / (pressure_pascal / PASCAL_PER_ATOMIC_PRESSURE)
    translation = k * (math.log((mass * kt / (2 * math.pi)) ** 1.5 * volume) + 2.5)
    rotation, rotational_energy = _rotation(masses_dalton, coordinates_bohr, symmetry_number, kt)
    quanta = np.asarray(frequencies_per_cm, dtype=float)
    quanta = quanta[quanta > 0] * HARTREE_PER_WAVENUMBER
    zero_point = float(quanta.sum()) / 2
    reduced = quanta / kt
    heat = float((quanta / np.expm1(reduced)).sum())
    vibration = k * float((reduced / np.expm1(reduced) - np.log1p(-np.exp(-reduced))).sum())
    electronic = k * math.log(multiplicity)
    thermal = energy_hartree + zero_point + heat + rotational_energy + 1.5 * kt
    entropy = translation + rotation + vibration + electronic
    return Thermochemistry(
        zero_point_energy_hartree=zero_point,
        thermal_energy_hartree=thermal,
        enthalpy_hartree=thermal + kt,
        entropy_hartree_per_kelvin=entropy,
        gibbs_energy_hartree=thermal + kt - temperature_kelvin * entropy,
        translation=translation,
        rotation=rotation,
        vibration=vibration,
        electronic=electronic,
    )


def _rotation(masses: Vector, coordinates: Vector, symmetry_number: int, kt: float) -> tuple[float, float]:
    """Give entropy (hartree per kelvin) and energy (hartree) of the rotation, in its classical limit."""
    k = BOLTZMANN_HARTREE_PER_KELVIN
    if len(masses) == 1:
        return 0.0, 0.0
    moments = moments_of_inertia(masses, coordinates) * ELECTRON_MASSES_PER_DALTON
    if is_linear(masses, coordinates):
        return k * (math.log(2 * moments[2] * kt / symmetry_number) + 1), kt
    states = math.sqrt(math.pi * float(np.prod(2 * moments * kt))) / symmetry_number
    return k * (math.log(states) + 1.5), 1.5 * kt
