"""Too little memory for each of a program's processes: fewer of them, which share the same memory of the job."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.results import Correction
from worker.corrections.ladder import tried

NAME = "out_of_memory"
CAP = 4


def correct(
    made: Sequence[Correction], *, processes: int, usable_mb: float, needed_mb: float | None
) -> Correction | None:
    """Say with how many processes to go on; None if even one would not have enough.

    Parameters
    ----------
    made
        The corrections before.
    processes
        How many there were.
    usable_mb
        What all of them may plan with together.
    needed_mb
        What each of them needs, if the program said so.
    """
    if tried(made, NAME) >= CAP or processes < 2:
        return None
    fewer = processes // 2
    if needed_mb:
        # The estimate grows a little with fewer processes, so some room is left.
        fewer = min(processes - 1, int(usable_mb / (1.1 * needed_mb)))
    if fewer < 1:
        return None
    text = f"Too little memory for {processes} processes: {fewer} with {usable_mb / fewer:.0f} MB each."
    return Correction(name=NAME, text=text, changes={"processes": fewer})
