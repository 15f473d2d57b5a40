"""A checkpoint that the program cannot read: the one before it is taken, and after that the stage begins anew."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.results import Correction

NAME = "damaged_checkpoint"
#: how often at most in one job: the newest and the one before, twice
CAP = 4


def damaged_checkpoint(tried: Sequence[Correction], stage: str, key: str) -> Correction | None:
    """Give the next correction; None: it was tried for this checkpoint, or too often.

    Parameters
    ----------
    key
        What the damaged checkpoint is known by, so that later ones are not passed over.
    """
    before = [one.changes.get("damaged_checkpoint") for one in tried if one.name == NAME]
    if len(before) >= CAP or key in before:
        return None
    return Correction(
        name=NAME,
        text=f"A checkpoint of {stage} was damaged: went on from the one before it.",
        changes={"damaged_checkpoint": key},
    )
