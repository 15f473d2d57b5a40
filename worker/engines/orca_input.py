"""Writing ORCA's input: the keywords that mean what a spec says, in ORCA 5 and 6.

Where ORCA's defaults differ from what the words mean in Simrelay, the input says so: B3LYP with VWN3 is ``B3LYP/G``
(ORCA's plain one has VWN5), density fitting is switched on or off and never left to a default, the permittivity of CPCM
is that of ``tasks.methods``, and thermochemistry is that of harmonic oscillators and not quasi-harmonic.
"""

from __future__ import annotations

from dataclasses import dataclass

from tasks.elements import electron_count, parse_xyz
from tasks.errors import InputError
from tasks.methods import SOLVENTS, Family, find_method, lacking
from tasks.quantum import QuantumSpec, check_electrons

JOB = "job"
#: orbitals to begin with; ORCA would overwrite a file under the job's own name before it has read it
RESTART_ORBITALS = "restart.gbw"

#: ORCA's words for our methods: manual of ORCA 6.0, 4.2.2
METHODS = {
    "B3LYP": "B3LYP/G",
    "B3LYP5": "B3LYP",
    "PBE": "PBE",
    "PBE0": "PBE0",
    "BLYP": "BLYP",
    "TPSS": "TPSS",
    "M06-2X": "M062X",
    "CAM-B3LYP": "CAM-B3LYP",
    "wB97X": "wB97X",
    "r2SCAN": "r2SCAN",
    "HF": "HF",
}
#: without exact exchange, so that RI for the Coulomb part is all there is to fit
_PURE = frozenset({"PBE", "BLYP", "TPSS", "r2SCAN"})
#: names of the Minnesota solvent descriptor database, as SMD in ORCA takes them
_SMD_SOLVENTS = {
    "dmso": "dimethylsulfoxide",
    "dmf": "n,n-dimethylformamide",
    "thf": "tetrahydrofuran",
    "hexane": "n-hexane",
}

#: Share of the memory that ORCA plans with, as its manual advises: it takes more than %maxcore now and then.
MEMORY_SHARE = 0.75
#: ORCA's pressure is in atmospheres
_PASCAL_PER_ATMOSPHERE = 101_325.0
#: ORCA's own limits are 125 cycles, and three times the number of atoms
MAX_SCF_CYCLES = 125
MAX_OPTIMISATION_STEPS = 200


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What corrections may change: how a result is reached, never what is computed.

    Attributes
    ----------
    processes
        How many MPI processes share the job's memory.
    scf
        ORCA's keyword for a convergence strategy (``SlowConv``, ``TRAH``); empty: its default.
    calculate_hessian
        Whether an optimisation begins with a Hessian that was computed.
    numerical_frequencies
        Whether second derivatives are taken numerically, where this version has no analytical ones.
    """

    processes: int = 1
    scf: str = ""
    max_scf_cycles: int = MAX_SCF_CYCLES
    max_optimisation_steps: int = MAX_OPTIMISATION_STEPS
    calculate_hessian: bool = False
    numerical_frequencies: bool = False


def optimises(spec: QuantumSpec) -> bool:
    """Tell whether a geometry is relaxed; a single atom has none."""
    return spec.task.startswith("optimisation") and len(parse_xyz(spec.molecule.xyz or "")) > 1


def has_frequencies(spec: QuantumSpec) -> bool:
    """Tell whether frequencies are asked for."""
    return spec.task in ("frequencies", "optimisation_frequencies")


def level_of(spec: QuantumSpec, multiplicity: int) -> str:
    """Give the level of theory as a paper would write it."""
    spin = "U" if multiplicity > 1 else ""
    dispersion = f"-{spec.dispersion}" if spec.dispersion else ""
    fitting = (_fitting_name(spec.method),) if spec.density_fitting else ()
    model = {"CPCM": "C-PCM", "SMD": "SMD"}.get(spec.solvent_model or "", "")
    notes = (*fitting, *((f"{model} {spec.solvent}",) if spec.solvent else ()))
    return f"{spin}{spec.method}{dispersion}/{spec.basis}" + (f" ({', '.join(notes)})" if notes else "")


def check(spec: QuantumSpec) -> tuple[int, int]:
    """Give charge and multiplicity of a spec that ORCA can compute.

    Raises
    ------
    InputError
        If the spec lacks something, or asks for what ORCA does not compute in these words.
    """
    if find_method(spec.method).family is Family.TIGHT_BINDING or (field := lacking("orca", spec.demand)[0]):
        named = getattr(spec, field) if field else spec.method
        raise InputError(field or "method", named, "is not computed by orca", "Take another engine for it.")
    xyz = spec.molecule.xyz
    if not xyz:
        raise InputError("molecule.xyz", "", "is missing", "orca needs coordinates: give an XYZ block.")
    if spec.charge is None:
        raise InputError("charge", None, "is missing", "Give the total charge.")
    multiplicity = spec.multiplicity or 1 + electron_count(parse_xyz(xyz), spec.charge) % 2
    check_electrons(xyz, spec.charge, multiplicity)
    return spec.charge, multiplicity


def write_input(spec: QuantumSpec, settings: Settings, *, memory_mb: int, xyz: str, orbitals: bool) -> str:
    """Give the text of an input file.

    Parameters
    ----------
    settings
        How to reach the result.
    memory_mb
        Of the whole job.
    xyz
        The geometry to begin with, in ångström.
    orbitals
        Whether to begin with the orbitals in ``restart.gbw``.
    """
    charge, multiplicity = check(spec)
    lines = ["! " + " ".join(_keywords(spec, settings, orbitals=orbitals))]
    lines.append(f"%maxcore {max(1, int(MEMORY_SHARE * memory_mb / settings.processes))}")
    if settings.processes > 1:
        lines.append(f"%pal nprocs {settings.processes} end")
    # A geometry step on orbitals that did not converge leads nowhere: better stop there and say so.
    lines.append(f"%scf MaxIter {settings.max_scf_cycles} ConvForced true end")
    if optimises(spec):
        hessian = " Calc_Hess true" if settings.calculate_hessian else ""
        lines.append(f"%geom MaxIter {settings.max_optimisation_steps}{hessian} end")
    if has_frequencies(spec):
        pressure = spec.pressure_pascal / _PASCAL_PER_ATMOSPHERE
        condition = f"Temp {spec.temperature_kelvin:.4f} Pressure {pressure:.8f}"
        lines.append(f"%freq {condition} QuasiRRHO false CutOffFreq 1.0 end")
    lines += _solvent(spec)
    if orbitals:
        lines.append(f'%moinp "{RESTART_ORBITALS}"')
    atoms = [f"{a.symbol:<2s} {a.x:15.8f} {a.y:15.8f} {a.z:15.8f}" for a in parse_xyz(xyz)]
    return "\n".join([*lines, f"* xyz {charge} {multiplicity}", *atoms, "*"]) + "\n"


def _fitting_name(method: str) -> str:
    return "RI" if method in _PURE else "RIJCOSX"


def _fitting(spec: QuantumSpec) -> tuple[str, ...]:
    if not spec.density_fitting:
        return ("NORI",) if spec.method in _PURE else ("NORI", "NOCOSX")
    # def2/J goes with all def2 basis sets (Weigend, PCCP 8 (2006) 1057); for others ORCA makes a fitting basis to
    # measure (Stoychev, Auer, Neese, JCTC 13 (2017) 554).
    auxiliary = "def2/J" if (spec.basis or "").startswith("def2-") else "AutoAux"
    return _fitting_name(spec.method), auxiliary


def _keywords(spec: QuantumSpec, settings: Settings, *, orbitals: bool) -> list[str]:
    words = [METHODS[spec.method], spec.basis or "", *_fitting(spec), spec.dispersion or ""]
    words += ["CPCM"] if spec.solvent else []
    words += ["TightSCF", settings.scf]
    words += ["Opt"] if optimises(spec) else []
    if has_frequencies(spec):
        words.append("NumFreq" if settings.numerical_frequencies else "Freq")
    words += ["MORead"] if orbitals else []
    return [word for word in words if word]


def _solvent(spec: QuantumSpec) -> list[str]:
    if not spec.solvent:
        return []
    if spec.solvent_model == "SMD":
        return [f'%cpcm smd true SMDsolvent "{_SMD_SOLVENTS.get(spec.solvent, spec.solvent)}" end']
    return [f"%cpcm epsilon {SOLVENTS[spec.solvent]:g} end"]
