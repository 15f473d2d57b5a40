"""What a result of GROMACS says about itself: its level as a paper writes it, and what its numbers do not mean."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.dynamics import DynamicsSpec
from tasks.results import Correction
from worker.engines.gromacs_stages import Changes

_NO_HOPPING = (
    "Classical force field: no bond forms or breaks, so hydroxide does not pass protons on (no Grotthuss hopping). It"
    " diffuses like any ion of its size, several times more slowly than in experiments; its diffusion coefficient and"
    " whatever follows from it, such as conductivity, hold for the vehicular part only."
)
_NO_REACTION = (
    "Classical force field: no bond forms or breaks; hydroxide, where it plays a part, does not pass protons on (no"
    " Grotthuss hopping)."
)
_BOX = (
    "Diffusion coefficients are those of the periodic box, and not corrected for its size; in water of 2.5 nm the"
    " correction is about +15 % (Yeh, Hummer, J. Phys. Chem. B 108 (2004) 15873)."
)


def level(spec: DynamicsSpec, changes: Changes) -> str:
    """Give force fields and treatment of forces as a paper would write them."""
    parts = []
    if spec.system is None:
        parts.append("topology of the user's own")
    else:
        if spec.system.cations:
            parts.append("GAFF with AM1-BCC charges")
            ion = spec.system.counter_ion
            source = "types of OPLS-AA, rigid" if ion == "hydroxide" else "Joung and Cheatham 2008"
            parts.append(f"{ion} ({source})")
        if spec.system.water:
            parts.append("SPC/E water")
    pressure = f", {spec.pressure_bar:g} bar" if spec.ensemble == "NPT" else ""
    forces = f"PME, cut-offs {changes.cutoff_nm:g} nm, time step {changes.time_step_fs:g} fs"
    return f"{', '.join(parts)}; {forces}; {spec.ensemble} at {spec.temperature_kelvin:g} K{pressure}"


def caveats(spec: DynamicsSpec, corrections: Sequence[Correction]) -> list[str]:
    """Say what the numbers do not mean, and what was changed to get them."""
    system = spec.system
    hydroxide = system is None or (bool(system.cations) and system.counter_ion == "hydroxide")
    return [_NO_HOPPING if hydroxide else _NO_REACTION, _BOX, *(one.text for one in corrections)]
