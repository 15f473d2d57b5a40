"""What our own programs share: the job file, progress, restart points, the result, the marks, and stopping on SIGTERM.

A file that another process reads is written to a temporary name and renamed, so a half-written one is never seen, at
whatever moment the program is killed. Nothing has to be saved when SIGTERM comes: the newest restart point is already
in place.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from pydantic import BaseModel, ConfigDict, ValidationError

from tasks.elements import Atom, parse_xyz, write_xyz
from tasks.quantum import Task
from tasks.results import Failure, Progress, Value

#: in place of a job: end well, since all that the program needs could be loaded
CHECK = "--check"
JOB_FILE = "job.json"
PROGRESS_FILE = "progress.json"
RESULT_FILE = "result.json"
FAILURE_FILE = "failure.json"
RESTART_FILE = "restart.json"
GEOMETRY_FILE = "geometry.xyz"
HESSIAN_FILE = "hessian.npz"

#: the program gave up with a reason, which stands in ``failure.json``
EXIT_FAILED = 3
#: the program was stopped by SIGTERM and can go on from its restart point (EX_TEMPFAIL of sysexits.h)
EXIT_STOPPED = 75

# CODATA 2018.
EV_PER_HARTREE = 27.211386245988
DEBYE_PER_E_BOHR = 2.541746473


def ended_mark(program: str) -> str:
    """Give the line that ends the output of a program that reached its goal."""
    return f"SIMRELAY {program.upper()} ENDED NORMALLY"


def stopped_mark(program: str) -> str:
    """Give the line that ends the output of a program that SIGTERM stopped."""
    return f"SIMRELAY {program.upper()} STOPPED BY SIGTERM"


class JobFailed(Exception):
    """The calculation cannot reach its goal, and the failure says why."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.message)


class QuantumJob(BaseModel):
    """One quantum-chemical calculation with nothing left to choose, as ``job.json`` holds it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    #: the molecule, coordinates in ångström
    xyz: str
    charge: int
    multiplicity: int
    task: Task
    method: str
    basis: str | None = None
    solvent: str | None = None
    solvent_model: str | None = None
    dispersion: str | None = None
    density_fitting: bool = True
    temperature_kelvin: float = 298.15
    pressure_pascal: float = 101_325.0
    memory_mb: int
    max_scf_cycles: int = 100
    max_optimisation_steps: int = 200
    #: what corrections change; none of it changes the physics
    level_shift_hartree: float = 0.0
    damping: float = 0.0
    second_order: bool = False
    memory_share: float = 0.8
    #: how often the geometry may be moved off a saddle point, along its imaginary mode
    displacements: int = 0

    @property
    def atoms(self) -> list[Atom]:
        """The atoms at the beginning."""
        return parse_xyz(self.xyz)

    @property
    def optimises(self) -> bool:
        """Whether the geometry is relaxed first; a single atom has nothing to relax."""
        return self.task in ("optimisation", "optimisation_frequencies") and len(self.atoms) > 1

    @property
    def vibrates(self) -> bool:
        """Whether frequencies are computed."""
        return self.task in ("frequencies", "optimisation_frequencies")


class RestartPoint(BaseModel):
    """Where a calculation can go on, as ``restart.json`` holds it."""

    #: what it holds, for people
    text: str
    #: done in all attempts up to here; the result counts those of its own attempt
    scf_cycles: int = 0
    optimisation_steps: int = 0
    #: the geometry is relaxed, and what is left to do are the frequencies there
    relaxed: bool = False
    #: how often the geometry was moved off a saddle point
    displacements: int = 0
    #: the newest geometry, XYZ in ångström
    xyz: str

    def fits(self, atoms: list[Atom]) -> bool:
        """Tell whether it belongs to a molecule of these atoms."""
        return [atom.symbol for atom in parse_xyz(self.xyz)] == [atom.symbol for atom in atoms]


def write_atomically(path: Path, text: str) -> None:
    """Replace the file at ``path`` in one step."""
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def write_json(path: Path, values: Mapping[str, object]) -> None:
    """Replace the JSON file at ``path`` in one step."""
    write_atomically(path, json.dumps(values, indent=1, ensure_ascii=False))


def say(text: str) -> None:
    """Write a line to the output that people read."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Desk:
    """The folder of one program, with all that it writes for the engine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def progress(self, progress: Progress) -> None:
        """Say how far the program is."""
        write_atomically(self.folder / PROGRESS_FILE, progress.model_dump_json())

    def restart_point(self, point: RestartPoint) -> None:
        """Make ``point`` the one that a later attempt goes on from."""
        write_atomically(self.folder / RESTART_FILE, point.model_dump_json())

    def earlier(self, atoms: list[Atom]) -> RestartPoint | None:
        """Read the restart point that an earlier attempt left; None if there is none that fits these atoms."""
        path = self.folder / RESTART_FILE
        if not path.exists():
            return None
        try:
            point = RestartPoint.model_validate_json(path.read_bytes())
        except ValidationError:
            say(f"{RESTART_FILE} cannot be read: the calculation begins from the beginning.")
            return None
        if not point.fits(atoms):
            say(f"{RESTART_FILE} is of another molecule: the calculation begins from the beginning.")
            return None
        say(f"RESTARTED {point.text} of an earlier attempt.")
        return point

    def geometry(self, atoms: list[Atom], comment: str) -> str:
        """Write the newest geometry for people, and give its XYZ text."""
        text = write_xyz(atoms, comment)
        write_atomically(self.folder / GEOMETRY_FILE, text)
        return text

    def result(self, result: Value) -> None:
        """Write what came out."""
        write_atomically(self.folder / RESULT_FILE, result.model_dump_json())

    def failure(self, failure: Failure) -> None:
        """Write why nothing came out."""
        write_atomically(self.folder / FAILURE_FILE, failure.model_dump_json())


def _stop_on_sigterm(program: str) -> None:
    def stop(_signal: int, _frame: FrameType | None) -> NoReturn:
        # No exception and no buffered write: libraries on the stack swallow exceptions, and a buffer may be in use.
        os.write(1, f"\n{stopped_mark(program)}\n".encode())
        os._exit(EXIT_STOPPED)

    signal.signal(signal.SIGTERM, stop)


def run_program(
    program: str, calculate: Callable[[Any, Desk], Value], job_type: type[BaseModel] = QuantumJob
) -> NoReturn:
    """Run one calculation, from the job file named on the command line to the mark, and end the process.

    Parameters
    ----------
    program
        Name that stands in the marks.
    calculate
        Does the work; raises JobFailed with the reason if it cannot. An exception of any other kind ends the program
        with its traceback in the output.
    job_type
        What the job file holds.
    """
    _stop_on_sigterm(program)
    if sys.argv[1:] == [CHECK]:
        sys.exit(0)
    if len(sys.argv) != 2:
        sys.exit(f"usage: python -m worker.programs.{program}_job {JOB_FILE}")
    path = Path(sys.argv[1]).resolve()
    desk = Desk(path.parent)
    try:
        result = calculate(job_type.model_validate_json(path.read_bytes()), desk)
    except JobFailed as failed:
        _give_up(program, desk, failed.failure)
    except MemoryError as error:
        _give_up(program, desk, out_of_memory(str(error)))
    desk.result(result)
    say(ended_mark(program))
    # Nothing may be written after the mark, neither by exit handlers nor by destructors.
    sys.stderr.flush()
    os._exit(0)


def out_of_memory(evidence: str) -> Failure:
    """Give the failure of a calculation that wanted more memory than it was given."""
    return Failure(
        error_class="out_of_memory",
        message="The calculation needs more memory than it was given.",
        evidence=(evidence,) if evidence else (),
        remedy="Raise resources.memory, or take a smaller basis set.",
    )


def _give_up(program: str, desk: Desk, failure: Failure) -> NoReturn:
    desk.failure(failure)
    say(f"SIMRELAY {program.upper()} FAILED ({failure.error_class}): {failure.message}")
    sys.exit(EXIT_FAILED)
