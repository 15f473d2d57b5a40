"""Completing a spec before it is frozen: charge, multiplicity, structure, label and engine, checked against each other.

The method, basis and solvent that were asked for are never changed.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from orchestrator.chemistry.geometry import embed
from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS, Identity, canonical, identify, parse
from tasks.elements import electron_count, parse_xyz
from tasks.errors import InputError
from tasks.methods import capable_engines
from tasks.specs import QuantumSpec, check_electrons, dump_spec, parse_spec

_LABEL_LENGTH = 120


def complete_spec(
    spec: QuantumSpec, offered: frozenset[str] | None = None, max_atoms: int = DEFAULT_MAX_ATOMS
) -> QuantumSpec:
    """Give the exact spec that a worker can run without deciding anything.

    Completing a complete spec changes nothing.

    Parameters
    ----------
    spec
        What was asked for.
    offered
        Queues that workers have declared; None or none that fits: the first engine that computes exactly this.
    max_atoms
        The largest molecule that is accepted.

    Raises
    ------
    InputError
        If charge, multiplicity, SMILES and structure contradict each other, or something needed is missing.
    """
    changes: dict[str, Any] = _engine(spec, offered)
    if spec.molecule.smiles and spec.molecule.smiles.strip():
        identity = identify(spec.molecule.smiles, max_atoms=max_atoms)
        changes |= _from_smiles(spec, identity, max_atoms)
        default_label = spec.molecule.name or (identity.smiles if len(identity.smiles) <= 40 else identity.formula)
    else:
        changes |= _from_xyz(spec, max_atoms)
        default_label = spec.molecule.name or _formula(spec.molecule.xyz or "")
    changes["label"] = spec.label or default_label[:_LABEL_LENGTH]
    complete = parse_spec(dump_spec(spec) | changes)
    if not isinstance(complete, QuantumSpec):
        raise TypeError(f"a quantum spec became {type(complete).__name__}")
    return complete


def _engine(spec: QuantumSpec, offered: frozenset[str] | None) -> dict[str, Any]:
    """Choose the engine where none was named, and say why it is that one."""
    if spec.engine != "auto":
        return {}
    able = capable_engines(spec.demand)
    queues = {engine: f"{engine}@{spec.tag}" if spec.tag else engine for engine in able}
    there = [engine for engine in able if queues[engine] in (offered or ())]
    if there:
        others = [engine for engine in able if engine != there[0]]
        reason = f"auto: first of those offered that compute {spec.demand}" + (
            f" ({', '.join(others)} could as well)" if others else " (no other does)"
        )
    else:
        known = "; no worker offered any of them" if offered else ""
        reason = f"auto: first of {', '.join(able)} for {spec.demand}{known}"
    return {"engine": (there or able)[0], "engine_reason": reason[:200]}


def _from_smiles(spec: QuantumSpec, identity: Identity, max_atoms: int) -> dict[str, Any]:
    """Give molecule, charge and multiplicity as the SMILES has them; refuse what contradicts it."""
    multiplicity = spec.multiplicity or identity.multiplicity
    check_identity(identity, spec.charge, multiplicity)
    xyz = spec.molecule.xyz
    if xyz and xyz.strip():
        check_composition(identity.smiles, xyz, max_atoms)
    else:
        xyz = embed(identity.smiles, max_atoms=max_atoms).xyz
    molecule = {"smiles": identity.smiles, "xyz": xyz, "name": spec.molecule.name}
    return {"molecule": molecule, "charge": identity.charge, "multiplicity": multiplicity}


def check_identity(identity: Identity, charge: int | None, multiplicity: int | None) -> None:
    """Raise InputError if a charge or multiplicity contradicts a SMILES; None: not given, nothing to check."""
    if charge is not None and charge != identity.charge:
        problem = f"contradicts the SMILES {identity.smiles!r}, whose charge is {identity.charge:+d}"
        raise InputError("charge", charge, problem, f"Give charge {identity.charge:+d}, or leave it out.")
    if multiplicity is None:
        return
    if multiplicity % 2 != identity.electrons % 2 and multiplicity <= identity.electrons + 1:
        return
    if identity.electrons % 2:
        kind, right = f"an odd number of electrons ({identity.electrons})", "2 (a doublet), 4, …"
    else:
        kind, right = f"an even number of electrons ({identity.electrons})", "1 (a singlet), 3, …"
    radical = f" and is a radical with {identity.radical_electrons} unpaired" if identity.radical_electrons else ""
    problem = f"is impossible for {identity.smiles!r}, which has {kind}{radical}"
    remedy = f"Possible are {right}; leave it out for {identity.multiplicity}."
    raise InputError("multiplicity", multiplicity, problem, remedy)


def check_composition(smiles: str, xyz: str, max_atoms: int, field: str = "molecule.xyz") -> None:
    """Raise InputError if an XYZ block has other atoms than the SMILES."""
    mol = parse(smiles, max_atoms=max_atoms)
    expected = Counter(atom.GetSymbol() for atom in mol.GetAtoms())
    expected["H"] += sum(atom.GetTotalNumHs() for atom in mol.GetAtoms())
    given = Counter(atom.symbol for atom in parse_xyz(xyz))
    if +expected != +given:
        problem = f"does not belong to the SMILES {canonical(mol)!r}, which is {_hill(expected)}"
        raise InputError(field, _hill(given), problem, "Give the XYZ of that molecule, or leave one out.")


def _from_xyz(spec: QuantumSpec, max_atoms: int) -> dict[str, Any]:
    """Give charge and multiplicity of a bare XYZ block, whose charge has to be told."""
    xyz = spec.molecule.xyz or ""
    atoms = parse_xyz(xyz)
    if len(atoms) > max_atoms:
        remedy = f"At most {max_atoms} are accepted (SIMRELAY_MAX_ATOMS); take a smaller model of it."
        raise InputError("molecule.xyz", f"{len(atoms)} atoms", "is too large", remedy)
    if spec.charge is None:
        remedy = "An XYZ block does not say it: give charge, for example 0, or 1 for a cation; or give the SMILES too."
        raise InputError("charge", None, "is missing", remedy)
    multiplicity = spec.multiplicity
    if multiplicity is None:
        # The lowest that the number of electrons allows.
        multiplicity = 1 + electron_count(atoms, spec.charge) % 2
    check_electrons(xyz, spec.charge, multiplicity)
    return {"charge": spec.charge, "multiplicity": multiplicity}


def _formula(xyz: str) -> str:
    return _hill(Counter(atom.symbol for atom in parse_xyz(xyz)))


def _hill(counts: Counter[str]) -> str:
    """Give a formula in Hill order: carbon, hydrogen, then by letter; without carbon all by letter."""
    symbols = sorted(symbol for symbol, count in counts.items() if count)
    if "C" in symbols:
        symbols.sort(key=lambda symbol: (symbol != "C", symbol != "H", symbol))
    return "".join(f"{s}{counts[s] if counts[s] > 1 else ''}" for s in symbols)
