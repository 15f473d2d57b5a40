"""Second derivatives that a version of a program has no formulas for: taken numerically from gradients."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.results import Correction, Failure
from worker.corrections.ladder import next_rung

NAME = "no_analytical_hessian"


def correct(corrections: Sequence[Correction], failure: Failure) -> Correction | None:
    """Say that derivatives are taken numerically; once."""
    text = "No analytical second derivatives for this method in this version: taken numerically from gradients."
    return next_rung(
        corrections, failure, NAME, (Correction(name=NAME, text=text, changes={"numerical_frequencies": True}),)
    )
