"""Orbitals of a restart point that the program cannot read: begun with new ones, at the newest geometry."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.results import Correction
from worker.corrections.ladder import next_step

NAME = "restart_unreadable"
_TEXT = "The orbitals of the restart point could not be read: begun with new ones."


def correct(engine: str, made: Sequence[Correction]) -> Correction | None:
    """Say that the orbitals are left out; once."""
    return next_step(made, (Correction(name=NAME, text=_TEXT, changes={"restart_orbitals": False}),))
