"""Multiwfn: the same analyses by a real Multiwfn, driven through its menus (``worker.programs.multiwfn_job``)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import ClassVar

from worker.engines.base import Offer
from worker.engines.quantum import own_command
from worker.engines.wavefunction import Analysis
from worker.loading import loading_trouble

#: where the program and its settings.ini lie, as its manual asks for (section 2.1.2)
PATH_VARIABLE = "Multiwfnpath"
#: the one without windows first: nothing is shown on a compute host
PROGRAMS = ("Multiwfn_noGUI", "Multiwfn")


class Multiwfn(Analysis):
    """Analyses by Multiwfn, which has to be installed with its settings.ini (free, from its author's site)."""

    name: ClassVar[str] = "multiwfn"
    needs: ClassVar[str] = "Multiwfn on PATH or in the folder that Multiwfnpath names, with its settings.ini"

    @classmethod
    def detect(cls) -> Offer | None:
        """Look for Multiwfn in ``$Multiwfnpath`` and in ``PATH``."""
        home = os.environ.get(PATH_VARIABLE, "")
        search = os.pathsep.join(filter(None, (home, os.environ.get("PATH", os.defpath))))
        program = next((found for name in PROGRAMS if (found := shutil.which(name, path=search))), None)
        if program is None:
            return None
        settings = home or str(Path(program).resolve().parent)
        # The stack of its threads, as the manual recommends for large systems.
        environment = {PATH_VARIABLE: settings, "OMP_STACKSIZE": "200M"}
        return Offer(engine=cls.name, version="", command=(program,), tasks=("analysis",), environment=environment)

    def trouble(self) -> str:
        """Say what is missing: the program, its settings.ini, or the packages that write its input."""
        if trouble := loading_trouble(self.offer.command[0]):
            return f"Multiwfn cannot be started: {trouble}"
        settings = Path(self.offer.environment.get(PATH_VARIABLE) or os.environ.get(PATH_VARIABLE) or ".")
        if not (settings / "settings.ini").is_file():
            return f"{settings}/settings.ini is not there; set {PATH_VARIABLE} in engines.toml to its folder"
        return super().trouble()

    def program(self) -> tuple[str, ...]:
        """Give our program, which types what a person would."""
        return own_command(self.name)

    def driven(self) -> tuple[str, ...]:
        """Give Multiwfn itself."""
        return self.offer.command
