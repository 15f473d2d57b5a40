"""The spec of one molecule in one step."""

from __future__ import annotations

from orchestrator.state import Goal, Species
from tasks.specs import QuantumSpec, parse_spec

_ATOM = {"optimisation": "single_point", "optimisation_frequencies": "frequencies"}
_CONDITIONS = ("temperature_kelvin", "pressure_pascal")


def is_cluster(species: Species) -> bool:
    """Tell whether it is several molecules together, which only a structure describes."""
    return "." in species.smiles


def key_of(species: Species) -> str:
    """Give what the spec of a molecule is known by: its SMILES, or the name of a cluster."""
    return species.name[:120] if is_cluster(species) else species.smiles


def spec_for(species: Species, goal: Goal, xyz: str | None = None) -> QuantumSpec:
    """Give what a quantum step asks for one molecule, with its structure if that is known already.

    Raises
    ------
    InputError
        If the level of theory contradicts itself (a basis set with a method that brings its own, …).
    """
    molecule = {"smiles": species.smiles, "name": species.name[:120]} | ({"xyz": xyz} if xyz else {})
    if is_cluster(species):
        del molecule["smiles"]  # it is for one molecule; charge and multiplicity are given anyhow
    resources = {"cores": goal.cores, "memory_mb": goal.memory_mb}
    spec = parse_spec(
        {
            "resources": {name: value for name, value in resources.items() if value is not None},
            "kind": "quantum",
            "molecule": molecule,
            "charge": species.charge,
            "multiplicity": species.multiplicity,
            # A single atom has no geometry to optimise.
            "task": _ATOM.get(goal.task, goal.task) if species.atoms == 1 else goal.task,
            "method": goal.method,
            "basis": goal.basis,
            "dispersion": goal.dispersion,
            "solvent": goal.solvent,
            "solvent_model": goal.solvent_model,
            **{name: value for name in _CONDITIONS if (value := getattr(goal, name)) is not None},
            "engine": goal.engine,
            "label": species.name[:120],
        }
    )
    if not isinstance(spec, QuantumSpec):
        raise TypeError(f"a quantum spec became {type(spec).__name__}")
    return spec
