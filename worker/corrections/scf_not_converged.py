"""A self-consistent field that did not converge: more cycles, and a slower and safer way, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.results import Correction, Failure
from worker.corrections.ladder import next_rung

NAME = "scf_not_converged"
#: cycles are cheap beside a job that failed
_TIMES_CYCLES = 4


def correct(
    corrections: Sequence[Correction], failure: Failure, *, cycles: int, strategies: Sequence[str]
) -> Correction | None:
    """Say what to try next.

    Parameters
    ----------
    cycles
        How many the engine does by default.
    strategies
        The engine's words for ways to converge, from the cheapest to the safest; each is tried once. Empty: its default
        way with more cycles.
    """
    more = _TIMES_CYCLES * cycles
    rungs = [
        Correction(
            name=NAME,
            text=f"The SCF did not converge: {f'{strategy}, ' if strategy else ''}at most {more} cycles.",
            changes={"scf": strategy, "max_scf_cycles": more} if strategy else {"max_scf_cycles": more},
        )
        for strategy in strategies
    ]
    return next_rung(corrections, failure, NAME, rungs)
