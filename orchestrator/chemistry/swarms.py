"""Completing the specs of swarms and evaluations before they are frozen: backbone, structures and charges checked."""

from __future__ import annotations

from orchestrator.chemistry.complete import check_composition
from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS, canonical, identify, parse
from tasks.errors import InputError
from tasks.specs import EvaluationSpec, SwarmSpec
from tasks.swarms import BACKBONES


def complete_swarm(spec: SwarmSpec) -> SwarmSpec:
    """Give the exact spec: a backbone that is a possible repeat unit, and a label.

    Raises
    ------
    InputError
        If the backbone is no possible molecule with two ends.
    """
    backbone = spec.backbone
    if backbone not in BACKBONES:
        # Its ends are checked as hydrogens, since a placeholder is no atom.
        parse(backbone.replace("[*]", "[H]").replace("*", "[H]"), "backbone")
    families = ", ".join(name.replace("_", " ") for name in spec.families)
    return spec.model_copy(update={"label": spec.label or f"{families} on {backbone}"[:120]})


def complete_evaluation(spec: EvaluationSpec, max_atoms: int = DEFAULT_MAX_ATOMS) -> EvaluationSpec:
    """Check that structures and charges belong to their SMILES, which have to be canonical closed-shell molecules.

    Raises
    ------
    InputError
        For the first that does not.
    """
    for number, one in enumerate(spec.molecules):
        field = f"molecules.{number}"
        identity = identify(one.smiles, f"{field}.smiles", max_atoms)
        if canonical(parse(one.smiles, f"{field}.smiles", max_atoms)) != one.smiles:
            raise InputError(f"{field}.smiles", one.smiles, "is not canonical", f"Write {identity.smiles!r}.")
        if one.charge != identity.charge:
            problem = f"contradicts the SMILES, whose charge is {identity.charge:+d}"
            raise InputError(f"{field}.charge", one.charge, problem, f"Give {identity.charge}.")
        if identity.multiplicity != 1:
            raise InputError(f"{field}.smiles", one.smiles, "is a radical", "Compute it as a quantum job.")
        check_composition(one.smiles, one.xyz, max_atoms, f"{field}.xyz")
    count = len(spec.molecules)
    return spec.model_copy(update={"label": spec.label or f"{count} molecule{'s' if count > 1 else ''}"})
