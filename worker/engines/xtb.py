"""GFN2-xTB and GFN1-xTB by tblite, in the program ``worker.programs.xtb_job``."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from tasks.errors import InputError
from tasks.specs import QuantumSpec
from worker.engines.base import Bench, Offer
from worker.engines.openmp import has_system_openmp, installed_openmp, openmp_environment
from worker.engines.quantum import OwnProgram, installed_version, own_command
from worker.programs.common import QuantumJob

#: solvents that ALPB was fitted for, of those that Simrelay knows (tblite 0.8)
ALPB_SOLVENTS = frozenset(
    "water methanol ethanol acetonitrile dmso dmf acetone dichloromethane thf toluene hexane".split()
)


class XTB(OwnProgram):
    """Single points, optimisations and frequencies by tblite; restarted from the last geometry or displacement."""

    name: ClassVar[str] = "xtb"
    needs: ClassVar[str] = "the Python packages tblite and ase (pip install 'simrelay[worker]')"
    packages: ClassVar[tuple[str, ...]] = ("tblite", "ase")
    max_scf_cycles: ClassVar[int] = 250
    stop_grace_seconds: ClassVar[float] = 10.0

    @classmethod
    def detect(cls) -> Offer | None:
        """Look for the packages ``tblite`` and ``ase``, and for the OpenMP library that tblite needs."""
        version = installed_version("tblite")
        if version is None or not installed_version("ase") or not (has_system_openmp() or installed_openmp()):
            return None
        return Offer(
            engine=cls.name,
            version=f"tblite {version}",
            command=own_command(cls.name),
            tasks=("single_point", "optimisation", "frequencies", "optimisation_frequencies"),
        )

    def trouble(self) -> str:
        """Say what is missing, OpenMP as well."""
        if trouble := super().trouble():
            return trouble
        there = has_system_openmp() or installed_openmp() is not None or "LD_LIBRARY_PATH" in self.offer.environment
        return "" if there else "xtb: no OpenMP library (libgomp.so.1); install libgomp1, or simrelay[worker]"

    def environment(self, scratch: Path) -> dict[str, str]:
        """Let tblite find OpenMP where the system has none."""
        return openmp_environment()

    def job(self, bench: Bench[QuantumSpec]) -> QuantumJob:
        """Give the calculation, if ALPB has its solvent."""
        solvent = bench.spec.solvent
        if solvent and solvent not in ALPB_SOLVENTS:
            raise InputError(
                "solvent",
                solvent,
                "has no parameters in ALPB",
                f"With {bench.spec.method} possible are {', '.join(sorted(ALPB_SOLVENTS))}.",
            )
        return super().job(bench)
