"""Completing a molecular dynamics spec before it is frozen: composition, charge, box, and how much it will cost."""

from __future__ import annotations

from typing import Any

from orchestrator.chemistry.molecules import Identity, identify, parse
from tasks.dynamics import DynamicsSpec, Solution, box_too_small, smallest_edge_nm
from tasks.errors import InputError
from tasks.specs import dump_spec, parse_spec

#: edge of a box about which nothing is said, in nm: room for cut-offs of 1.0 nm and for the box to shrink
DEFAULT_EDGE_NM = 2.6
DEFAULT_DENSITY = 1.0
WATER_DALTON = 18.0154
_GAFF = frozenset("H C N O F P S Cl Br I".split())
#: AM1-BCC of larger ones takes hours
_MOST_ATOMS = 120
_ANION_DALTON = {"hydroxide": 17.0074, "fluoride": 19.0, "chloride": 35.45, "bromide": 79.9, "iodide": 126.9}
_ANION_ATOMS = {"hydroxide": 2}
#: g/cm³ times nm³ in dalton (CODATA 2018)
_DALTON_PER_G_CM3_NM3 = 602.214076
# Measured with GROMACS 2022.5 on the developers' host: 1,720 atoms, 20 ps in 13 s on two threads.
_CORE_SECONDS_PER_ATOM_STEP = 1.5e-6
_OVERHEAD_CORE_SECONDS = 15.0


def complete_dynamics(spec: DynamicsSpec, max_atoms: int) -> DynamicsSpec:
    """Give the exact spec that a worker can run without deciding anything; completing a complete one changes nothing.

    Raises
    ------
    InputError
        If a cation is none or has no parameters, numbers contradict each other, or the box is too small.
    """
    if spec.system is None:
        return _with(spec, {"label": spec.label or f"MD of {spec.files.coordinates if spec.files else ''}"})
    identities = _cations(spec.system, max_atoms)
    system = _complete_system(spec, spec.system, identities)
    wanted = _species(spec, system, identities)
    label = spec.label or _label(system, spec)
    return _with(
        spec, {"system": system, "label": label[:120], "analysis": {**dump_spec(spec)["analysis"], "species": wanted}}
    )


def _with(spec: DynamicsSpec, changes: dict[str, Any]) -> DynamicsSpec:
    complete = parse_spec(dump_spec(spec) | changes)
    if not isinstance(complete, DynamicsSpec):
        raise TypeError(f"a dynamics spec became {type(complete).__name__}")
    return complete


def _cations(system: Solution, max_atoms: int) -> list[Identity]:
    identities = []
    for number, cation in enumerate(system.cations):
        field = f"system.cations.{number}.smiles"
        identity = identify(cation.smiles, field, min(max_atoms, _MOST_ATOMS))
        if identity.charge < 1:
            problem = f"has charge {identity.charge:+d} and is no cation"
            remedy = "Give a cation, such as 'C[N+](C)(C)C'; counter-ions and water have fields of their own."
            raise InputError(field, cation.smiles, problem, remedy)
        if identity.radical_electrons:
            raise InputError(field, cation.smiles, "is a radical", "GAFF has no parameters for radicals.")
        symbols = {atom.GetSymbol() for atom in parse(cation.smiles, field, max_atoms).GetAtoms()}
        if unknown := sorted(symbols - _GAFF):
            problem = f"holds {', '.join(unknown)}, which GAFF has no parameters for"
            raise InputError(field, cation.smiles, problem, f"Possible are {', '.join(sorted(_GAFF))}.")
        identities.append(identity)
    if len({one.smiles for one in identities}) < len(identities):
        raise InputError("system.cations", len(identities), "names one cation twice", "Add up their numbers.")
    return identities


def _complete_system(spec: DynamicsSpec, system: Solution, identities: list[Identity]) -> dict[str, Any]:
    charge = sum(one.charge * cation.count for one, cation in zip(identities, system.cations, strict=True))
    if system.counter_ions is not None and system.counter_ions != charge:
        problem = f"do not make the box neutral: the cations have charge {charge:+d}"
        raise InputError("system.counter_ions", system.counter_ions, problem, f"Give {charge}, or leave it out.")
    mass = sum(one.mass_dalton * cation.count for one, cation in zip(identities, system.cations, strict=True))
    mass += charge * _ANION_DALTON[system.counter_ion]
    density = system.density_g_per_cm3 or DEFAULT_DENSITY
    cations = sum(cation.count for cation in system.cations)
    water, edge = system.water, system.edge_nm
    if water is None and system.waters_per_cation is not None:
        water = round(system.waters_per_cation * cations)
    if water is None:
        edge = edge or max(DEFAULT_EDGE_NM, smallest_edge_nm(spec.cutoff_nm))
        water = int((edge**3 * density * _DALTON_PER_G_CM3_NM3 - mass) / WATER_DALTON)
        if water < 1:
            problem = f"has no room for water beside {cations} cations and their counter-ions"
            raise InputError("system.edge_nm", f"{edge:g} nm", problem, "Give a longer edge, or the number of waters.")
    if edge is None:
        edge = ((mass + water * WATER_DALTON) / (density * _DALTON_PER_G_CM3_NM3)) ** (1 / 3)
        if edge < smallest_edge_nm(spec.cutoff_nm):
            room = smallest_edge_nm(spec.cutoff_nm) ** 3 * density * _DALTON_PER_G_CM3_NM3
            enough = -(-int(1.03 * room - mass) // int(WATER_DALTON * 10)) * 10
            raise box_too_small(edge, spec.cutoff_nm, enough)
    real = (mass + water * WATER_DALTON) / (edge**3 * _DALTON_PER_G_CM3_NM3)
    if not 0.3 <= real <= 1.6:
        problem = f"makes a density of {real:.2f} g/cm³ for these molecules"
        right = ((mass + water * WATER_DALTON) / _DALTON_PER_G_CM3_NM3) ** (1 / 3)
        remedy = f"About {right:.2f} nm is right at 1 g/cm³; leave it out and it is computed."
        raise InputError("system.edge_nm", f"{edge:g} nm", problem, remedy)
    named = [
        {**cation.model_dump(exclude_none=True), "smiles": one.smiles, "name": cation.name or one.smiles}
        for one, cation in zip(identities, system.cations, strict=True)
    ]
    known = system.model_dump(mode="json", exclude_none=True)
    return {**known, "cations": named, "counter_ions": charge, "water": water, "edge_nm": round(edge, 4)}


def _species(spec: DynamicsSpec, system: dict[str, Any], identities: list[Identity]) -> list[str]:
    """Give the species to analyse by the names that they have in the box."""
    names = {one["name"]: one["name"] for one in system["cations"]} | {
        one["smiles"]: one["name"] for one in system["cations"]
    }
    names |= {system["counter_ion"]: system["counter_ion"]} if identities else {}
    names |= {"water": "water"} if system["water"] else {}
    wanted = []
    for name in spec.analysis.species:
        smiles = identify(name).smiles if name not in names and "[" in name else name
        if smiles not in names:
            possible = ", ".join(dict.fromkeys(names.values()))
            raise InputError("analysis.species", name, "is not in the box", f"Possible are {possible}.")
        wanted.append(names[smiles])
    return wanted


def _label(system: dict[str, Any], spec: DynamicsSpec) -> str:
    parts = [f"{one['count']} {one['name']}" for one in system["cations"]]
    parts += [system["counter_ion"]] if parts else []
    parts.append(f"{system['water']} water")
    return f"MD of {' + '.join(parts)}, {spec.temperature_kelvin:g} K"


def count_atoms(spec: DynamicsSpec) -> int | None:
    """Count the atoms of a complete spec; None: only the user's own files tell."""
    system = spec.system
    if system is None:
        return None
    identities = [identify(one.smiles, max_atoms=_MOST_ATOMS) for one in system.cations]
    atoms = sum(one.atoms * cation.count for one, cation in zip(identities, system.cations, strict=True))
    ions = sum(one.charge * cation.count for one, cation in zip(identities, system.cations, strict=True))
    return atoms + ions * _ANION_ATOMS.get(system.counter_ion, 1) + 3 * (system.water or 0)


def core_seconds(spec: DynamicsSpec) -> float | None:
    """Estimate the core-seconds of a complete spec from atoms and steps; None: its size is not known."""
    atoms = count_atoms(spec)
    if atoms is None:
        return None
    steps = (spec.nvt_ps + spec.npt_ps + spec.production_ps) * 1000 / spec.time_step_fs
    return round(
        _OVERHEAD_CORE_SECONDS + _CORE_SECONDS_PER_ATOM_STEP * atoms * (steps + spec.minimisation_steps / 5), 1
    )
