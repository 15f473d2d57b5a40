"""Thermochemistry against a hand calculation and against the entropies that CODATA and the JANAF tables publish."""

from __future__ import annotations

import math

import numpy as np
import pytest

from worker.programs.masses import masses_of
from worker.programs.symmetry import symmetry_number
from worker.programs.thermochemistry import BOHR_ANGSTROM, is_linear, thermochemistry

J_PER_MOL = 2_625_499.639
#: experimental geometry (0.9575 Å, 104.51°) and fundamentals of water
WATER = (["O", "H", "H"], [[0, 0, 0], [0.7571, 0.5861, 0], [-0.7571, 0.5861, 0]], [1594.75, 3657.05, 3755.93])
NITROGEN = (["N", "N"], [[0, 0, 0], [0, 0, 1.0977]], [2329.9])
CARBON_DIOXIDE = (["O", "C", "O"], [[0, 0, -1.1600], [0, 0, 0], [0, 0, 1.1600]], [667.4, 667.4, 1333.0, 2349.1])
AMMONIA = (
    ["N", "H", "H", "H"],
    [[0, 0, 0.1159], [0, 0.9377, -0.2705], [0.8121, -0.4689, -0.2705], [-0.8121, -0.4689, -0.2705]],
    [950.0, 1627.0, 1627.0, 3337.0, 3444.0, 3444.0],
)
METHANE = (
    ["C", "H", "H", "H", "H"],
    (1.087 / math.sqrt(3) * np.array([[0, 0, 0], [1, 1, 1], [-1, -1, 1], [-1, 1, -1], [1, -1, -1]])).tolist(),
    [1306.0] * 3 + [1534.0] * 2 + [2917.0] + [3019.0] * 3,
)
ARGON = (["Ar"], [[1.0, 2.0, 3.0]], [])
Data = tuple[list[str], list[list[float]], list[float]]


@pytest.mark.parametrize(
    ("molecule", "symmetry", "entropy", "enthalpy"),
    [
        # CODATA key values for thermodynamics (Cox, Wagman, Medvedev, 1989): S°(298.15 K) in J/(K mol) and
        # H°(298.15 K) - H°(0) in kJ/mol, at 1 bar; methane from the JANAF tables (1998).
        (WATER, 2, 188.835, 9.905),
        (NITROGEN, 2, 191.609, 8.670),
        (CARBON_DIOXIDE, 2, 213.785, 9.365),
        (AMMONIA, 3, 192.77, 10.043),
        (METHANE, 12, 186.251, 10.024),
        (ARGON, 1, 154.846, 6.197),
    ],
)
def test_entropies_and_enthalpies_are_the_published_ones(
    molecule: Data, symmetry: int, entropy: float, enthalpy: float
) -> None:
    symbols, places, frequencies = molecule
    coordinates = np.array(places)
    assert symmetry_number(symbols, coordinates) == symmetry
    found = thermochemistry(
        energy_hartree=-1.0,
        frequencies_per_cm=np.array(frequencies),
        masses_dalton=masses_of(symbols),
        coordinates_bohr=coordinates / BOHR_ANGSTROM,
        symmetry_number=symmetry,
        pressure_pascal=1e5,
    )
    # What rigid rotor and harmonic oscillator leave out is of this size: 0.5 J/(K mol), 0.05 kJ/mol.
    assert found.entropy_hartree_per_kelvin * J_PER_MOL == pytest.approx(entropy, abs=0.5)
    heat = found.enthalpy_hartree + 1.0 - found.zero_point_energy_hartree
    assert heat * J_PER_MOL / 1000 == pytest.approx(enthalpy, abs=0.05)
    assert found.gibbs_energy_hartree == pytest.approx(
        found.enthalpy_hartree - 298.15 * found.entropy_hartree_per_kelvin, abs=1e-12
    )


def test_water_as_by_hand() -> None:
    """By hand in SI units for H2O at 298.15 K and 101325 Pa, with the same geometry and frequencies.

    Sackur and Tetrode, m = 18.015 u: S = R (1.5 ln(2 π m k T / h²) + ln(k T / p) + 2.5) = 144.804 J/(K mol).
    Moments of inertia from the geometry: 0.6150, 1.1556, 1.7706 u Å², which are rotational temperatures of 39.44, 20.99
    and 13.70 K; q = sqrt(π T³ / (θA θB θC)) / 2 = 42.85, S = R (ln q + 1.5) = 43.71 J/(K mol).
    Zero-point energy: (1594.75 + 3657.05 + 3755.93) / 2 = 4503.865 per cm = 53.878 kJ/mol.
    Vibration: the bending mode alone, x = 7.696: S = R (x / (e^x - 1) - ln(1 - e^-x)) = 0.0329 J/(K mol).
    """
    symbols, places, frequencies = WATER
    found = thermochemistry(
        energy_hartree=-76.0,
        frequencies_per_cm=np.array([-50.0, *frequencies]),
        masses_dalton=masses_of(symbols),
        coordinates_bohr=np.array(places) / BOHR_ANGSTROM,
        symmetry_number=2,
    )
    assert found.translation * J_PER_MOL == pytest.approx(144.804, abs=0.002)
    assert found.rotation * J_PER_MOL == pytest.approx(43.714, abs=0.002)
    assert found.vibration * J_PER_MOL == pytest.approx(0.0329, abs=0.0001)
    assert found.electronic == 0.0
    assert found.zero_point_energy_hartree * J_PER_MOL / 1000 == pytest.approx(53.878, abs=0.002)
    # 3/2 RT of motion, 3/2 RT of turning, RT of p V: 4 RT = 9.916 kJ/mol, and 0.009 of the bending mode.
    heat = found.enthalpy_hartree + 76.0 - found.zero_point_energy_hartree
    assert heat * J_PER_MOL / 1000 == pytest.approx(9.925, abs=0.003)


def test_pressure_temperature_and_spin_enter_as_they_should() -> None:
    """Ten times the pressure: R ln 10 less entropy. A doublet: R ln 2 more."""

    def entropy(multiplicity: int = 1, pressure: float = 1e5) -> float:
        return thermochemistry(
            energy_hartree=0.0,
            frequencies_per_cm=np.zeros(0),
            masses_dalton=masses_of(["Ar"]),
            coordinates_bohr=np.zeros((1, 3)),
            multiplicity=multiplicity,
            pressure_pascal=pressure,
        ).entropy_hartree_per_kelvin

    assert (entropy() - entropy(pressure=1e6)) * J_PER_MOL == pytest.approx(8.314463 * math.log(10), abs=1e-3)
    assert (entropy(multiplicity=2) - entropy()) * J_PER_MOL == pytest.approx(8.314463 * math.log(2), abs=1e-3)


@pytest.mark.parametrize(
    ("symbols", "places", "number"),
    [
        (["O", "H", "H"], [[0, 0, 0], [0.7571, 0.5861, 0], [-0.7571, 0.5861, 0.01]], 2),
        (["O", "H", "H"], [[0, 0, 0], [0.7571, 0.5861, 0], [-0.8571, 0.5861, 0]], 1),
        (["O", "H", "D"][:2], [[0, 0, 0], [0, 0, 0.97]], 1),
        (["C"] * 6 + ["H"] * 6, [[r * math.cos(k * math.pi / 3), r * math.sin(k * math.pi / 3), 0.0]
                                for r in (1.39, 2.48) for k in range(6)], 12),
        (["C", "F", "Cl", "Br", "H"], [[0, 0, 0], [0.8, 0.8, 0.8], [-1, -1, 1], [-1.1, 1.1, -1.1], [0.6, -0.6, -0.6]],
         1),
    ],
)  # fmt: skip
def test_the_symmetry_number_counts_rotations_within_the_tolerance(
    symbols: list[str], places: list[list[float]], number: int
) -> None:
    assert symmetry_number(symbols, np.array(places)) == number


def test_linear_molecules_are_told_from_bent_ones() -> None:
    assert is_linear(masses_of(CARBON_DIOXIDE[0]), np.array(CARBON_DIOXIDE[1]))
    assert not is_linear(masses_of(WATER[0]), np.array(WATER[1]))
    assert not is_linear(masses_of(["Ar"]), np.zeros((1, 3)))
