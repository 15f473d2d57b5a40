"""Parallel processes that did not start: once more with a lenient launcher, then one process without MPI."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.results import Correction
from worker.corrections.ladder import next_step

NAME = "mpi_start"
CAP = 2


def correct(made: Sequence[Correction], *, processes: int) -> Correction | None:
    """Say what to try next, after the corrections that were made; None if nothing is left."""
    if processes < 2:
        return None
    lenient = Correction(
        name=NAME,
        text="The parallel processes did not start: once more, with more processes than slots allowed.",
        changes={"oversubscribe": True},
    )
    serial = Correction(
        name=NAME,
        text=f"The parallel processes did not start again: one process instead of {processes}, and slower.",
        changes={"processes": 1},
    )
    return next_step(made, (lenient, serial))
