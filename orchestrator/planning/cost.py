"""What a job will cost, before it runs: core-seconds from the number of basis functions.

Calibrated on this project's own timings (PySCF 2.14, density fitting, B3LYP/def2-SVP, two threads, one shared host):
single points of tetramethylammonium (130 basis functions) 12 s and of N,N-dimethylpiperidinium (192) 27 s, optimisation
of tetramethylammonium 56 s; GFN2-xTB of molecules of that size 0.02 s a single point and 1 s an optimisation.

Single point with N basis functions, by the two DFT timings (quadratic for small, quartic exchange for large ones)::

    core-seconds = 1.382e-3 N² + 2.24e-9 N⁴

Optimisation with A atoms, by the third timing: 4.67 (A/17)^½ single points. Tight binding with n valence functions
(48 in N,N-dimethylpiperidinium): 0.02 (n/48)³ s, an optimisation 50 of them. Frequencies: 2 single points an atom
(those of tetramethylammonium took 401 s); 6 by displacements, with an implicit solvent or with tight binding. These are
orders of magnitude for deciding, not predictions: other hosts, difficult SCFs and floppy molecules differ by factors.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from rdkit import Chem

from orchestrator.chemistry.molecules import parse
from orchestrator.chemistry.solutions import core_seconds
from tasks.elements import ATOMIC_NUMBER, parse_xyz
from tasks.methods import Family, find_method
from tasks.specs import (
    AnySpec,
    DynamicsSpec,
    EvaluationSpec,
    ProgramSpec,
    QuantumSpec,
    SwarmSpec,
    WavefunctionSpec,
)

#: basis functions (spherical) of H, of Li to Ne, of Na to Ar, and of heavier atoms (about; bromine where it is defined)
FUNCTIONS: dict[str, tuple[int, int, int, int]] = {
    "STO-3G": (1, 5, 9, 18),
    "3-21G": (2, 9, 13, 22),
    "6-31G": (2, 9, 13, 27),
    "6-31G*": (2, 14, 18, 32),
    "6-31G**": (5, 14, 18, 32),
    "6-31+G*": (2, 18, 22, 36),
    "6-31++G**": (6, 18, 22, 36),
    "6-311G**": (6, 18, 26, 44),
    "6-311++G**": (7, 22, 30, 44),
    "def2-SVP": (5, 14, 18, 32),
    "def2-SVPD": (8, 20, 24, 41),
    "def2-TZVP": (6, 31, 37, 48),
    "def2-TZVPP": (14, 31, 42, 48),
    "def2-TZVPD": (9, 37, 43, 57),
    "def2-QZVP": (30, 57, 70, 75),
    "cc-pVDZ": (5, 14, 18, 27),
    "cc-pVTZ": (14, 30, 34, 43),
    "cc-pVQZ": (30, 55, 59, 68),
    "aug-cc-pVDZ": (9, 23, 27, 36),
    "aug-cc-pVTZ": (23, 46, 50, 59),
}
_SQUARE, _QUARTIC = 1.382e-3, 2.24e-9
_OPTIMISATION, _OPTIMISATION_ATOMS = 4.67, 17
#: a cation of 35 atoms relaxed with GFN2-xTB in water, and its SN2 barrier scanned
_RELAXED_SECONDS, _SCAN_SECONDS = 1.2, 9.0
_COUPLED, _DISPLACEMENTS = 2.0, 6.0
_TIGHT_BINDING_SECONDS, _TIGHT_BINDING_FUNCTIONS, _TIGHT_BINDING_STEPS = 0.02, 48, 50


@dataclass(frozen=True, kw_only=True)
class Cost:
    """An estimate.

    Attributes
    ----------
    core_seconds
        Time on one core; None: nothing is known about it.
    basis_functions
        Number of basis functions it was made from.
    note
        What it rests on.
    """

    core_seconds: float | None
    basis_functions: int | None = None
    note: str = ""

    @property
    def core_hours(self) -> float | None:
        """The same in core-hours."""
        return None if self.core_seconds is None else self.core_seconds / 3600


def estimate(spec: AnySpec) -> Cost:
    """Estimate what a spec costs; it needs a SMILES or a structure, but not be complete."""
    if isinstance(spec, ProgramSpec):
        return Cost(core_seconds=None, note="unknown: Simrelay knows nothing about how long a declared program runs")
    if isinstance(spec, DynamicsSpec):
        note = "estimated from the number of atoms and steps, within a factor of about three"
        seconds = core_seconds(spec)
        return Cost(core_seconds=seconds, note=note if seconds else "unknown: the size of the user's own system is not")
    if isinstance(spec, WavefunctionSpec):
        return Cost(core_seconds=None, note="not estimated: seconds to a few minutes, most of it for a potential")
    if isinstance(spec, SwarmSpec | EvaluationSpec):
        return _of_molecules(spec)
    counts = _elements(spec)
    atoms = sum(counts.values())
    optimisation = spec.task.startswith("optimisation") and atoms > 1
    frequencies = spec.task.endswith("frequencies") and atoms > 1
    if find_method(spec.method).family is Family.TIGHT_BINDING:
        functions = sum(n * _valence(symbol) for symbol, n in counts.items())
        seconds = _TIGHT_BINDING_SECONDS * (functions / _TIGHT_BINDING_FUNCTIONS) ** 3
        seconds *= (_TIGHT_BINDING_STEPS if optimisation else 1) + (6 * atoms if frequencies else 0)
    else:
        functions = basis_functions(counts, spec.basis or "def2-SVP")
        seconds = _SQUARE * functions**2 + _QUARTIC * functions**4
        points = _OPTIMISATION * (atoms / _OPTIMISATION_ATOMS) ** 0.5 if optimisation else 1
        if frequencies:
            points += (_DISPLACEMENTS if spec.solvent else _COUPLED) * atoms
        seconds *= points
    note = "estimated from the number of basis functions, within a factor of about three"
    return Cost(core_seconds=round(seconds, 2), basis_functions=functions, note=note)


def _of_molecules(spec: SwarmSpec | EvaluationSpec) -> Cost:
    """Estimate evaluations by GFN2-xTB; of a swarm those that it has at most, of molecules of a usual size."""
    if isinstance(spec, SwarmSpec):
        count, wanted = min(spec.particles * spec.steps, spec.encoding.size), spec.computed
        note = "at most so many different molecules are met, usually about half of them"
    else:
        count, wanted = len(spec.molecules), spec.properties
        note = "from the number of molecules, within a factor of about three"
    each = (_RELAXED_SECONDS if spec.relax else _TIGHT_BINDING_SECONDS) if wanted else 0.01
    each += _SCAN_SECONDS if "sn2_barrier_kcal_per_mol" in wanted else 0.0
    return Cost(core_seconds=round(count * each, 2), note=note)


def basis_functions(counts: Counter[str], basis: str) -> int:
    """Count the basis functions of a molecule from its atoms by element."""
    return sum(n * FUNCTIONS[basis][_row(symbol)] for symbol, n in counts.items())


def _row(symbol: str) -> int:
    number = ATOMIC_NUMBER[symbol]
    return sum(number > last for last in (2, 10, 18))


def _valence(symbol: str) -> int:
    """Functions of an atom in the minimal valence basis of tight binding: s; s and p; s, p and d."""
    return (1, 4, 9, 9)[_row(symbol)]


def _elements(spec: QuantumSpec) -> Counter[str]:
    if spec.molecule.xyz and spec.molecule.xyz.strip():
        return Counter(atom.symbol for atom in parse_xyz(spec.molecule.xyz))
    mol = Chem.AddHs(parse(spec.molecule.smiles or "", max_atoms=1_000_000))
    return Counter(atom.GetSymbol() for atom in mol.GetAtoms())
