"""A correction that has several steps: each is tried once, whichever attempt gets there, and there is no more after."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.results import Correction


def tried(made: Sequence[Correction], name: str) -> int:
    """Count how often a correction was made, in this and earlier attempts."""
    return sum(correction.name == name for correction in made)


def next_step(made: Sequence[Correction], steps: Sequence[Correction]) -> Correction | None:
    """Give the first of these steps, all of one name, that was not made yet; None when all were."""
    done = tried(made, steps[0].name)
    return steps[done] if done < len(steps) else None
