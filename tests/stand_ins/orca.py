"""A stand-in for ORCA: reads its input, writes its files and the marks in its output, fails in the ways that it fails.

The layout of what it prints follows the manual of ORCA 6.0, in our own words and with a toy in place of the physics:
springs between neighbouring atoms, and if asked a double well for the height of the last atom, whose top is a saddle
point. An SCF begins with an error that shrinks fivefold each cycle; orbitals keep it, so that a restart needs fewer
cycles. What it is to do besides stands as JSON in the variable ORCA_STAND_IN:

    pace             seconds for each SCF cycle
    needs_mb         memory of each process; less in %maxcore ends it as ORCA does
    scf              how often an SCF converges: "slow" only with SlowConv, "second_order" only with TRAH, "never"
    bond_up_to       an SCF converges only where the first two atoms are no farther apart, in ångström
    stiff            steps of the optimisation shrink the error only by this factor
    most_steps       an optimisation takes no more, whatever its input says
    saddle           the last atom begins on the top of the double well
    fail             "input", "error", "mpi", "silent", "hessian" (no analytical one)
    count            a file to which each run appends one line
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

BOHR_PER_ANGSTROM = 1.0 / 0.529177210903
SPRING, LENGTH, WELL = 0.2, 1.1, 0.4
HERE = Path(__file__).parent


def say(text: str = "") -> None:
    """Print a line in two parts, as a reader may find it."""
    half = len(text) // 2
    sys.stdout.write(text[:half])
    sys.stdout.flush()
    sys.stdout.write(text[half:] + "\n")
    sys.stdout.flush()


def heading(text: str) -> None:
    say("-" * len(text))
    say(text)
    say("-" * len(text))


def replace(path: str, text: str) -> None:
    """Replace a file in one step, so that no test depends on whether the run was killed while it was written."""
    Path(f"{path}.new").write_text(text)
    Path(f"{path}.new").replace(path)


class Stop(Exception):
    """The run ends here, with this exit code."""


class Run:
    """One run on one input."""

    def __init__(self, path: Path) -> None:
        self.job = path.stem
        self.text = path.read_text()
        self.how: dict[str, Any] = json.loads(os.environ.get("ORCA_STAND_IN", "{}"))
        self.words = " ".join(re.findall(r"^!(.*)$", self.text, re.MULTILINE)).split()
        self.maxcore = int(self.number(r"%maxcore (\d+)", 4096))
        self.processes = int(self.number(r"nprocs (\d+)", 1))
        rows = re.search(r"^\* xyz (-?\d+) (\d+)\n(.*?)^\*", self.text, re.MULTILINE | re.DOTALL)
        assert rows, "no geometry"
        self.atoms = [line.split() for line in rows[3].splitlines()]
        self.places = [[float(x) for x in atom[1:4]] for atom in self.atoms]
        self.error = 1.0
        self.ranks: subprocess.Popen[bytes] | None = None

    def number(self, pattern: str, default: float) -> float:
        found = re.search(pattern, self.text)
        return float(found[1]) if found else default

    # ---- the toy

    def energy(self) -> float:
        pairs = zip(self.places, self.places[1:], strict=False)
        bonds = sum(0.5 * SPRING * (self.span(a, b) - LENGTH) ** 2 for a, b in pairs)
        return -10.0 * len(self.atoms) + bonds + self.well()[0]

    def span(self, a: list[float], b: list[float]) -> float:
        """Give the length of a spring; heights belong to the double well if there is one."""
        return math.dist(a[:2], b[:2]) if self.how.get("saddle") else math.dist(a, b)

    def well(self) -> tuple[float, float, float]:
        """Give energy, slope and curvature for the height of the last atom over the first."""
        if not self.how.get("saddle"):
            return 0.0, 0.0, 0.1
        z = self.places[-1][2] - self.places[0][2]
        return 0.5 * (z * z - WELL**2) ** 2, 2 * z * (z * z - WELL**2), 6 * z * z - 2 * WELL**2

    def relax(self) -> float:
        """Move the atoms towards their rest; give the largest gradient before that."""
        largest = abs(self.well()[1])
        if self.how.get("saddle"):
            self.places[-1][2] -= self.well()[1] / 1.2
        keep = float(self.how.get("stiff", 0.3))
        for a, b in zip(self.places, self.places[1:], strict=False):
            length = self.span(a, b)
            largest = max(largest, SPRING * abs(length - LENGTH))
            scale = (1 - keep) * (LENGTH - length) / length
            for i in range(2 if self.how.get("saddle") else 3):
                b[i] += (b[i] - a[i]) * scale
        return largest

    # ---- files

    def keep(self, cycle: int) -> None:
        state = json.dumps({"error": self.error, "cycle": cycle, "atoms": len(self.atoms)})
        replace(f"{self.job}.gbw", state + " " * 4000)

    def keep_geometry(self) -> None:
        rows = [f"{a[0]} {p[0]:.10f} {p[1]:.10f} {p[2]:.10f}" for a, p in zip(self.atoms, self.places, strict=True)]
        replace(f"{self.job}.xyz", "\n".join([str(len(rows)), "Coordinates from the stand-in", *rows]) + "\n")

    def read_orbitals(self) -> None:
        found = re.search(r'%moinp "(.*?)"', self.text)
        if "MORead" not in self.words or not found:
            return
        try:
            self.error = max(1e-9, float(json.loads(Path(found[1]).read_text())["error"]) * 5)
        except (ValueError, KeyError):
            say(f"no orbitals found in the gbw file {found[1]}")
            say("ORCA finished by error termination in GUESS")
            raise Stop(64) from None

    # ---- stages

    def run(self) -> None:
        say("                                 * O   R   C   A *   (a stand-in)")
        say("                         Program Version 6.0.1  -  RELEASE   -")
        say("=" * 80)
        for number, line in enumerate(self.text.splitlines(), 1):
            say(f"|{number:3d}> {line}")
        say(f"|{len(self.text.splitlines()) + 1:3d}>                          ****END OF INPUT****")
        if self.how.get("fail") == "input":
            say("            !!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!")
            say("                                 INPUT ERROR")
            say("            UNRECOGNIZED OR DUPLICATED KEYWORD(S) IN SIMPLE INPUT LINE")
            say("             NOSUCHWORD")
            raise Stop(1)
        # ORCA writes this file before it has any orbitals.
        Path(f"{self.job}.gbw").write_text("{}")
        Path(f"{self.job}.tmp").write_bytes(b"x" * 10_000)
        Path(f"{self.job}_D0.tmp").write_bytes(b"x" * 10_000)
        self.start_ranks()
        self.read_orbitals()
        if "Opt" in self.words:
            self.optimise()
        else:
            self.show_geometry()
            self.scf()
            self.properties()
        if "Freq" in self.words or "NumFreq" in self.words:
            self.frequencies()
        for left in Path().glob(f"{self.job}*.tmp"):
            left.unlink()
        say("                             ****ORCA TERMINATED NORMALLY****")
        say("TOTAL RUN TIME: 0 days 0 hours 0 minutes 1 seconds 0 msec")

    def start_ranks(self) -> None:
        if self.processes < 2:
            return
        if self.how.get("fail") == "mpi":
            say("There are not enough slots available in the system to satisfy the slots that were requested")
            say("[file orca_tools/qcmsg.cpp, line 394]:")
            say("  .... aborting the run")
            raise Stop(2)
        self.ranks = subprocess.Popen([sys.executable, str(HERE / "mpirun.py"), str(self.processes)])

    def show_geometry(self) -> None:
        heading("CARTESIAN COORDINATES (ANGSTROEM)")
        for atom, place in zip(self.atoms, self.places, strict=True):
            say(f"  {atom[0]:<2s}  {place[0]:12.6f}{place[1]:12.6f}{place[2]:12.6f}")
        say()

    def scf(self) -> None:
        needs = self.how.get("needs_mb", 0)
        if self.maxcore < needs:
            say(" Error  (ORCA_SCF): Not enough memory available!")
            say(f"                    Memory available for SCF calculation:     {self.maxcore} MB")
            say(f"                    Memory needed (estimated)           :     {needs} MB")
            say(f"       ====>        Please increase MaxCore to more than:     {needs} MB")
            say()
            say("[file orca_scf/orca_scf.cpp, line 2720, Process 0]: Error (ORCA_SCF): ... aborting the run")
            say("ORCA finished by error termination in SCF")
            raise Stop(64)
        need = self.how.get("scf")
        stuck = need == "never" or (need == "slow" and "SlowConv" not in self.words)
        stuck |= need == "second_order" and "TRAH" not in self.words
        stuck |= math.dist(self.places[0], self.places[1]) > float(self.how.get("bond_up_to", math.inf))
        limit = int(self.number(r"%scf MaxIter (\d+)", 125))
        limit = min(limit, 6) if stuck else limit
        say("Iteration    Energy (Eh)           Delta-E    RMSDP     MaxDP     DIISErr   Damp  Time(sec)")
        for cycle in range(1, limit + 1):
            time.sleep(float(self.how.get("pace", 0.0)))
            self.error = self.error if stuck else self.error / 5
            energy = self.energy() + self.error
            change = f"{-4 * self.error:10.2e}  {self.error:.2e}  {self.error:.2e}"
            say(f"  {cycle:3d}  {energy:22.16f}   {change}  0.000   0.1")
            self.keep(cycle)
            if self.error < 1e-8:
                say("               *****************************************************")
                say("               *                     SUCCESS                       *")
                say(f"               *           SCF CONVERGED AFTER {cycle:3d} CYCLES          *")
                say("               *****************************************************")
                break
        else:
            say("               *****************************************************")
            say("               *                     ERROR                         *")
            say(f"               *           SCF NOT CONVERGED AFTER {limit:3d} CYCLES      *")
            say("               *****************************************************")
            say("ORCA finished by error termination in SCF")
            raise Stop(64)
        if self.how.get("fail") == "error":
            say("ORCA finished by error termination in SCF gradient")
            say("[file orca_tools/qcmsg.cpp, line 458]:")
            say("  .... aborting the run")
            raise Stop(64)
        if self.how.get("fail") == "silent":
            raise Stop(0)
        say()
        say("-------------------------   --------------------")
        say(f"FINAL SINGLE POINT ENERGY     {self.energy():20.12f}")
        say("-------------------------   --------------------")

    def optimise(self) -> None:
        say("                       * Geometry Optimization Run *")
        limit = min(int(self.number(r"%geom MaxIter (\d+)", 50)), self.how.get("most_steps", 1000))
        for step in range(1, limit + 1):
            say("         *************************************************************")
            say(f"         *                GEOMETRY OPTIMIZATION CYCLE {step:3d}            *")
            say("         *************************************************************")
            self.show_geometry()
            self.scf()
            largest = self.relax()
            self.error *= 5**4
            say(f"MAX gradient                       ...    {largest:.10f}")
            self.keep_geometry()
            if largest < 1e-5:
                say("                    ***********************HURRAY********************")
                say("                    ***        THE OPTIMIZATION HAS CONVERGED     ***")
                say("                    *************************************************")
                say("                 *** FINAL ENERGY EVALUATION AT THE STATIONARY POINT ***")
                self.show_geometry()
                self.scf()
                self.properties()
                return
        say("                                   ERROR !!!")
        say("       The optimization did not converge but reached the maximum ")
        say("       number of optimization cycles.")
        say()
        say("                             ****ORCA TERMINATED NORMALLY****")
        raise Stop(0)

    def properties(self) -> None:
        heading("ORBITAL ENERGIES")
        say()
        say("  NO   OCC          E(Eh)            E(eV) ")
        say("   0   2.0000      -1.000000       -27.2114 ")
        say("   1   2.0000      -0.500000       -13.6057 ")
        say("   2   0.0000       0.100000         2.7211 ")
        say()
        for name in ("MULLIKEN", "LOEWDIN"):
            heading(f"{name} ATOMIC CHARGES")
            for i, atom in enumerate(self.atoms):
                say(f"  {i:2d} {atom[0]:<2s}:    0.000000")
            say("Sum of atomic charges:    0.0000000" if name == "MULLIKEN" else "")
        heading("DIPOLE MOMENT")
        say("Magnitude (Debye)      :      1.500000000")
        say()

    def frequencies(self) -> None:
        if self.how.get("fail") == "hessian" and "NumFreq" not in self.words:
            say("Error: analytical Hessian is not available for this functional")
            say("ORCA finished by error termination in SCF Hessian")
            raise Stop(64)
        heading("ORCA SCF HESSIAN")
        time.sleep(float(self.how.get("pace", 0.0)))
        size = 3 * len(self.atoms)
        curvature = self.well()[2]
        lowest = math.copysign(1000.0 * math.sqrt(abs(curvature)), curvature)
        values = [0.0] * 6 + [1500.0 + i for i in range(size - 6)]
        values[6] = lowest
        heading("VIBRATIONAL FREQUENCIES")
        say()
        say("Scaling factor for frequencies =  1.000000000  (already applied!)")
        say()
        for i, value in enumerate(values):
            say(f"  {i:3d}:   {value:9.2f} cm**-1{' ***imaginary mode***' if value < 0 else ''}")
        say()
        self.write_hessian(values)
        temperature, pressure = self.number(r"Temp ([\d.]+)", 298.15), self.number(r"Pressure ([\d.]+)", 1.0)
        heading(f"THERMOCHEMISTRY AT {temperature:.2f}K")
        say(f"Temperature         ...   {temperature:.2f} K")
        say(f"Pressure            ...     {pressure:.2f} atm")
        say("Zero point energy                ...      0.02000000 Eh      12.55 kcal/mol")
        say(f"Total Enthalpy                    ...   {self.energy() + 0.024:.8f} Eh")
        say("Final entropy term                ...      0.02100000 Eh     13.18 kcal/mol")
        say(f"Final Gibbs free energy         ...   {self.energy() + 0.003:.8f} Eh")
        say()

    def write_hessian(self, values: list[float]) -> None:
        """Write modes: number 6 is the height of the last atom, each other one a movement of its own."""
        size = len(values)
        lines = ["$orca_hessian_file", "", "$vibrational_frequencies", str(size)]
        lines += [f"{i:5d} {value:14.6f}" for i, value in enumerate(values)]
        lines += ["", "$normal_modes", f"{size} {size}"]
        for first in range(0, size, 5):
            heads = range(first, min(size, first + 5))
            lines.append("".join(f"{head:19d}" for head in heads))
            moved = {6: size - 1, size - 1: 6}
            for row in range(size):
                cells = "".join(f"{1.0 if moved.get(head, head) == row else 0.0:19.10f}" for head in heads)
                lines.append(f"{row:5d}{cells}")
        Path(f"{self.job}.hess").write_text("\n".join([*lines, "", "$end", ""]))


def main() -> None:
    run = Run(Path(sys.argv[1]))
    if count := run.how.get("count"):
        with open(count, "a") as file:
            file.write(" ".join(run.words) + "\n")
    code = 0
    try:
        run.run()
    except Stop as stop:
        code = int(str(stop))
    if run.ranks:
        run.ranks.terminate()
        run.ranks.wait()
    sys.exit(code)


if __name__ == "__main__":
    main()
