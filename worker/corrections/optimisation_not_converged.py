"""An optimisation that ran out of steps: it goes on from its last geometry, then with a Hessian that is computed."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.results import Correction, Failure
from worker.corrections.ladder import next_rung

NAME = "optimisation_not_converged"


def correct(
    corrections: Sequence[Correction], failure: Failure, *, steps: int, can_calculate_hessian: bool
) -> Correction | None:
    """Say what to try next; at most two more rounds of ``steps`` steps."""
    text = f"The optimisation was out of steps: goes on from its last geometry with up to {steps} more"
    first = Correction(name=NAME, text=f"{text}.", changes={"max_optimisation_steps": steps})
    second = first
    if can_calculate_hessian:
        changes: dict[str, float | int | str | bool] = {"max_optimisation_steps": steps, "calculate_hessian": True}
        second = Correction(name=NAME, text=f"{text}, and a computed Hessian to begin with.", changes=changes)
    return next_rung(corrections, failure, NAME, (first, second))
