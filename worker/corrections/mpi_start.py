"""Parallel processes that did not start: once more with a lenient launcher, then one process without MPI."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.results import Correction, Failure
from worker.corrections.ladder import next_rung

NAME = "mpi_start"
MOST = 2


def correct(corrections: Sequence[Correction], failure: Failure, *, processes: int) -> Correction | None:
    """Say what to try next."""
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
    return next_rung(corrections, failure, NAME, (lenient, serial))
