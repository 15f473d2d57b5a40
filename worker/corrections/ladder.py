"""A correction that has several steps: each is tried once, whichever attempt gets there, and there is no more after."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.results import Correction, Failure


def tried(corrections: Sequence[Correction], name: str) -> int:
    """Count how often a correction was made, in this and earlier attempts."""
    return sum(correction.name == name for correction in corrections)


def next_rung(
    corrections: Sequence[Correction], failure: Failure, name: str, rungs: Sequence[Correction]
) -> Correction | None:
    """Give the step of a correction that was not tried yet; None for another failure, or when all were."""
    done = tried(corrections, name)
    return rungs[done] if failure.error_class == name and done < len(rungs) else None
