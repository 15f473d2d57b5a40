"""Wavefunction analysis: our own engine on PySCF, and what it shares with the one that drives Multiwfn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import ValidationError

from tasks.results import Failure, Progress, WavefunctionResult
from tasks.wavefunctions import SOURCE, WavefunctionSpec
from worker.engines.base import Bench, Collected, Command, Engine, Exit, Offer, Snapshot
from worker.engines.output import LOG_FILE, last_line
from worker.engines.quantum import (
    empty_file,
    installed_version,
    own_command,
    own_packages,
    thread_environment,
    unexplained,
)
from worker.loading import check_trouble
from worker.programs import common

# The modules of the programs load NumPy and PySCF; only names are needed here.
CHARGES_FILE, ORBITALS_FILE = "charges.csv", "orbitals.csv"


class Analysis(Engine[WavefunctionSpec]):
    """An engine whose program is ``worker.programs.<name>_job`` and does one analysis.

    It writes no restart points: an analysis takes seconds to minutes, begins again from the beginning wherever it was
    killed, and gives the same files.
    """

    stop_grace_seconds: ClassVar[float] = 5.0

    def prepare(self, bench: Bench[WavefunctionSpec]) -> Sequence[Command]:
        """Write ``job.json``."""
        spec = bench.spec
        if bench.inputs is None:
            raise FileNotFoundError(2, "the file of orbitals was not fetched", SOURCE)
        job = {
            "source": str(bench.inputs / SOURCE),
            "analyses": spec.analyses,
            "orbitals": spec.orbitals,
            "spacing_angstrom": spec.spacing_angstrom,
            "margin_angstrom": spec.margin_angstrom,
            "isovalue": spec.isovalue,
            "cores": bench.cores,
            "command": self.driven(),
        }
        common.write_json(bench.scratch / common.JOB_FILE, job)
        environment = {
            **self.offer.environment,
            **thread_environment(bench.cores),
            **own_packages(),
            "PYSCF_TMPDIR": str(bench.scratch),
            "PYSCF_CONFIG_FILE": empty_file(bench.scratch / "pyscf_conf.py"),
        }
        command = Command(argv=(*self.program(), common.JOB_FILE), environment=environment, output=LOG_FILE)
        return (command,)

    def trouble(self) -> str:
        """Have our program load all that it needs, and say what is wrong with it."""
        return check_trouble((*self.program(), common.CHECK), {**self.offer.environment, **own_packages()})

    def program(self) -> tuple[str, ...]:
        """Give our program with its arguments."""
        return self.offer.command

    def driven(self) -> tuple[str, ...]:
        """Give the program that ours drives; empty: none."""
        return ()

    def progress(self, bench: Bench[WavefunctionSpec]) -> Progress | None:
        """Read ``progress.json``."""
        path = bench.scratch / common.PROGRESS_FILE
        return Progress.model_validate_json(path.read_bytes()) if path.exists() else None

    def snapshot(self, bench: Bench[WavefunctionSpec]) -> Snapshot | None:
        """Give none: an analysis begins again from the beginning."""
        return None

    def ended_well(self, bench: Bench[WavefunctionSpec], exits: Sequence[Exit]) -> bool:
        """Look for the mark as the last line of the output, a complete result, and all files that were asked for."""
        if last_line(bench.scratch / LOG_FILE) != common.ended_mark(self.name) or self._result(bench) is None:
            return False
        return all(path.is_file() for path in self._files(bench).values())

    def diagnose(self, bench: Bench[WavefunctionSpec], exits: Sequence[Exit]) -> Failure:
        """Take the program's own reason; without one, what exit and output tell."""
        path = bench.scratch / common.FAILURE_FILE
        if path.exists():
            return Failure.model_validate_json(path.read_bytes())
        return unexplained(self.name, bench.scratch / LOG_FILE, exits)

    def collect(self, bench: Bench[WavefunctionSpec]) -> Collected:
        """Read ``result.json``, and name the files to keep."""
        result = self._result(bench)
        if result is None:
            raise FileNotFoundError(2, "no result was written", str(bench.scratch / common.RESULT_FILE))
        return Collected(result=result, files=self._files(bench))

    def _result(self, bench: Bench[WavefunctionSpec]) -> WavefunctionResult | None:
        try:
            return WavefunctionResult.model_validate_json((bench.scratch / common.RESULT_FILE).read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def _files(self, bench: Bench[WavefunctionSpec]) -> dict[str, Path]:
        """Name all files that the spec asks for, by role: ``cube.LUMO``, ``picture.HOMO-1``, ``charges``, …"""
        spec, scratch = bench.spec, bench.scratch
        wants = set(spec.analyses)
        files = {"log": scratch / LOG_FILE}
        if wants & {"mulliken", "loewdin", "hirshfeld"}:
            files["charges"] = scratch / CHARGES_FILE
        if wants & {"orbitals", "composition"}:
            files["orbital_table"] = scratch / ORBITALS_FILE
        files |= {role: scratch / name for role, name in spec.files().items()}
        return files


class Wavefunction(Analysis):
    """Analyses by PySCF and iodata (``worker.programs.wavefunction_job``)."""

    name: ClassVar[str] = "wavefunction"
    needs: ClassVar[str] = "pip install 'simrelay[worker]'"

    @classmethod
    def detect(cls) -> Offer | None:
        """Look for the packages ``pyscf`` and ``qc-iodata``."""
        version = installed_version("pyscf")
        if version is None or installed_version("iodata", "qc-iodata") is None:
            return None
        return Offer(engine=cls.name, version=version, command=own_command(cls.name), tasks=("analysis",))
