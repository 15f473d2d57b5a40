"""The stages of a simulation with GROMACS: which there are, and the parameter file (``.mdp``) of each.

Sources of what a spec does not choose: v-rescale with 1 ps, which leaves diffusion alone (Basconi, Shirts, J. Chem.
Theory Comput. 9 (2013) 2887); C-rescale with 2 ps (Bernetti, Bussi, J. Chem. Phys. 153 (2020) 114107), compressibility
of water; steepest descent, PME of order 4 with 0.16 nm, LINCS on bonds to hydrogen, and the correction of energy and
pressure for dispersion beyond the cut-off after Lemkul, Living J. Comp. Mol. Sci. 1 (2019) 5068.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tasks.dynamics import DynamicsSpec

StageName = Literal["minimisation", "nvt", "npt", "production"]
ORDER: tuple[StageName, ...] = ("minimisation", "nvt", "npt", "production")
#: largest force at which a minimisation ends, in kJ/mol/nm; the smaller one after a blow-up
TOLERANCE, TIGHT_TOLERANCE = 1000.0, 100.0

_FORCES = """cutoff-scheme = Verlet
pbc = xyz
coulombtype = PME
rcoulomb = {cutoff:g}
pme-order = 4
fourierspacing = 0.16
vdwtype = Cut-off
rvdw = {cutoff:g}
DispCorr = EnerPres
constraints = h-bonds
constraint-algorithm = LINCS
lincs-order = 4
"""
_MINIMISATION = """integrator = steep
emtol = {tolerance:g}
emstep = 0.01
nsteps = {steps}
nstlog = 50
nstenergy = 50
nstxout-compressed = 0
"""
_DYNAMICS = """integrator = md
dt = {step_ps:.6g}
nsteps = {steps}
nstlog = {log}
nstcalcenergy = {log}
nstenergy = {frames}
nstxout = 0
nstvout = 0
nstxout-compressed = {written}
comm-mode = Linear
lincs-iter = 1
tcoupl = V-rescale
tc-grps = System
tau-t = 1.0
ref-t = {temperature:g}
ld-seed = {seed}
"""
_PRESSURE = """pcoupl = C-rescale
pcoupltype = isotropic
tau-p = 2.0
ref-p = {pressure:g}
compressibility = 4.5e-5
"""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One stage with nothing left to choose."""

    name: StageName
    mdp: str
    steps: int
    #: picoseconds of one step; 0 in a minimisation
    step_ps: float


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What corrections have changed of the stages; the defaults change nothing."""

    time_step_fs: float
    cutoff_nm: float
    tolerance: float = TOLERANCE
    minimisation_steps: int


def plan_stages(spec: DynamicsSpec, changes: Changes) -> list[Stage]:
    """Give the stages of a spec, in their order."""
    stages = []
    forces = _FORCES.format(cutoff=changes.cutoff_nm)
    if changes.minimisation_steps:
        head = _MINIMISATION.format(tolerance=changes.tolerance, steps=changes.minimisation_steps)
        stages.append(Stage(name="minimisation", mdp=head + forces, steps=changes.minimisation_steps, step_ps=0.0))
    lengths: list[tuple[StageName, float, bool]] = [
        ("nvt", spec.nvt_ps, False),
        ("npt", spec.npt_ps, True),
        ("production", spec.production_ps, spec.ensemble == "NPT"),
    ]
    # Velocities of the user's own coordinates are not relied on either.
    started = False
    for name, length, pressure in lengths:
        if not length:
            continue
        step = changes.time_step_fs / 1000
        frames = round(spec.frame_spacing_ps / step)
        head = _DYNAMICS.format(
            step_ps=step,
            steps=round(length / step),
            log=round(1.0 / step),
            frames=frames,
            written=frames if name == "production" else 0,
            temperature=spec.temperature_kelvin,
            seed=spec.seed,
        )
        velocities = (
            "continuation = yes\ngen-vel = no\n"
            if started
            else f"continuation = no\ngen-vel = yes\ngen-temp = {spec.temperature_kelvin:g}\ngen-seed = {spec.seed}\n"
        )
        coupling = _PRESSURE.format(pressure=spec.pressure_bar) if pressure else "pcoupl = no\n"
        mdp = head + velocities + coupling + forces
        stages.append(Stage(name=name, mdp=mdp, steps=round(length / step), step_ps=step))
        started = True
    return stages
