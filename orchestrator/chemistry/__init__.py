"""What a molecule is: SMILES, names, formula, mass, charge and 3D structures (RDKit).

Pure functions: nothing here knows of runs, jobs or Redis, and nothing here computes energies that a report would show.
"""

from __future__ import annotations

from orchestrator.chemistry.complete import complete_spec
from orchestrator.chemistry.geometry import Geometry, broken_bonds, embed
from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS, Identity, identify
from orchestrator.chemistry.names import Match, Named, find_names, look_up

__all__ = [
    "DEFAULT_MAX_ATOMS",
    "Geometry",
    "Identity",
    "Match",
    "Named",
    "broken_bonds",
    "complete_spec",
    "embed",
    "find_names",
    "identify",
    "look_up",
]
