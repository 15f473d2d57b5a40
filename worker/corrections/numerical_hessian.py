"""Second derivatives that a version of a program has no formulas for: taken numerically from gradients."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.results import Correction
from worker.corrections.ladder import next_step

NAME = "no_analytical_hessian"
_TEXT = "No analytical second derivatives for this method in this version: taken numerically from gradients."


def correct(engine: str, made: Sequence[Correction]) -> Correction | None:
    """Say that derivatives are taken numerically; once."""
    return next_step(made, (Correction(name=NAME, text=_TEXT, changes={"numerical_frequencies": True}),))
