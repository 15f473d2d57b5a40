"""Whether a reaction SMILES is balanced: atoms of each element and charge on both sides."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from rdkit import Chem

from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS, parse
from tasks.errors import InputError

_REMEDY = "Write reactants>>products with '.' between molecules, such as 'C.O=O.O=O>>O=C=O.O.O'."


@dataclass(frozen=True)
class Balance:
    """What the sides of a reaction lack.

    Attributes
    ----------
    left_lacks, right_lacks
        Atoms of each element that only the other side has.
    left_charge, right_charge
        Total charges of the reactants and of the products, in elementary charges.
    """

    left_lacks: dict[str, int]
    right_lacks: dict[str, int]
    left_charge: int
    right_charge: int

    @property
    def balanced(self) -> bool:
        """Whether atoms and charge are the same on both sides."""
        return not self.left_lacks and not self.right_lacks and self.left_charge == self.right_charge

    @property
    def sentence(self) -> str:
        """The verdict in words that follow "the reaction"."""
        if self.balanced:
            return "is balanced in atoms and charge"
        said = [
            f"the {side} lack {', '.join(f'{count} {symbol}' for symbol, count in lacks.items())}"
            for side, lacks in (("reactants", self.left_lacks), ("products", self.right_lacks))
            if lacks
        ]
        if self.left_charge != self.right_charge:
            said.append(f"the charge goes from {self.left_charge:+d} to {self.right_charge:+d}")
        return f"is not balanced: {'; '.join(said)}"


def balance(reaction: str, max_atoms: int = DEFAULT_MAX_ATOMS) -> Balance:
    """Compare the two sides of ``reactants>reagents>products``; reagents are checked, and count on neither side.

    Raises
    ------
    InputError
        If it does not have its three parts, a side is empty, or a molecule in it is not valid (which one).
    """
    parts = reaction.strip().split(">")
    if len(parts) != 3:
        raise InputError("reaction", reaction, f"has {len(parts) - 1} of the two '>' of a reaction", _REMEDY)
    for name, part in (("reactants", parts[0]), ("products", parts[2])):
        if not part:
            raise InputError("reaction", reaction, f"has no {name}", _REMEDY)
    left, _, right = (_count(part, f"reaction.{name}", max_atoms) for name, part in _named(parts))
    return Balance(
        dict(sorted((right[0] - left[0]).items())), dict(sorted((left[0] - right[0]).items())), left[1], right[1]
    )


def _named(parts: list[str]) -> list[tuple[str, str]]:
    return list(zip(("reactants", "reagents", "products"), parts, strict=True))


def _count(side: str, field: str, max_atoms: int) -> tuple[Counter[str], int]:
    atoms: Counter[str] = Counter()
    charge = 0
    for smiles in side.split(".") if side else []:
        mol = Chem.AddHs(parse(smiles, field, max_atoms))
        atoms.update(str(atom.GetSymbol()) for atom in mol.GetAtoms())
        charge += int(Chem.GetFormalCharge(mol))
    return atoms, charge
