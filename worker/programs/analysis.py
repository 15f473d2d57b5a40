"""One analysis of orbitals as ``job.json`` holds it, and what every program that does one shares."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from tasks.elements import parse_xyz
from tasks.results import Failure, Orbital, Progress, WavefunctionResult
from tasks.wavefunctions import Analysis, file_stem
from worker.programs.common import Desk, JobFailed, write_atomically
from worker.programs.cubes import read_cube
from worker.programs.orbital_picture import render

SOURCE_FILE = "source"
CHARGES_FILE = "charges.csv"
ORBITALS_FILE = "orbitals.csv"
#: orbitals on either side of the gap that a result lists besides the named ones
NEAR = 10


class AnalysisJob(BaseModel):
    """An analysis with nothing left to choose."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    #: path of the file of orbitals
    source: str
    analyses: tuple[Analysis, ...]
    orbitals: tuple[str, ...]
    spacing_angstrom: float
    margin_angstrom: float
    isovalue: float
    cores: int
    #: the program that is driven, with its fixed arguments; empty: none
    command: tuple[str, ...] = ()

    def wants(self, *analyses: Analysis) -> bool:
        """Tell whether any of these is asked for."""
        return bool(set(analyses) & set(self.analyses))


class Steps:
    """Counts what an analysis has done, for its progress."""

    def __init__(self, desk: Desk, total: int) -> None:
        self.desk, self.total, self.done = desk, total, 0

    def begin(self, text: str) -> None:
        """Say what is done next."""
        self.done += 1
        progress = Progress(text=f"{text} ({self.done} of {self.total})", stage="analysis", step=self.done)
        self.desk.progress(progress.model_copy(update={"total": self.total}))


def place_of(name: str, occupied: Sequence[int], total: Sequence[int]) -> tuple[int, int]:
    """Find a named orbital.

    Parameters
    ----------
    name
        As in the spec: ``HOMO-1``, ``LUMO beta``, ``12``.
    occupied, total
        How many orbitals of each set (one, or alpha and beta) hold electrons, and how many there are.

    Returns
    -------
    set, index
        Both from 0.

    Raises
    ------
    JobFailed
        With class ``bad_input`` if there is no such orbital.
    """
    label, _, spin = name.partition(" ")
    which = 1 if spin == "beta" else 0
    problem = ""
    index = -1
    if spin and len(total) == 1:
        problem = "names a spin, but the shell is closed"
    else:
        match = re.fullmatch(r"(HOMO|LUMO)(?:[-+](\d+))?", label)
        if match:
            steps = int(match[2] or 0)
            index = occupied[which] - 1 - steps if match[1] == "HOMO" else occupied[which] + steps
        else:
            index = int(label) - 1
        if not 0 <= index < total[which]:
            problem = f"is not among the {total[which]} orbitals, of which {occupied[which]} are occupied"
    if problem:
        failure = Failure(
            error_class="bad_input",
            message=f"orbitals: {name!r} {problem}.",
            remedy="Name others, or take a larger basis set.",
            permanent=True,
        )
        raise JobFailed(failure)
    return which, index


def name_of(index: int, occupied: int) -> str:
    """Give the name of an orbital by its distance from the gap."""
    steps = occupied - 1 - index
    if steps >= 0:
        return f"HOMO-{steps}" if steps else "HOMO"
    return f"LUMO+{-steps - 1}" if steps < -1 else "LUMO"


def cube_file(what: str) -> str:
    """Give the name of the cube file of an orbital, ``density`` or ``potential``."""
    return f"{file_stem(what)}.cube"


def picture_file(orbital: str) -> str:
    """Give the name of an orbital's picture."""
    return f"{file_stem(orbital)}.png"


def draw(desk: Desk, orbital: str, isovalue: float) -> str:
    """Draw an orbital from its cube file; give a note if there is something to say."""
    numbers, coordinates, grid, values = read_cube(desk.folder / cube_file(orbital))
    picture = render(numbers, coordinates, grid, values, isovalue)
    temporary = desk.folder / ".picture.new"
    temporary.write_bytes(picture)
    temporary.replace(desk.folder / picture_file(orbital))
    largest = float(abs(values).max())
    if largest < isovalue:
        return f"{orbital} is {largest:.3f} at most: its picture has no surface at the isovalue {isovalue:g}."
    faces = (values[0], values[-1], values[:, 0], values[:, -1], values[:, :, 0], values[:, :, -1])
    if any(float(abs(face).max()) >= isovalue for face in faces):
        return f"The surface of {orbital} at {isovalue:g} is cut by the edge of its cube: raise margin_angstrom."
    return ""


def _written(rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def write_tables(folder: Path, result: WavefunctionResult) -> None:
    """Write charges and orbitals as CSV, as far as they were asked for."""
    atoms = parse_xyz(result.xyz)
    kinds = {
        "mulliken_e": result.mulliken_charges,
        "loewdin_e": result.loewdin_charges,
        "hirshfeld_e": result.hirshfeld_charges,
    }
    present = {name: values for name, values in kinds.items() if values is not None}
    if present:
        rows: list[Sequence[Any]] = [("atom", "element", *present)]
        rows += [
            (i + 1, atom.symbol, *(f"{values[i]:.6f}" for values in present.values())) for i, atom in enumerate(atoms)
        ]
        write_atomically(folder / CHARGES_FILE, _written(rows))
    if result.orbitals:
        shells = sorted({s for one in result.orbitals for s in one.shell_shares or {}}, key="spdfghi".index)
        with_shares = any(one.atom_shares for one in result.orbitals)
        shares = [f"share_{i + 1}_{a.symbol}" for i, a in enumerate(atoms)] if with_shares else []
        rows = [("number", "name", "spin", "occupation", "energy_ev", *(f"share_{s}" for s in shells), *shares)]
        rows += [_orbital_row(one, shells, len(shares)) for one in result.orbitals]
        write_atomically(folder / ORBITALS_FILE, _written(rows))


def _orbital_row(one: Orbital, shells: Sequence[str], atoms: int) -> tuple[object, ...]:
    by_shell = [f"{one.shell_shares[s]:.6f}" if one.shell_shares and s in one.shell_shares else "" for s in shells]
    by_atom = [f"{share:.6f}" for share in one.atom_shares] if one.atom_shares else [""] * atoms
    energy = "" if one.energy_ev is None else f"{one.energy_ev:.6f}"
    return (one.number, one.name, one.spin, f"{one.occupation:g}", energy, *by_shell, *by_atom)
