"""How far a running ORCA is, from the last lines of its output."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tasks.results import Progress

_CYCLE = re.compile(r"^\s*(\d+)\s+(-\d+\.\d{6,})\s+-?\d")
_STEP = re.compile(r"GEOMETRY OPTIMIZATION CYCLE\s+(\d+)")
_GRADIENT = re.compile(r"^MAX gradient\s+\.\.\.\s+(\d+\.\d+)")
_ENERGY = re.compile(r"^FINAL SINGLE POINT ENERGY\s+(-?\d+\.\d{6,})\s*$")
_HESSIAN = ("ORCA SCF HESSIAN", "NUMERICAL FREQUENCIES", "VIBRATIONAL FREQUENCIES")


def read_progress(lines: Sequence[str], *, optimises: bool) -> Progress | None:
    """Give what the newest lines tell; None before the first SCF cycle.

    Parameters
    ----------
    lines
        The end of the output; a last line that was cut off says nothing.
    optimises
        Whether a geometry is relaxed.
    """
    step = cycle = None
    energy: float | None = None
    gradient, stage = "", "scf"
    for line in lines:
        if found := _STEP.search(line):
            step, cycle, stage = int(found[1]), None, "scf"
        elif "FINAL ENERGY EVALUATION AT THE STATIONARY POINT" in line:
            stage, cycle = "final energy", None
        elif found := _CYCLE.match(line):
            cycle, energy = int(found[1]), float(found[2])
        elif found := _ENERGY.match(line):
            energy = float(found[1])
        elif found := _GRADIENT.match(line):
            gradient = f", largest gradient {float(found[1]):.1e} Eh/bohr"
        elif any(word in line for word in _HESSIAN):
            stage = "frequencies"
    if energy is None:
        return None
    if stage == "frequencies":
        text = f"second derivatives, {energy:.5f} Eh"
        return Progress(text=text, stage=stage, energy_hartree=energy)
    where = [] if cycle is None else [f"SCF cycle {cycle}"]
    if optimises and step is not None:
        where.insert(0, f"optimisation step {step}")
    elif stage == "final energy":
        where.insert(0, "final geometry")
    text = ", ".join([*where, f"{energy:.5f} Eh"]) + (gradient if optimises else "")
    counted = step if optimises else cycle
    return Progress(text=text, stage="optimisation" if optimises else "scf", step=counted, energy_hartree=energy)
