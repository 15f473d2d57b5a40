"""A self-consistent field that did not converge: slower and steadier first, then a solver of second order.

None of it changes the physics: what converges is the same energy. For PySCF a level shift (Saunders and Hillier, Int.
J. Quantum Chem. 7 (1973) 699) with damping, then the second-order solver (Sun, arXiv:1610.08423); for tight binding
stronger damping of the charges, as xtb's manual advises.
"""

from __future__ import annotations

from collections.abc import Sequence

from tasks.results import Correction
from worker.corrections.ladder import next_step

NAME = "scf_not_converged"
_STEPS = {
    "pyscf": (
        Correction(
            name=NAME,
            text="The SCF did not converge: level shift of 0.3 Eh, damping of 0.4, 200 cycles.",
            changes={"level_shift_hartree": 0.3, "damping": 0.4, "max_scf_cycles": 200},
        ),
        Correction(
            name=NAME,
            text="The SCF did not converge with a level shift: second-order solver.",
            changes={"level_shift_hartree": 0.0, "damping": 0.0, "second_order": True, "max_scf_cycles": 100},
        ),
    ),
    # ORCA's words: damping and level shift chosen for slow cases, then its trust-region second-order solver (manual of
    # ORCA 6.0, 7.7).
    "orca": (
        Correction(
            name=NAME,
            text="The SCF did not converge: SlowConv, at most 500 cycles.",
            changes={"scf": "SlowConv", "max_scf_cycles": 500},
        ),
        Correction(
            name=NAME,
            text="The SCF did not converge with SlowConv: TRAH, at most 500 cycles.",
            changes={"scf": "TRAH", "max_scf_cycles": 500},
        ),
    ),
    "xtb": (
        Correction(
            name=NAME,
            text="The charges did not converge: damping of 0.1 instead of 0.4, 1000 cycles.",
            changes={"damping": 0.1, "max_scf_cycles": 1000},
        ),
    ),
}


def correct(engine: str, made: Sequence[Correction]) -> Correction | None:
    """Give the next correction for an engine, after those that were made; None if there is no other."""
    return next_step(made, _STEPS[engine]) if engine in _STEPS else None
