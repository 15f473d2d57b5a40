"""PySCF: Hartree-Fock and density functional theory with density fitting (``worker.programs.pyscf_job``)."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from tasks.errors import InputError
from tasks.specs import QuantumSpec
from worker.engines.base import Bench, Offer
from worker.engines.quantum import OwnProgram, empty_file, installed_version, own_command
from worker.programs.common import RESTART_FILE, QuantumJob


class PySCF(OwnProgram):
    """Single points, optimisations and frequencies by PySCF.

    Its restart point is written after every SCF cycle: orbitals in PySCF's checkpoint format, and the geometry with the
    counts of cycles in ``restart.json``; and the pieces of the Hessian, each as soon as it is there.
    """

    name: ClassVar[str] = "pyscf"
    needs: ClassVar[str] = "the Python packages pyscf and geometric (pip install 'simrelay[worker]')"
    packages: ClassVar[tuple[str, ...]] = ("pyscf",)
    restart_files: ClassVar[tuple[str, ...]] = ("restart.chk", RESTART_FILE)
    kept_files: ClassVar[dict[str, str]] = {"orbitals": "orbitals.chk"}

    @classmethod
    def detect(cls) -> Offer | None:
        """Look for the package ``pyscf``, and for ``geometric`` to optimise with."""
        version = installed_version("pyscf")
        if version is None:
            return None
        tasks: tuple[str, ...] = ("single_point", "frequencies")
        if installed_version("geometric"):
            tasks = ("single_point", "optimisation", "frequencies", "optimisation_frequencies")
        return Offer(engine=cls.name, version=version, command=own_command(cls.name), tasks=tasks)

    def job(self, bench: Bench[QuantumSpec]) -> QuantumJob:
        """Give the calculation, if this host has what its dispersion correction needs."""
        if bench.spec.dispersion and self.offer.command[:1] == (sys.executable,) and not _has_dispersion():
            problem = "needs the package pyscf-dispersion, which this host does not have"
            raise InputError("dispersion", bench.spec.dispersion, problem, "Install simrelay[worker] there.")
        return super().job(bench)

    def environment(self, scratch: Path) -> dict[str, str]:
        """Keep temporary files in scratch, and the user's ``.pyscf_conf.py`` from changing the physics."""
        return {
            "PYSCF_TMPDIR": str(scratch),
            "PYSCF_CONFIG_FILE": empty_file(scratch / "pyscf_conf.py"),
        }


def _has_dispersion() -> bool:
    return find_spec("pyscf.dispersion") is not None
