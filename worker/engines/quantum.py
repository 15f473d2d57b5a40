"""What the quantum-chemical engines share whose program is one of ours (``worker.programs``): job, marks, failures."""

from __future__ import annotations

import math
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import ClassVar

from pydantic import ValidationError

from tasks.elements import Atom, electron_count, parse_xyz
from tasks.errors import InputError
from tasks.methods import find_method
from tasks.results import Correction, Failure, Progress, QuantumResult
from tasks.specs import QuantumSpec, check_electrons
from worker.corrections.known import CORRECTIONS
from worker.engines.base import Bench, Collected, Command, Engine, Exit, Snapshot
from worker.engines.output import LOG_FILE, evidence, failure_from_log, last_line, tail
from worker.loading import check_trouble
from worker.programs import common
from worker.programs.common import QuantumJob, RestartPoint

#: closer than any two bonded atoms (H2 has 0.74 Å), in ångström
_TOO_CLOSE = 0.4


class OwnProgram(Engine[QuantumSpec]):
    """An engine whose program is ``worker.programs.<name>_job``."""

    #: Python packages that its program cannot do without
    packages: ClassVar[tuple[str, ...]] = ()
    #: files of a restart point, all of which must be there
    restart_files: ClassVar[tuple[str, ...]] = (common.RESTART_FILE,)
    #: files of a restart point that are not always there
    more_restart_files: ClassVar[tuple[str, ...]] = (common.HESSIAN_FILE,)
    #: files to keep besides log, geometry and (with frequencies) hessian, by role
    kept_files: ClassVar[dict[str, str]] = {}
    max_scf_cycles: ClassVar[int] = 100
    #: the program has nothing to save at SIGTERM, but may be within a library for a while
    stop_grace_seconds: ClassVar[float] = 30.0

    def trouble(self) -> str:
        """Say which packages are missing in this worker's own Python, or what the program cannot load."""
        if trouble := super().trouble():
            return trouble
        own = self.offer.command[:1] == (sys.executable,)
        missing = [name for name in self.packages if own and find_spec(name) is None]
        if missing:
            return f"{self.name}: not installed: {', '.join(missing)}; install simrelay[worker]"
        with tempfile.TemporaryDirectory() as folder:
            environment = {**self.offer.environment, **own_packages(), **self.environment(Path(folder))}
            return check_trouble((*self.offer.command, common.CHECK), environment)

    def prepare(self, bench: Bench[QuantumSpec]) -> Sequence[Command]:
        """Write ``job.json``, and the restart point if there is one."""
        job = self.job(bench)
        common.write_atomically(bench.scratch / common.JOB_FILE, job.model_dump_json(indent=1))
        if bench.restart and all((bench.restart / name).is_file() for name in self.restart_files):
            for name in (*self.restart_files, *self.more_restart_files):
                if (bench.restart / name).is_file():
                    shutil.copyfile(bench.restart / name, bench.scratch / name)
        for left in (common.RESULT_FILE, common.FAILURE_FILE, common.PROGRESS_FILE):
            # Of a run before a correction.
            (bench.scratch / left).unlink(missing_ok=True)
        environment = {
            **self.offer.environment,
            **thread_environment(bench.cores),
            **own_packages(),
            **self.environment(bench.scratch),
        }
        return (Command(argv=(*self.offer.command, common.JOB_FILE), environment=environment, output=LOG_FILE),)

    def environment(self, scratch: Path) -> dict[str, str]:
        """Give the variables that this program needs besides those for threads."""
        return {}

    def job(self, bench: Bench[QuantumSpec]) -> QuantumJob:
        """Give the calculation that a spec asks for, checked.

        A molecule without a charge is neutral if it was given as XYZ alone; a SMILES must have been resolved to
        coordinates, charge and multiplicity before.
        """
        spec = bench.spec
        method = find_method(spec.method)
        if self.name not in method.engines:
            raise InputError("method", spec.method, f"is not computed by {self.name}", f"Use {method.engines[0]}.")
        molecule = spec.molecule
        if not molecule.xyz:
            raise InputError(
                "molecule.xyz", molecule.xyz or "", "is missing", f"{self.name} needs coordinates: give an XYZ block."
            )
        if spec.charge is None and molecule.smiles:
            raise InputError("charge", None, "was not taken from the SMILES", "Give the total charge.")
        atoms = parse_xyz(molecule.xyz)
        check_distances(atoms)
        charge = spec.charge or 0
        multiplicity = spec.multiplicity or 1 + electron_count(atoms, charge) % 2
        check_electrons(molecule.xyz, charge, multiplicity)
        return QuantumJob(
            xyz=molecule.xyz,
            charge=charge,
            multiplicity=multiplicity,
            task=spec.task,
            method=spec.method,
            basis=spec.basis,
            solvent=spec.solvent,
            solvent_model=spec.solvent_model,
            dispersion=spec.dispersion,
            density_fitting=spec.density_fitting,
            temperature_kelvin=spec.temperature_kelvin,
            pressure_pascal=spec.pressure_pascal,
            memory_mb=bench.memory_mb,
            max_scf_cycles=bench.changed("max_scf_cycles", self.max_scf_cycles),
            level_shift_hartree=bench.changed("level_shift_hartree", 0.0),
            damping=bench.changed("damping", 0.0),
            second_order=bench.changed("second_order", False),
            memory_share=bench.changed("memory_share", 0.8),
            displacements=bench.changed("displacements", 0),
        )

    def progress(self, bench: Bench[QuantumSpec]) -> Progress | None:
        """Read ``progress.json``."""
        path = bench.scratch / common.PROGRESS_FILE
        return Progress.model_validate_json(path.read_bytes()) if path.exists() else None

    def snapshot(self, bench: Bench[QuantumSpec]) -> Snapshot | None:
        """Name the restart point; each of its files is replaced in one step, and any two of them fit together."""
        files = tuple(bench.scratch / name for name in self.restart_files)
        if not all(file.exists() for file in files):
            return None
        point = RestartPoint.model_validate_json((bench.scratch / common.RESTART_FILE).read_bytes())
        # Pieces of a Hessian say themselves which geometry they belong to.
        more = tuple(file for name in self.more_restart_files if (file := bench.scratch / name).exists())
        return Snapshot(files=(*files, *more), text=point.text)

    def ended_well(self, bench: Bench[QuantumSpec], exits: Sequence[Exit]) -> bool:
        """Look for the mark as the last line of the output, and for a complete result."""
        if last_line(bench.scratch / LOG_FILE) != common.ended_mark(self.name):
            return False
        return self._result(bench) is not None

    def diagnose(self, bench: Bench[QuantumSpec], exits: Sequence[Exit]) -> Failure:
        """Take the program's own reason, or what exit and output tell; final if its corrections are used up."""
        failure = self._diagnosis(bench, exits)
        tried = any(correction.name == failure.error_class for correction in bench.corrections)
        final = tried and self.correct(bench, failure) is None
        return failure.model_copy(update={"permanent": True}) if final else failure

    def _diagnosis(self, bench: Bench[QuantumSpec], exits: Sequence[Exit]) -> Failure:
        path = bench.scratch / common.FAILURE_FILE
        if path.exists():
            return Failure.model_validate_json(path.read_bytes())
        return unexplained(self.name, bench.scratch / LOG_FILE, exits)

    def collect(self, bench: Bench[QuantumSpec]) -> Collected:
        """Read ``result.json``, and name the files to keep."""
        result = self._result(bench)
        if result is None:
            raise FileNotFoundError(bench.scratch / common.RESULT_FILE)
        names = {"log": LOG_FILE, "geometry": common.GEOMETRY_FILE, **self.kept_files}
        if result.frequencies_per_cm:
            names["hessian"] = common.HESSIAN_FILE
        return Collected(result=result, files={role: bench.scratch / name for role, name in names.items()})

    def correct(self, bench: Bench[QuantumSpec], failure: Failure) -> Correction | None:
        """Look for the next correction of that failure; each failure has its own module in ``worker.corrections``."""
        find = CORRECTIONS.get(failure.error_class)
        return find(self.name, bench.corrections) if find else None

    def _result(self, bench: Bench[QuantumSpec]) -> QuantumResult | None:
        path = bench.scratch / common.RESULT_FILE
        try:
            return QuantumResult.model_validate_json(path.read_bytes())
        except (FileNotFoundError, ValidationError):
            return None


def unexplained(name: str, log: Path, exits: Sequence[Exit]) -> Failure:
    """Say why one of our programs failed that gave no reason itself: what exit and output tell."""
    if any(exit.code == common.EXIT_STOPPED for exit in exits) or last_line(log) == common.stopped_mark(name):
        return Failure(error_class="killed", message="The calculation was stopped by SIGTERM before its end.")
    if lines := [line for line in tail(log) if line.startswith(("ModuleNotFoundError", "ImportError"))]:
        return Failure(
            error_class="program_failed",
            message="The program could not be loaded on this host.",
            evidence=evidence(lines),
            remedy=f"Install what is missing, or detect the engines of this host anew ({name}).",
            before_start=True,
        )
    return failure_from_log(log, exits)


def thread_environment(cores: int) -> dict[str, str]:
    """Give the variables that hold numerical libraries to that many threads."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    return {**dict.fromkeys(names, str(cores)), "OMP_DYNAMIC": "FALSE"}


def own_command(name: str) -> tuple[str, ...]:
    """Give the command of one of our programs; ``-P`` keeps files in scratch from being imported."""
    return (sys.executable, "-P", "-m", f"worker.programs.{name}_job")


def own_packages() -> dict[str, str]:
    """Give the variable by which our own programs find their packages."""
    # The program must be of the same code as this worker, also where Simrelay runs from a checkout.
    root = str(Path(common.__file__).parents[2])
    return {"PYTHONPATH": os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))}


def installed_version(package: str, distribution: str = "") -> str | None:
    """Give the version of a Python package without importing it; None if it is not there."""
    if find_spec(package) is None:
        return None
    try:
        return version(distribution or package)
    except PackageNotFoundError:
        return None


def empty_file(path: Path) -> str:
    """Create an empty file for a program that would otherwise read the user's own settings."""
    path.touch()
    return os.fspath(path)


def check_distances(atoms: Sequence[Atom]) -> None:
    """Raise InputError if two atoms are closer than any bond."""
    for (i, a), (j, b) in combinations(enumerate(atoms, 1), 2):
        distance = math.dist(a[1:], b[1:])
        if distance < _TOO_CLOSE:
            pair = f"atoms {i} ({a.symbol}) and {j} ({b.symbol})"
            remedy = "Coordinates are in ångström: check the unit, and whether an atom is there twice."
            raise InputError("molecule.xyz", pair, f"are only {distance:.2f} Å apart", remedy)
