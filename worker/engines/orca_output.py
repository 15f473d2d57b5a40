"""Reading ORCA's output, versions 5 and 6 (4 as far as it prints the same): what it holds, and how far it came.

A value that the output does not hold is None. Nothing is taken from a section that did not finish, so that an output
may be read at any moment; of several geometries the last one with a complete energy counts, with what was printed for
that geometry and nothing of an earlier one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from tasks.elements import Atom, write_xyz
from tasks.results import QuantumResult

ENDED = "****ORCA TERMINATED NORMALLY****"
#: what ORCA prints when something failed; some failures end without any of these
FAILURE_MARKS = (
    "INPUT ERROR",
    "UNRECOGNIZED OR DUPLICATED KEYWORD",
    "-> impossible",
    "Not enough memory available",
    "SCF NOT CONVERGED AFTER",
    "The optimization did not converge",
    "ORCA finished by error termination in",
    "aborting the run",
)
_CONTEXT_LINES = 4
_MOST_MARKS = 40
#: of a heading, how many lines may stand before the first row of its table
_LEAD = 14

_FLOAT = r"(-?\d+\.\d+)"
_ATOM = re.compile(rf"\s*([A-Z][a-z]?)\s+{_FLOAT}\s+{_FLOAT}\s+{_FLOAT}\s*$")
_ORBITAL = re.compile(rf"\s*\d+\s+(\d\.\d{{4}})\s+{_FLOAT}\s+{_FLOAT}")
_CHARGE = re.compile(rf"\s*\d+\s*[A-Z][a-z]?\s*:\s+{_FLOAT}(?:\s+{_FLOAT})?\s*$")
_MODE = re.compile(rf"\s*\d+:\s+{_FLOAT}\s+cm\*\*-1")
_ENERGY = re.compile(rf"FINAL SINGLE POINT ENERGY\s+{_FLOAT}\s*$")
_CYCLES = re.compile(r"SCF (NOT )?CONVERGED AFTER\s+(\d+)\s+CYCLES")
_STEP = re.compile(r"GEOMETRY OPTIMIZATION CYCLE\s+(\d+)")
_VERSION = re.compile(r"Program Version\s+(\d+\.\d+(?:\.\d+)?)")
_ECHO = re.compile(r"\|\s*\d+>\s*(.*)$")
_THERMOCHEMISTRY = {
    "temperature": re.compile(rf"Temperature\s+\.\.\.\s+{_FLOAT} K"),
    "pressure": re.compile(rf"Pressure\s+\.\.\.\s+{_FLOAT} atm"),
    "zero_point": re.compile(rf"Zero point energy\s+\.\.\.\s+{_FLOAT} Eh"),
    "enthalpy": re.compile(rf"Total Enthalpy\s+\.\.\.\s+{_FLOAT} Eh"),
    "entropy_term": re.compile(rf"Final entropy term\s+\.\.\.\s+{_FLOAT} Eh"),
    "gibbs": re.compile(rf"Final Gibbs free en(?:ergy|thalpy)\s+\.\.\.\s+{_FLOAT} Eh"),
}
_SYMMETRY_NUMBER = re.compile(r"Symmetry Number:\s+(\d+)")
_PASCAL_PER_ATMOSPHERE = 101_325.0


@dataclass(kw_only=True)
class Step:
    """What was printed for one geometry; units as in ``QuantumResult``."""

    geometry: list[Atom] | None = None
    energy_hartree: float | None = None
    scf_cycles: int = 0
    homo_ev: float | None = None
    lumo_ev: float | None = None
    dipole_debye: float | None = None
    mulliken: tuple[float, ...] | None = None
    loewdin: tuple[float, ...] | None = None
    frequencies_per_cm: tuple[float, ...] | None = None
    thermochemistry: dict[str, float] = field(default_factory=dict)


@dataclass(kw_only=True)
class OrcaOutput:
    """One output as far as it goes.

    Attributes
    ----------
    keywords
        The lines of the input that begin with ``!``.
    terminated
        Whether ORCA said that it ended normally; it says so of an optimisation out of cycles as well.
    optimisation, optimised
        Whether a geometry was to be relaxed, and whether that converged.
    optimisation_steps, scf_cycles
        How many were done; None: none.
    unconverged
        Whether any SCF did not converge.
    marks
        The lines that tell of a failure, with those that say more.
    step
        The last geometry with a complete energy; without any, the last geometry.
    """

    version: str = ""
    keywords: list[str] = field(default_factory=list)
    terminated: bool = False
    optimisation: bool = False
    optimised: bool = False
    optimisation_steps: int | None = None
    scf_cycles: int | None = None
    unconverged: bool = False
    marks: list[str] = field(default_factory=list)
    step: Step = field(default_factory=Step)

    def result(self) -> QuantumResult | None:
        """Give what came out; None without a complete energy."""
        step, found, frequencies = self.step, self.step.thermochemistry, self.step.frequencies_per_cm
        if step.energy_hartree is None:
            return None
        gap = step.lumo_ev - step.homo_ev if step.homo_ev is not None and step.lumo_ev is not None else None
        xyz = None
        if step.geometry:
            xyz = write_xyz(step.geometry, f"ORCA {self.version}, {step.energy_hartree:.8f} Eh")
        return QuantumResult(
            energy_hartree=step.energy_hartree,
            homo_ev=step.homo_ev,
            lumo_ev=step.lumo_ev,
            gap_ev=gap,
            dipole_debye=step.dipole_debye,
            mulliken_charges=step.mulliken,
            loewdin_charges=step.loewdin,
            frequencies_per_cm=frequencies,
            imaginary_modes=None if frequencies is None else sum(value < 0 for value in frequencies),
            symmetry_number=int(found["symmetry_number"]) if "symmetry_number" in found else None,
            zero_point_energy_hartree=found.get("zero_point"),
            enthalpy_hartree=found.get("enthalpy"),
            # ORCA prints entropies multiplied by the temperature.
            entropy_hartree_per_kelvin=found["entropy_term"] / found["temperature"] if found else None,
            gibbs_energy_hartree=found.get("gibbs"),
            temperature_kelvin=found.get("temperature"),
            pressure_pascal=found["pressure"] * _PASCAL_PER_ATMOSPHERE if found else None,
            scf_cycles=self.scf_cycles,
            optimisation_steps=self.optimisation_steps,
            xyz=xyz,
            engine="orca",
            engine_version=self.version,
            level=" ".join(self.keywords),
        )


def read_output(path: Path) -> OrcaOutput:
    """Read an output file; one that was cut short gives what was complete."""
    with path.open(encoding="utf-8", errors="replace") as stream:
        return _Reading(stream).read()


class _Lines:
    """Lines that can be given back."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._back: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        return self._back.pop() if self._back else next(self._lines)

    def back(self, line: str) -> None:
        self._back.append(line)


class _Reading:
    """One reading of one output."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = _Lines(lines)
        self.out = OrcaOutput()
        self.current = Step()
        self.last: Step | None = None
        #: what is printed for displaced geometries is not that of the molecule
        self.displaced = False
        self.sections = {
            "CARTESIAN COORDINATES (ANGSTROEM)": self._geometry,
            "ORBITAL ENERGIES": self._orbitals,
            "MULLIKEN ATOMIC CHARGES": self._mulliken,
            "MULLIKEN ATOMIC CHARGES AND SPIN POPULATIONS": self._mulliken,
            "LOEWDIN ATOMIC CHARGES": self._loewdin,
            "LOEWDIN ATOMIC CHARGES AND SPIN POPULATIONS": self._loewdin,
            "DIPOLE MOMENT": self._dipole,
            "VIBRATIONAL FREQUENCIES": self._frequencies,
        }

    def read(self) -> OrcaOutput:
        for line in self.lines:
            self._line(line)
        step = self.current
        if step.energy_hartree is None and self.last:
            step = self.last
        self.out.step = step
        return self.out

    def _line(self, line: str) -> None:
        text = line.strip()
        if not text:
            return
        if echo := _ECHO.match(line):
            # The user's own text, which may hold any of the words below.
            if echo[1].startswith("!"):
                self.out.keywords.append(echo[1].lstrip("! ").strip())
            return
        if section := self.sections.get(text):
            section()
        elif text.startswith("THERMOCHEMISTRY AT"):
            self._thermochemistry()
        elif text == ENDED:
            self.out.terminated = True
        elif "HURRAY" in text and "***" in text:
            self.out.optimised = True
        elif found := _STEP.search(text):
            self.out.optimisation, self.out.optimisation_steps = True, int(found[1])
        elif found := _CYCLES.search(text):
            self._scf_ended(text, cycles=int(found[2]), converged=not found[1])
        elif found := _ENERGY.match(line):
            if line.endswith("\n") and not self.displaced:
                self.current.energy_hartree = float(found[1])
        elif text.startswith("FINAL SINGLE POINT ENERGY") and "not fully converged" in text:
            self.out.unconverged = True
        elif found := _VERSION.search(text):
            self.out.version = found[1]
        elif text == "* Geometry Optimization Run *":
            self.out.optimisation = True
        elif "NUMERICAL FREQUENCIES" in text:
            self.displaced = True
        if any(mark in text for mark in FAILURE_MARKS):
            self._mark(text)

    def _mark(self, text: str) -> None:
        """Keep a line that tells of a failure, and the lines after it."""
        following = list(islice(self.lines, _CONTEXT_LINES))
        for line in reversed(following):
            self.lines.back(line)
        if len(self.out.marks) >= _MOST_MARKS:
            return
        more = [line.strip() for line in following]
        more = [line for line in more if line and set(line) - set("!-=* ")]
        for one in (text, *more):
            if one not in self.out.marks:
                self.out.marks.append(one)

    def _scf_ended(self, text: str, *, cycles: int, converged: bool) -> None:
        if self.displaced:
            return
        self.out.scf_cycles = (self.out.scf_cycles or 0) + cycles
        if not converged:
            self.out.unconverged = True

    def _table(self, row: re.Pattern[str]) -> list[re.Match[str]] | None:
        """Read the rows that follow; None if there are none, or the output ends or breaks off among them."""
        rows: list[re.Match[str]] = []
        for count, line in enumerate(self.lines):
            found = row.match(line)
            if found:
                rows.append(found)
            elif rows or count >= _LEAD:
                self.lines.back(line)
                ends = line.endswith("\n") and (not line.strip() or line.strip()[0] in "*-S")
                return rows if rows and ends else None
        return None

    def _geometry(self) -> None:
        rows = self._table(_ATOM)
        if rows is None or self.displaced:
            return
        if self.current.energy_hartree is not None:
            self.last = self.current
        self.current = Step(geometry=[Atom(r[1], float(r[2]), float(r[3]), float(r[4])) for r in rows])

    def _orbitals(self) -> None:
        spins = [self._table(_ORBITAL)]
        for line in islice(self.lines, 3):
            if line.strip() == "SPIN DOWN ORBITALS":
                spins.append(self._table(_ORBITAL))
                break
            if line.strip() and not line.lstrip().startswith("*"):
                self.lines.back(line)
                break
        if self.displaced or any(rows is None for rows in spins):
            return
        both = [(float(row[1]), float(row[3])) for rows in spins for row in rows or ()]
        occupied = [energy for occupation, energy in both if occupation > 0]
        empty = [energy for occupation, energy in both if occupation == 0]
        self.current.homo_ev = max(occupied, default=None)
        self.current.lumo_ev = min(empty, default=None)

    def _charges(self) -> tuple[float, ...] | None:
        rows = self._table(_CHARGE)
        whole = rows is not None and (not self.current.geometry or len(rows) == len(self.current.geometry))
        return tuple(float(row[1]) for row in rows or ()) if whole and not self.displaced else None

    def _mulliken(self) -> None:
        self.current.mulliken = self._charges()

    def _loewdin(self) -> None:
        self.current.loewdin = self._charges()

    def _dipole(self) -> None:
        for line in islice(self.lines, 40):
            if line.strip().startswith("Magnitude (Debye)") and line.endswith("\n"):
                self.current.dipole_debye = float(line.split(":")[1])
                return

    def _frequencies(self) -> None:
        self.displaced = False
        rows = self._table(_MODE)
        if rows is not None:
            # Translations and rotations are projected out: they stand there as exactly zero.
            values = (float(row[1]) for row in rows)
            self.current.frequencies_per_cm = tuple(sorted(value for value in values if value != 0))

    def _thermochemistry(self) -> None:
        found: dict[str, float] = {}
        symmetry: dict[str, float] = {}
        for line in islice(self.lines, 2000):
            if (match := _SYMMETRY_NUMBER.search(line)) and line.endswith("\n"):
                symmetry = {"symmetry_number": float(match[1])}
            for name, pattern in _THERMOCHEMISTRY.items():
                if (match := pattern.search(line)) and line.endswith("\n"):
                    found[name] = float(match[1])
            if line.strip() == ENDED:
                self.lines.back(line)
            if "gibbs" in found or line.strip() == ENDED:
                break
        if len(found) == len(_THERMOCHEMISTRY):
            self.current.thermochemistry = found | symmetry
