"""The spec of one molecule in one step."""

from __future__ import annotations

from orchestrator.state import Goal, Species
from tasks.specs import QuantumSpec, parse_spec


def spec_for(species: Species, goal: Goal, xyz: str | None = None) -> QuantumSpec:
    """Give what a quantum step asks for one molecule, with its structure if that is known already.

    Raises
    ------
    InputError
        If the level of theory contradicts itself (a basis set with a method that brings its own, …).
    """
    molecule = {"smiles": species.smiles, "name": species.name[:120]} | ({"xyz": xyz} if xyz else {})
    resources = {"cores": goal.cores, "memory_mb": goal.memory_mb}
    spec = parse_spec(
        {
            "resources": {name: value for name, value in resources.items() if value is not None},
            "kind": "quantum",
            "molecule": molecule,
            "charge": species.charge,
            "multiplicity": species.multiplicity,
            # A single atom has no geometry to optimise.
            "task": "single_point" if species.atoms == 1 else goal.task,
            "method": goal.method,
            "basis": goal.basis,
            "solvent": goal.solvent,
            "engine": goal.engine,
            "label": species.name[:120],
        }
    )
    if not isinstance(spec, QuantumSpec):
        raise TypeError(f"a quantum spec became {type(spec).__name__}")
    return spec
