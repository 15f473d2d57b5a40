"""Masses and counts of a molecule: average and monoisotopic mass, and its atoms by element."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from rdkit import Chem
from rdkit.Chem import rdMolDescriptors

from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS, identify, parse


@dataclass(frozen=True)
class Masses:
    """Both masses of a molecule in dalton (g/mol).

    Attributes
    ----------
    average_dalton
        With the standard atomic weights of the natural elements (as weighed).
    monoisotopic_dalton
        Of the most abundant isotope of every element, or the one that is written; the electrons that an ion lacks or
        has too many are counted (as a mass spectrometer sees it).
    """

    average_dalton: float
    monoisotopic_dalton: float


_TABLE = Chem.GetPeriodicTable()
_NAMES = {_TABLE.GetElementName(number).lower(): _TABLE.GetElementSymbol(number) for number in range(1, 87)}
_NAMES |= {"sulphur": "S", "aluminium": "Al", "caesium": "Cs"}
_NAMED = re.compile(rf"\b({'|'.join(_NAMES)})s?\b(?![\s-]*(?:bonds?|bonding|mon|di|tri))", re.IGNORECASE)


def named_elements(text: str) -> tuple[str, ...]:
    """Give the symbols of the elements that a text names, in its order: "how many carbons" gives ``C``."""
    return tuple(dict.fromkeys(_NAMES[match[1].lower()] for match in _NAMED.finditer(text)))


def masses(smiles: str, max_atoms: int = DEFAULT_MAX_ATOMS) -> Masses:
    """Give both masses; raises InputError as ``parse``."""
    identity = identify(smiles, max_atoms=max_atoms)
    # RDKit takes an ion's missing electrons off itself.
    exact = float(rdMolDescriptors.CalcExactMolWt(parse(smiles, max_atoms=max_atoms)))
    return Masses(identity.mass_dalton, exact)


def atom_counts(smiles: str, max_atoms: int = DEFAULT_MAX_ATOMS) -> dict[str, int]:
    """Count the atoms of each element, hydrogens included, in Hill order; raises InputError as ``parse``."""
    mol = Chem.AddHs(parse(smiles, max_atoms=max_atoms))
    counted = Counter(atom.GetSymbol() for atom in mol.GetAtoms())
    first = [symbol for symbol in ("C", "H") if symbol in counted] if "C" in counted else []
    return {symbol: counted[symbol] for symbol in (*first, *sorted(set(counted) - set(first)))}
