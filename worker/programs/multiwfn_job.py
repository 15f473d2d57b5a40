"""One analysis of orbitals by Multiwfn, driven through its menus: the same requests as our own analysis.

Run as ``python -m worker.programs.multiwfn_job job.json`` with the job's folder as working directory. Menus and outputs
as in the manual of Multiwfn 3.8 (sections 3.6, 3.9 and 3.10); every request is a run of its own, ends in the main menu,
and counts only if the answers that have to come did come. Like our own analysis it begins again after a kill.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyscf.lib import param
from pyscf.tools import molden

from tasks.elements import Atom, write_xyz
from tasks.results import Failure, Orbital, WavefunctionResult
from worker.programs.analysis import NEAR, AnalysisJob, Steps, cube_file, draw, name_of, place_of, write_tables
from worker.programs.common import EV_PER_HARTREE, Desk, JobFailed, run_program, say
from worker.programs.cubes import Grid, grid_around, read_cube
from worker.programs.orbital_source import Source, read_source

MOLDEN_FILE = "orbitals.molden"
#: what the main menu ends with, in all versions
_MAIN_MENU = "Main function menu"
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_NUMBER = r"-?\d+\.\d+(?:[EeDd][+-]?\d+)?"
_ATOM = r"Atom\s+(\d+)\(\s*\w+\s*\)"


@dataclass(frozen=True, kw_only=True)
class Script:
    """What is typed for one request, and what has to come of it."""

    what: str
    keys: tuple[str, ...]
    #: text that the output must hold
    answer: str
    #: file that must be written; empty: none
    file: str = ""


def population_script(kind: str) -> Script:
    """Give the script for charges (main function 7); none of them is written to a .chg file."""
    keys = {"hirshfeld": ("1", "1", "n"), "mulliken": ("5", "1", "n", "0"), "loewdin": ("6", "", "n")}[kind]
    answer = "Final atomic charges:" if kind == "hirshfeld" else "Total net charge:"
    return Script(what=f"{kind} charges", keys=("7", *keys, "0", "q"), answer=answer)


def grid_script(what: str, function: Sequence[str], grid: Grid, file: str) -> Script:
    """Give the script for a cube file (main function 5) on exactly this grid (setting 5)."""
    origin = ",".join(f"{x:.8f}" for x in grid.origin)
    spacing = ",".join([f"{grid.spacing:.8f}"] * 3)
    shape = ",".join(map(str, grid.shape))
    keys = ("5", *function, "5", origin, spacing, shape, "2", "0", "q")
    return Script(what=f"{what} on a grid", keys=keys, answer="exported", file=file)


class Driver:
    """Runs Multiwfn, once a script."""

    def __init__(self, job: AnalysisJob, desk: Desk) -> None:
        self.job, self.desk, self.version = job, desk, ""

    def run(self, script: Script) -> str:
        """Give the output of a script, without colours.

        Raises
        ------
        JobFailed
            If it was killed, did not answer as the manual says, or did not write its file.
        """
        produced = self.desk.folder / script.file if script.file else None
        if produced:
            produced.unlink(missing_ok=True)
        argv = (*self.job.command, MOLDEN_FILE, "-nt", str(self.job.cores), "-silent")
        typed = "\n".join(script.keys) + "\n"
        say(f"$ {' '.join(argv)}  # {script.what}; typed: {' '.join(key or '⏎' for key in script.keys)}")
        try:
            done = subprocess.run(
                argv, input=typed.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.desk.folder,
                check=False,
            )  # fmt: skip
        except OSError as error:
            raise JobFailed(_not_started(argv[0], error)) from error
        output = _COLOURS.sub("", done.stdout.decode(errors="replace"))
        say(output)
        if found := re.search(r"Version\s+(\S+?)(?:,|\s|$)", output):
            self.version = found[1]
        if done.returncode < 0:
            raise JobFailed(_killed(-done.returncode, script, output))
        if "cannot be found, input again" in output or "Unable to find the input file" in output:
            raise JobFailed(_unreadable(output))
        # A wrong key is answered with a menu again, or ends the program when nothing more is typed.
        problem = ""
        if done.returncode != 0:
            problem = f"it ended with exit code {done.returncode}"
        elif script.answer not in output:
            problem = f"{script.answer!r} is not in its output"
        elif produced and not produced.is_file():
            problem = f"it wrote no {script.file}"
        elif output.count(_MAIN_MENU) < 2:
            problem = "it did not come back to the main menu"
        if problem:
            raise JobFailed(_mismatch(script, problem, output))
        return output


def _last_lines(output: str) -> tuple[str, ...]:
    return tuple(line.rstrip()[:400] for line in output.splitlines() if line.strip())[-8:]


def _not_started(program: str, error: OSError) -> Failure:
    return Failure(
        error_class="program_failed",
        message=f"Multiwfn could not be started: {error.strerror or error} ({program}).",
        remedy="Correct its command in engines.toml, or detect the engines of this host anew.",
        before_start=True,
    )


def _killed(number: int, script: Script, output: str) -> Failure:
    name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
    crashed = number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL)
    remedy = "Raise OMP_STACKSIZE in engines.toml; Multiwfn crashes where it is too small." if crashed else ""
    return Failure(
        error_class="program_failed" if crashed else "killed",
        message=f"Multiwfn was ended by {name} at {script.what}.",
        evidence=_last_lines(output),
        remedy=remedy or "If nobody did it, the system was probably out of memory.",
    )


def _unreadable(output: str) -> Failure:
    return Failure(
        error_class="bad_input",
        message="Multiwfn did not find the molden file that was written for it.",
        evidence=_last_lines(output),
        remedy="Compute it with the engine wavefunction, which reads the same file.",
        permanent=True,
    )


def _mismatch(script: Script, problem: str, output: str) -> Failure:
    return Failure(
        error_class="menu_mismatch",
        message=f"Multiwfn did not answer as its manual says at {script.what}: {problem}.",
        evidence=_last_lines(output),
        remedy="Install Multiwfn 3.8 or newer with its settings.ini unchanged, or take the engine wavefunction.",
        permanent=True,
    )


def read_charges(output: str, kind: str, atoms: int) -> tuple[float, ...] | None:
    """Read charges, ``(atoms,)`` in elementary charges; None if not exactly one an atom is there."""
    if kind == "hirshfeld":
        _, _, part = output.rpartition("Final atomic charges:")
        rows = re.findall(rf"{_ATOM}\s*:\s*({_NUMBER})", part)
    else:
        # The charge is the last number of a row, whatever stands before it for closed and for open shells.
        _, _, part = output.rpartition("Population of atoms:")
        rows = re.findall(rf"^[ Atom]*(\d+)\(\s*\w+\s*\).*?({_NUMBER})\s*$", part, re.MULTILINE)
    charges = {int(index): float(value) for index, value in rows}
    return tuple(charges[i] for i in sorted(charges)) if sorted(charges) == list(range(1, atoms + 1)) else None


def read_orbitals(output: str) -> list[tuple[int, float, float, str]]:
    """Read the list of orbitals: index from 1, energy in hartree, occupation, type."""
    row = rf"Orbital:\s*(\d+)\s+Energy\(a\.u\.\):\s*({_NUMBER})\s+Occ:\s*({_NUMBER})\s+Type:\s*(\S+)"
    return [(int(n), float(energy), float(occupation), kind) for n, energy, occupation, kind in re.findall(row, output)]


def read_composition(output: str, atoms: int) -> tuple[tuple[float, ...], dict[str, float]] | None:
    """Read the Mulliken shares of atoms and of shells in one orbital; None if they are not there."""
    _, _, part = output.partition("Composition of different types of shells")
    shells = {letter: float(value) / 100 for letter, value in re.findall(rf"\b([spdfgh]):\s*({_NUMBER})", part)}
    _, _, part = part.partition("Composition of each atom:")
    shares = {int(index): float(value) / 100 for index, value in re.findall(rf"{_ATOM}\s*:\s*({_NUMBER})\s*%", part)}
    if not shells or sorted(shares) != list(range(1, atoms + 1)):
        return None
    return tuple(shares[i] for i in sorted(shares)), {letter: share for letter, share in shells.items() if share}


class Analyst:
    """One analysis of one source."""

    def __init__(self, job: AnalysisJob, source: Source, desk: Desk) -> None:
        self.job, self.source, self.desk, self.driver = job, source, desk, Driver(job, desk)
        self.occupied = [int((n > 1e-6).sum()) for n in source.occupations]
        self.total = [c.shape[1] for c in source.coefficients]
        named = job.orbitals if job.wants("composition", "cubes", "pictures") else ()
        self.named = {name: place_of(name, self.occupied, self.total) for name in named}
        drawn = len(named) if job.wants("cubes", "pictures") else 0
        shares = len(named) if job.wants("composition") else 0
        whole = {"mulliken", "loewdin", "hirshfeld", "density", "potential"} & set(job.analyses)
        self.steps = Steps(desk, 1 + drawn + shares + len(whole))
        self.notes: list[str] = []

    def number(self, which: int, index: int) -> int:
        """Give Multiwfn's index of an orbital: beta orbitals follow all alpha ones."""
        return index + 1 + (self.total[0] if which else 0)

    def run(self) -> WavefunctionResult:
        """Do all that is asked for."""
        job, mol = self.job, self.source.mol
        self.steps.begin("orbitals")
        orbitals = self._orbitals()
        charges = {kind: self._charges(kind) for kind in ("mulliken", "loewdin", "hirshfeld") if kind in job.analyses}
        if "hirshfeld" in charges:
            self.notes.append("Hirshfeld: Multiwfn's built-in spherical densities of neutral atoms.")
        if job.wants("cubes", "pictures", "density", "potential"):
            self._draw()
        occupied = [one.energy_ev for one in orbitals if one.occupation > 0 and one.energy_ev is not None]
        empty = [one.energy_ev for one in orbitals if one.occupation == 0 and one.energy_ev is not None]
        homo, lumo = max(occupied, default=None), min(empty, default=None)
        places = mol.atom_coords() * param.BOHR
        result = WavefunctionResult(
            xyz=write_xyz([Atom(mol.atom_pure_symbol(i), *map(float, places[i])) for i in range(mol.natm)],
                          f"orbitals of {self.source.what}"),
            charge=int(mol.charge),
            multiplicity=int(mol.spin) + 1,
            homo_ev=homo,
            lumo_ev=lumo,
            gap_ev=lumo - homo if homo is not None and lumo is not None else None,
            orbitals=self._listed(orbitals),
            mulliken_charges=charges.get("mulliken"),
            loewdin_charges=charges.get("loewdin"),
            hirshfeld_charges=charges.get("hirshfeld"),
            engine="multiwfn",
            engine_version=self.driver.version,
            notes=tuple(self.notes),
        )  # fmt: skip
        write_tables(self.desk.folder, result)
        return result

    def _orbitals(self) -> list[Orbital]:
        script = Script(what="orbitals", keys=("8", "1", "a", "0", "-10", "q"), answer="Energy(a.u.)")
        output = self.driver.run(script)
        rows = read_orbitals(output)
        if len(rows) != sum(self.total):
            raise JobFailed(_mismatch(script, f"it listed {len(rows)} of {sum(self.total)} orbitals", output))
        with_energies = self.source.energies[0] is not None
        found = []
        for number, energy, occupation, _ in rows:
            which = int(len(self.total) == 2 and number > self.total[0])
            index = number - 1 - (self.total[0] if which else 0)
            found.append(
                Orbital(
                    number=index + 1,
                    name=name_of(index, self.occupied[which]),
                    spin=self.source.spins[which],
                    occupation=occupation,
                    energy_ev=energy * EV_PER_HARTREE if with_energies else None,
                )
            )
        return found

    def _listed(self, orbitals: Sequence[Orbital]) -> tuple[Orbital, ...]:
        """List the named ones, and those near the gap if orbitals themselves were asked for."""
        span = NEAR if self.job.wants("orbitals", "composition") else 0
        listed = []
        for one in orbitals:
            which = self.source.spins.index(one.spin)
            index = one.number - 1
            named = (which, index) in self.named.values()
            if named and self.job.wants("composition"):
                self.steps.begin(f"composition of {one.name}")
                listed.append(self._with_shares(one, which, index))
            elif named or -span <= index - self.occupied[which] < span:
                listed.append(one)
        return tuple(listed)

    def _with_shares(self, one: Orbital, which: int, index: int) -> Orbital:
        keys = ("8", "1", str(self.number(which, index)), "0", "-10", "q")
        script = Script(what=f"composition of {one.name}", keys=keys, answer="Composition of each atom:")
        output = self.driver.run(script)
        found = read_composition(output, self.source.mol.natm)
        if found is None:
            raise JobFailed(_mismatch(script, "the shares of the atoms are not all there", output))
        return one.model_copy(update={"atom_shares": found[0], "shell_shares": found[1]})

    def _charges(self, kind: str) -> tuple[float, ...]:
        script = population_script(kind)
        self.steps.begin(script.what)
        output = self.driver.run(script)
        charges = read_charges(output, kind, self.source.mol.natm)
        if charges is None:
            raise JobFailed(_mismatch(script, f"not one charge for each of {self.source.mol.natm} atoms", output))
        return charges

    def _draw(self) -> None:
        job = self.job
        grid = grid_around(self.source.mol.atom_coords(), job.spacing_angstrom, job.margin_angstrom)
        if job.wants("cubes", "pictures"):
            for name, (which, index) in self.named.items():
                self._cube(name, ("4", str(self.number(which, index))), grid, "MOvalue.cub")
                if job.wants("pictures") and (note := draw(self.desk, name, job.isovalue)):
                    self.notes.append(note)
        if job.wants("density"):
            self._cube("density", ("1",), grid, "density.cub")
        if job.wants("potential"):
            self._cube("potential", ("12",), grid, "totesp.cub")

    def _cube(self, what: str, function: Sequence[str], grid: Grid, file: str) -> None:
        script = grid_script(what, function, grid, file)
        self.steps.begin(script.what)
        output = self.driver.run(script)
        try:
            shape = read_cube(self.desk.folder / file)[2].shape
        except (ValueError, IndexError) as error:
            raise JobFailed(_mismatch(script, f"{file} cannot be read: {error}", output)) from error
        if shape != grid.shape:
            raise JobFailed(_mismatch(script, f"{file} has {shape} points instead of {grid.shape}", output))
        os.replace(self.desk.folder / file, self.desk.folder / cube_file(what))


def write_molden(path: Path, source: Source) -> None:
    """Write orbitals as a molden file that Multiwfn reads, whatever kind of file they came from."""
    with path.open("w") as stream:
        molden.header(source.mol, stream, ignore_h=False)
        for number, coefficients in enumerate(source.coefficients):
            energies = source.energies[number]
            settings: dict[str, Any] = {"occ": source.occupations[number], "ignore_h": False}
            if energies is not None:
                settings["ene"] = energies
            spin = "Beta" if number else "Alpha"
            molden.orbital_coeff(source.mol, stream, coefficients, spin=spin, **settings)


def calculate(job: AnalysisJob, desk: Desk) -> WavefunctionResult:
    """Do one job, and give what came out."""
    source = read_source(Path(job.source))
    write_molden(desk.folder / MOLDEN_FILE, source)
    return Analyst(job, source, desk).run()


def main() -> None:
    """Run the job that the command line names."""
    run_program("multiwfn", calculate, AnalysisJob)


if __name__ == "__main__":
    main()
