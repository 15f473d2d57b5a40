"""ORCA 5 and 6: Hartree-Fock and density functional theory with solvent, dispersion, frequencies; under its own MPI."""

from __future__ import annotations

import math
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from tasks.elements import Atom, parse_xyz, write_xyz
from tasks.methods import ABILITIES
from tasks.results import Correction, Failure, Progress, QuantumResult
from tasks.specs import QuantumSpec
from worker.corrections import fewer_processes, mpi_start
from worker.corrections.known import CORRECTIONS
from worker.corrections.ladder import tried
from worker.engines import orca_input as inputs
from worker.engines import orca_restart as restarts
from worker.engines.base import Bench, Collected, Command, Engine, Exit, Offer, Parsed, Snapshot
from worker.engines.orca_failure import (
    imaginary_failure,
    imaginary_modes,
    needed_mb,
    told_failure,
)
from worker.engines.orca_output import OrcaOutput, read_output
from worker.engines.orca_progress import read_progress
from worker.engines.output import LOG_FILE, failure_from_log, tail
from worker.engines.quantum import check_distances
from worker.programs.common import write_atomically

_INPUT = f"{inputs.JOB}.inp"
_GEOMETRY = "geometry.xyz"
#: programs that stand beside ORCA's ``orca``; the screen reader of the same name has none of them
_BESIDE = ("orca_scf", "orca_leanscf", "orca_startup", "orca_main", "orca_gtoint")
_VERSION = re.compile(r"orca[-_]?v?(\d+)[._-](\d+)(?:[._-](\d+))?", re.IGNORECASE)
#: how far the atom that moves most is moved along an imaginary mode
_OFF_A_SADDLE_POINT_ANGSTROM = 0.15
#: without analytical second derivatives in ORCA 5: meta-GGA functionals, and SMD
_NUMERICAL_IN_5 = frozenset({"TPSS", "M06-2X", "r2SCAN"})


class Orca(Engine[QuantumSpec]):
    """ORCA by its full path, which starts its parallel processes itself.

    Its restart point is what ORCA keeps anyway: the orbitals after each SCF cycle (``job.gbw``), and the newest
    geometry of an optimisation (``job.xyz``). A new run reads the orbitals under another name.
    """

    name: ClassVar[str] = "orca"
    needs: ClassVar[str] = "ORCA 5 or 6 on PATH or in /opt, with the Open MPI that it was built for"
    #: ORCA writes nothing at SIGTERM, and ends at once: its orbitals and geometry are already there
    stop_grace_seconds: ClassVar[float] = 10.0

    @classmethod
    def detect(cls) -> Offer | None:
        """Look for ORCA on the PATH, then in ``/opt``; the version is that in the name of its folder."""
        program = next((path for path in _candidates() if _is_orca(path)), None)
        if program is None:
            return None
        found = _VERSION.search(str(program.parent))
        launcher = shutil.which("mpirun")
        mpi = (Path(launcher).parent,) if launcher else ()
        path = os.pathsep.join(dict.fromkeys(map(str, (program.parent, *mpi, "/usr/bin", "/bin"))))
        libraries = os.environ.get("LD_LIBRARY_PATH")
        environment = {"PATH": path} | ({"LD_LIBRARY_PATH": libraries} if libraries else {})
        return Offer(
            engine=cls.name,
            version=".".join(filter(None, found.groups())) if found else "",
            command=(str(program),),
            tasks=tuple(sorted(ABILITIES[cls.name].tasks)),
            environment=environment,
        )

    @classmethod
    def parse(cls, path: Path) -> Parsed:
        """Read an output that was computed anywhere."""
        out = read_output(path)
        failure = told_failure(out, tail(path))
        complete = out.terminated and out.result() is not None and not failure
        return Parsed(
            state="failed" if failure else "done" if complete else "unfinished",
            version=out.version,
            result=out.result(),
            failure=failure,
        )

    def trouble(self) -> str:
        """Say what of ORCA, or of the MPI that it starts its processes with, is not there."""
        program = Path(self.offer.command[0]) if self.offer.command else Path("orca")
        if not program.is_absolute():
            return f"engines.orca.command: {program} is not a full path, and ORCA in parallel needs its own"
        if not os.access(program, os.X_OK):
            return f"{program} is not there"
        if not shutil.which("mpirun", path=self._environment()["PATH"]):
            return "mpirun is on none of the folders of PATH in engines.orca.environment: parallel ORCA cannot start"
        return ""

    def prepare(self, bench: Bench[QuantumSpec]) -> Sequence[Command]:
        """Write ``job.inp``, with the newest geometry and orbitals if there are any."""
        spec = bench.spec
        inputs.check(spec)
        atoms = parse_xyz(spec.molecule.xyz or "")
        check_distances(atoms)
        for left in bench.scratch.glob(f"{inputs.JOB}[._]*"):
            # What an earlier run in this folder left, whose orbitals ORCA would take for the new run's.
            left.unlink()
        orbitals = False
        if bench.restart:
            if inputs.optimises(spec):
                atoms = restarts.read_geometry(bench.restart / restarts.GEOMETRY, atoms) or atoms
                atoms = self._off_the_saddle(bench, bench.restart, atoms)
            kept = bench.restart / restarts.ORBITALS
            orbitals = kept.is_file() and bench.changed("restart_orbitals", True)
            if orbitals:
                shutil.copyfile(kept, bench.scratch / inputs.RESTART_ORBITALS)
        settings = self._settings(bench)
        xyz = write_xyz(atoms, "to begin with")
        text = inputs.write_input(spec, settings, memory_mb=bench.memory_mb, xyz=xyz, orbitals=orbitals)
        write_atomically(bench.scratch / _INPUT, text)
        environment = self._environment(lenient=bench.changed("oversubscribe", False))
        return (Command(argv=(*self.offer.command, _INPUT), environment=environment, output=LOG_FILE),)

    def progress(self, bench: Bench[QuantumSpec]) -> Progress | None:
        """Read the newest cycle or step at the end of the output."""
        return read_progress(tail(bench.scratch / LOG_FILE, 262_144), optimises=inputs.optimises(bench.spec))

    def snapshot(self, bench: Bench[QuantumSpec]) -> Snapshot | None:
        """Name orbitals, and geometry and Hessian if whole; none before the first cycle, when they hold nothing."""
        progress = self.progress(bench)
        orbitals = bench.scratch / restarts.ORBITALS
        if progress is None or not orbitals.is_file() or not orbitals.stat().st_size:
            return None
        files = [orbitals]
        atoms = parse_xyz(bench.spec.molecule.xyz or "")
        if inputs.optimises(bench.spec):
            if restarts.read_geometry(bench.scratch / restarts.GEOMETRY, atoms):
                files.append(bench.scratch / restarts.GEOMETRY)
            elif (progress.step or 0) > 1:
                # Being written just now: without it, all steps so far would be lost.
                return None
            if restarts.is_whole_hessian(bench.scratch / restarts.HESSIAN):
                files.append(bench.scratch / restarts.HESSIAN)
        return Snapshot(files=tuple(files), text=f"after {progress.text.partition(', -')[0]}")

    def ended_well(self, bench: Bench[QuantumSpec], exits: Sequence[Exit]) -> bool:
        """Look for ORCA's mark, for convergence, and for all that was asked for; no mark of a failure may be there."""
        out = self._read(bench)
        return out is not None and self._whole(bench.spec, out) and not self._saddle(bench.spec, out)

    def diagnose(self, bench: Bench[QuantumSpec], exits: Sequence[Exit]) -> Failure:
        """Take what ORCA and its MPI say; else what exit and output tell."""
        out = self._read(bench)
        log = bench.scratch / LOG_FILE
        if out is None:
            return failure_from_log(log, exits)
        if self._whole(bench.spec, out):
            return imaginary_failure(imaginary_modes(out))
        failure = told_failure(out, tail(log)) or failure_from_log(log, exits)
        if failure.error_class == mpi_start.NAME and tried(bench.corrections, mpi_start.NAME) >= mpi_start.CAP:
            return failure.model_copy(update={"before_start": True})
        return failure

    def correct(self, bench: Bench[QuantumSpec], failure: Failure) -> Correction | None:
        """Go through the known ways past a failure, each with its cap."""
        made, processes = bench.corrections, bench.changed("processes", bench.cores)
        match failure.error_class:
            case fewer_processes.NAME:
                usable, needed = inputs.MEMORY_SHARE * bench.memory_mb, needed_mb(failure.evidence)
                return fewer_processes.correct(made, processes=processes, usable_mb=usable, needed_mb=needed)
            case mpi_start.NAME:
                return mpi_start.correct(made, processes=processes)
            case known if known in CORRECTIONS:
                return CORRECTIONS[known](self.name, made)
            case _:
                return None

    def collect(self, bench: Bench[QuantumSpec]) -> Collected:
        """Read the output, and name the files to keep: no scratch file of ORCA's is among them."""
        out = self._read(bench)
        result = out.result() if out else None
        if result is None:
            raise FileNotFoundError(bench.scratch / LOG_FILE)
        result = self._of_spec(bench.spec, result.model_copy(update={"xyz": self._exact_geometry(bench, result)}))
        write_atomically(bench.scratch / _GEOMETRY, result.xyz or "")
        names = {
            "log": LOG_FILE,
            "input": _INPUT,
            "geometry": _GEOMETRY,
            "orbitals": restarts.ORBITALS,
            "hessian": restarts.HESSIAN,
        }
        files = {role: bench.scratch / name for role, name in names.items()}
        there = {role: path for role, path in files.items() if path.is_file() and path.stat().st_size}
        return Collected(result=result, files=there)

    @staticmethod
    def _exact_geometry(bench: Bench[QuantumSpec], result: QuantumResult) -> str | None:
        """Give the geometry of the output with all decimals, which ORCA keeps beside it if it is the same one."""
        if not result.xyz:
            return None
        shown = parse_xyz(result.xyz)
        exact = restarts.read_geometry(bench.scratch / restarts.GEOMETRY, shown)
        # The output rounds to six decimals.
        same = exact and all(math.dist(a[1:], b[1:]) < 2e-6 for a, b in zip(exact, shown, strict=True))
        return write_xyz(exact, result.xyz.splitlines()[1]) if exact and same else result.xyz

    @staticmethod
    def _of_spec(spec: QuantumSpec, result: QuantumResult) -> QuantumResult:
        """Say in the spec's words what ORCA prints rounded or in words of its own."""
        _, multiplicity = inputs.check(spec)
        update: dict[str, object] = {"level": inputs.level_of(spec, multiplicity)}
        if result.gibbs_energy_hartree is not None:
            update |= {"temperature_kelvin": spec.temperature_kelvin, "pressure_pascal": spec.pressure_pascal}
        return result.model_copy(update=update)

    @staticmethod
    def _read(bench: Bench[QuantumSpec]) -> OrcaOutput | None:
        log = bench.scratch / LOG_FILE
        return read_output(log) if log.is_file() else None

    @staticmethod
    def _whole(spec: QuantumSpec, out: OrcaOutput) -> bool:
        """Tell whether an output holds all that a spec asks for, and no mark of a failure."""
        if not out.terminated or out.marks or out.unconverged or out.step.energy_hartree is None:
            return False
        if inputs.optimises(spec) and not out.optimised:
            return False
        vibrates = inputs.has_frequencies(spec) and len(parse_xyz(spec.molecule.xyz or "")) > 1
        return not vibrates or (out.step.frequencies_per_cm is not None and bool(out.step.thermochemistry))

    @staticmethod
    def _saddle(spec: QuantumSpec, out: OrcaOutput) -> bool:
        return inputs.optimises(spec) and bool(imaginary_modes(out))

    @staticmethod
    def _off_the_saddle(bench: Bench[QuantumSpec], restart: Path, atoms: list[Atom]) -> list[Atom]:
        """Displace a geometry whose Hessian has an imaginary mode, if that is the correction under way."""
        times = bench.changed("displacements", 0)
        hessian = restarts.read_hessian(restart / restarts.HESSIAN)
        if not times or hessian is None:
            return atoms
        lowest = min(range(len(hessian.modes)), key=lambda i: hessian.frequencies_per_cm[i])
        if hessian.frequencies_per_cm[lowest] >= 0:
            return atoms
        # By turns to the one side and farther to the other, as the programs of the other engines do it.
        amplitude = _OFF_A_SADDLE_POINT_ANGSTROM * times * (1 if times % 2 else -1)
        return restarts.displaced(atoms, hessian.modes[lowest], amplitude)

    def _settings(self, bench: Bench[QuantumSpec]) -> inputs.Settings:
        in_5 = self.offer.version.startswith("5")
        numerical = in_5 and (bench.spec.method in _NUMERICAL_IN_5 or bench.spec.solvent_model == "SMD")
        return inputs.Settings(
            processes=bench.changed("processes", bench.cores),
            scf=bench.changed("scf", ""),
            max_scf_cycles=bench.changed("max_scf_cycles", inputs.MAX_SCF_CYCLES),
            # Two rounds of guessed curvature did not lead there: the third begins with a computed one.
            calculate_hessian=bench.changed("continuations", 0) > 1,
            numerical_frequencies=bench.changed("numerical_frequencies", numerical),
        )

    def _environment(self, *, lenient: bool = False) -> dict[str, str]:
        """Give ORCA's variables: its folder on the PATH, and ranks that are not bound to the first cores.

        Several jobs run on one host, each with an MPI that knows nothing of the others: bound, all would share the
        first cores.
        """
        folder = str(Path(self.offer.command[0]).parent) if self.offer.command else ""
        own = {
            "OMP_NUM_THREADS": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none",
            "PRTE_MCA_hwloc_default_binding_policy": "none",
            **({"OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
               if lenient else {}),
            **self.offer.environment,
        }  # fmt: skip
        path = own.get("PATH") or os.environ.get("PATH", os.defpath)
        return {**own, "PATH": os.pathsep.join(dict.fromkeys([folder, *path.split(os.pathsep)]))}


def _candidates() -> Iterator[Path]:
    if on_path := shutil.which("orca"):
        yield Path(on_path).resolve()
    for folder in sorted(Path("/opt").glob("orca*"), reverse=True):
        yield folder / "orca"


def _is_orca(path: Path) -> bool:
    return os.access(path, os.X_OK) and any((path.parent / name).exists() for name in _BESIDE)
