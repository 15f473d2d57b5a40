"""A box that is too small: for its molecules, before the pressure has set its size, or for the cut-off, after that."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.results import Correction

NAME = "small_box"
#: how often at most in one job
CAP = 2
#: the shortest cut-off that the force fields in use were ever made with, in nm
_SHORTEST_CUTOFF = 0.8
_WIDER = 1.1


def small_box(tried: Sequence[Correction], *, packing: bool, cutoff_nm: float) -> Correction | None:
    """Give the next correction; None: no more are known to help.

    Parameters
    ----------
    packing
        Whether the molecules did not fit in; otherwise the box is smaller than twice the cut-off.
    """
    before = [one for one in tried if one.name == NAME]
    if len(before) >= CAP:
        return None
    if packing:
        scale = round(_WIDER ** (len(before) + 1), 4)
        return Correction(
            name=NAME,
            text=f"The molecules did not fit in: the box begins {scale:g} times as wide, and NPT sets its size.",
            changes={"box_scale": scale},
        )
    shorter = round(cutoff_nm - 0.1, 3)
    if shorter < _SHORTEST_CUTOFF:
        return None
    return Correction(
        name=NAME,
        text=f"The box became smaller than twice the cut-off: {shorter:g} nm instead of {cutoff_nm:g} nm from there.",
        changes={"cutoff_nm": shorter},
    )
