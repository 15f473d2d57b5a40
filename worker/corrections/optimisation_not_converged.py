"""An optimisation that ran out of cycles: go on from its last geometry, with new memory of the curvature."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.results import Correction
from worker.corrections.ladder import tried

NAME = "optimisation_not_converged"
CAP = 2


def correct(engine: str, made: Sequence[Correction]) -> Correction | None:
    """Give the next correction for any engine, after those that were made; None if the cap is reached."""
    times = tried(made, NAME)
    if times >= CAP:
        return None
    text = "The geometry did not converge within its cycles: goes on from the last one."
    return Correction(name=NAME, text=text, changes={"continuations": times + 1})
