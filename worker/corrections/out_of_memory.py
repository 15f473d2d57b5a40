"""A program that wanted more memory than it was given: PySCF then keeps integrals on disk, and takes smaller blocks."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.results import Correction
from worker.corrections.ladder import tried

NAME = "out_of_memory"
#: share of the memory that PySCF plans with, instead of 0.8: three-centre integrals then go to disk
_SHARE = 0.3


def correct(engine: str, made: Sequence[Correction]) -> Correction | None:
    """Give the correction; None after it was made once, and for engines whose use of memory cannot be changed."""
    if engine != "pyscf" or tried(made, NAME):
        return None
    text = f"Out of memory: plans with {_SHARE:.0%} of what it was given, and keeps integrals on disk."
    return Correction(name=NAME, text=text, changes={"memory_share": _SHARE})
