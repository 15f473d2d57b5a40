"""Orbitals of a restart point that the program cannot read: begun with new ones, at the newest geometry."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.results import Correction, Failure
from worker.corrections.ladder import next_rung

NAME = "restart_unreadable"


def correct(corrections: Sequence[Correction], failure: Failure) -> Correction | None:
    """Say that the orbitals are left out; once."""
    text = "The orbitals of the restart point could not be read: begun with new ones."
    return next_rung(
        corrections, failure, NAME, (Correction(name=NAME, text=text, changes={"restart_orbitals": False}),)
    )
