"""Which dispersion corrections were fitted for which method, by the names of their parameter sets.

From the parameter tables of s-dftd3 and dftd4. A method that is not here has no parameters of its own: M06-2X and
wB97X are left out of D3BJ, since those parameters belong to other functionals of similar names.
"""

from __future__ import annotations

from tasks.errors import InputError

_COMMON = {
    "HF": "hf",
    "B3LYP": "b3lyp",
    "B3LYP5": "b3lyp",
    "PBE": "pbe",
    "PBE0": "pbe0",
    "BLYP": "blyp",
    "BP86": "bp",
    "TPSS": "tpss",
    "CAM-B3LYP": "camb3lyp",
    "r2SCAN": "r2scan",
}
#: correction -> method -> name of the parameters
DISPERSION_NAMES: dict[str, dict[str, str]] = {"D3BJ": _COMMON, "D4": _COMMON}


def check_dispersion(correction: str | None, method: str) -> None:
    """Raise InputError if a dispersion correction has no parameters for a method."""
    if correction and method not in DISPERSION_NAMES[correction]:
        known = ", ".join(DISPERSION_NAMES[correction])
        remedy = f"Leave it out, or take one of {known}."
        raise InputError("dispersion", correction, f"has no parameters for {method}", remedy)
