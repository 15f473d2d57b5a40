"""The failures that can be corrected, by their error class; each gives what to change next, or None."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tasks.results import Correction
from worker.corrections import (
    imaginary_mode,
    numerical_hessian,
    optimisation_not_converged,
    out_of_memory,
    restart_unreadable,
    scf_not_converged,
)

#: error class -> what gives the next correction for an engine (by name), after those that were made
CORRECTIONS: Mapping[str, Callable[[str, Sequence[Correction]], Correction | None]] = {
    module.NAME: module.correct
    for module in (
        imaginary_mode,
        numerical_hessian,
        optimisation_not_converged,
        out_of_memory,
        restart_unreadable,
        scf_not_converged,
    )
}
