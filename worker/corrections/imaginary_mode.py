"""An optimisation that ended on a saddle point: move off along the lowest imaginary mode, and optimise again.

The modes are in the engine's restart point; its program does the moving (``worker.programs.frequencies``), as often as
``displacements`` says, by turns to the one side and farther to the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from tasks.results import Correction

NAME = "imaginary_mode"
CAP = 2


def correct(engine: str, made: Sequence[Correction]) -> Correction | None:
    """Give the next correction for any engine, after those that were made; None if the cap is reached."""
    times = sum(correction.name == NAME for correction in made)
    if times >= CAP:
        return None
    text = "The optimised geometry is a saddle point: moved along its lowest mode, and optimised again."
    return Correction(name=NAME, text=text, changes={"displacements": times + 1})
