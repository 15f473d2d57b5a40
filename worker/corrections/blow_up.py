"""A simulation that blew up: first a longer minimisation, if that is just behind it, then smaller time steps."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.results import Correction

NAME = "blow_up"
#: how often at most in one job
CAP = 3
#: below this a time step does not help; a structure that needs it is wrong
_SMALLEST_FS = 0.5
_TIGHT_TOLERANCE = 100.0


def blow_up(tried: Sequence[Correction], stage: str, time_step_fs: float, minimisation_steps: int) -> Correction | None:
    """Give the next correction; None: no more are known to help.

    Parameters
    ----------
    stage
        That blew up.
    time_step_fs, minimisation_steps
        With which it did.
    """
    before = [one for one in tried if one.name == NAME]
    if len(before) >= CAP:
        return None
    if stage == "nvt" and minimisation_steps and not any("minimisation_tolerance" in one.changes for one in before):
        steps = minimisation_steps * 4
        return Correction(
            name=NAME,
            text=f"nvt blew up: minimised again, to {_TIGHT_TOLERANCE:g} kJ/mol/nm in at most {steps} steps.",
            changes={"minimisation_tolerance": _TIGHT_TOLERANCE, "minimisation_steps": steps},
        )
    smaller = time_step_fs / 2
    if smaller < _SMALLEST_FS or stage == "minimisation":
        return None
    return Correction(
        name=NAME,
        text=f"{stage} blew up: from there on with time steps of {smaller:g} fs instead of {time_step_fs:g} fs.",
        changes={"time_step_fs": smaller},
    )
