"""Installing a stand-in as the program that it stands in for, in a folder of a test."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tasks.methods import ABILITIES
from worker.engines.base import Offer

HERE = Path(__file__).parent


def orca(folder: Path, **how: object) -> Offer:
    """Install the stand-in for ORCA, and give its offer; ``how`` is what it is to do."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, program in (("orca", "orca.py"), ("mpirun", "mpirun.py")):
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "{HERE / program}" "$@"\n')
        (folder / name).chmod(0o755)
    (folder / "orca_scf").touch()
    return Offer(
        engine="orca",
        version="6.0.1",
        command=(str(folder / "orca"),),
        tasks=tuple(sorted(ABILITIES["orca"].tasks)),
        environment={"PATH": f"{folder}:/usr/bin:/bin", "ORCA_STAND_IN": json.dumps(how)},
    )
