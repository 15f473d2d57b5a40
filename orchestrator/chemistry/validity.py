"""Whether a SMILES is valid, and if not: why, and at which of its characters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from rdkit import Chem

from orchestrator.chemistry.grammar import Mistake, atom_positions, atom_tokens
from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS, canonical, quietly, read_raw

#: element -> bonds that it has without a charge, and the sign of the charge that one more gives it
_USUAL = {
    "B": (3, "-"),
    "C": (4, ""),
    "N": (3, "+"),
    "O": (2, "+"),
    "F": (1, ""),
    "P": (5, ""),
    "S": (6, ""),
    "Cl": (1, ""),
    "Br": (1, ""),
    "H": (1, ""),
}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What became of checking a SMILES.

    Attributes
    ----------
    smiles
        As it was written.
    reason, remedy
        What is wrong and what would be right; empty if nothing is.
    position
        Of the first character that is wrong, counted from 1; None: not at one place, or valid.
    canonical, connectivity
        Canonical SMILES with and without stereochemistry and isotopes; empty if invalid.
    parts
        Separate molecules or ions in it.
    """

    smiles: str
    valid: bool
    reason: str = ""
    position: int | None = None
    remedy: str = ""
    canonical: str = ""
    connectivity: str = ""
    parts: int = 0

    @property
    def sentence(self) -> str:
        """The verdict in words, with the wrong character where there is one."""
        if self.valid:
            several = f", and holds {self.parts} separate molecules or ions" if self.parts > 1 else ""
            return f"{self.smiles} is valid{several}."
        where = f" at character {self.position} ({self.smiles[self.position - 1]!r})" if self.position else ""
        return f"{self.smiles or 'An empty text'} is not valid: {self.reason}{where}. {self.remedy}".strip()


def check(smiles: str, max_atoms: int = DEFAULT_MAX_ATOMS) -> Verdict:
    """Say whether RDKit reads a SMILES (also one of several parts), and explain why if it does not."""
    text = smiles.strip()
    if not text:
        return Verdict(smiles=text, valid=False, reason="it holds nothing", remedy="Give a SMILES, such as 'CCO'.")
    if len(text) > 24 * max_atoms:
        remedy = f"At most {max_atoms} atoms are accepted."
        return Verdict(smiles=text, valid=False, reason=f"it has {len(text)} characters", remedy=remedy)
    raw = read_raw(text)
    if isinstance(raw, Mistake):
        return _refused(text, raw)
    raw.UpdatePropertyCache(strict=False)
    with quietly():
        problems = list(Chem.DetectChemistryProblems(raw))
        mol = None if problems else Chem.MolFromSmiles(text)
    if mol is None:
        return _refused(text, _chemistry(text, problems, raw))
    return Verdict(
        smiles=text,
        valid=True,
        canonical=canonical(mol),
        connectivity=str(Chem.MolToSmiles(mol, isomericSmiles=False)),
        parts=len(Chem.GetMolFrags(mol)),
    )


def _refused(text: str, mistake: Mistake) -> Verdict:
    return Verdict(smiles=text, valid=False, reason=mistake.reason, position=mistake.position, remedy=mistake.remedy)


def _chemistry(text: str, problems: list[Any], raw: Chem.Mol) -> Mistake:
    """Explain what is wrong with the first atom or ring that chemistry does not allow."""
    if not problems:
        return Mistake("it cannot be read as a molecule", None, "Check rings and charges.")
    first, places, tokens = problems[0], atom_positions(text), atom_tokens(text)
    if first.GetType() == "KekulizeException":
        return _not_kekulised(list(first.GetAtomIndices()), places, tokens, raw)
    if first.GetType() not in ("AtomValenceException", "AtomKekulizeException"):
        return Mistake(str(first.Message()).strip().rstrip("."), None, "Check rings and charges.")
    index = first.GetAtomIdx()
    position = places[index] if index < len(places) else None
    if first.GetType() == "AtomKekulizeException":
        small = raw.GetAtomWithIdx(index).GetSymbol()
        return Mistake("an aromatic atom stands outside a ring", position, f"Write it with a capital letter: {small}.")
    bonds = re.search(r"Explicit valence for atom # \d+ (\w+), (\d+)", first.Message())
    if bonds is None:
        return Mistake("it has too many bonds", position, "Give it fewer bonds, or its charge in brackets.")
    token = tokens[index] if index < len(tokens) else bonds[1]
    remedy = _right_valence(bonds[1], int(bonds[2]), token)
    return Mistake(f"{bonds[1]} has {bonds[2]} bonds, too many for its charge", position, remedy)


def _right_valence(symbol: str, bonds: int, token: str) -> str:
    """Say how an atom with too many bonds would be right: charged, if one bond too many makes it a usual ion."""
    usual, charge = _USUAL.get(symbol, (0, ""))
    uncharged = "+" not in token and "-" not in token
    if charge and bonds == usual + 1 and uncharged:
        charged = f"{token[:-1]}{charge}]" if token.startswith("[") else f"[{token}{charge}]"
        return f"{symbol} with {bonds} bonds is charged: write {charged}, or take a bond away."
    if symbol == "N" and bonds > usual + 1:
        return "N has at most 4 bonds, and is [N+] with 4: take bonds away; a nitro group is [N+](=O)[O-]."
    if usual:
        return f"{symbol} has {usual} bond{'s' if usual > 1 else ''} without a charge: take bonds away."
    return "Take bonds away, or give it its charge in brackets."


def _not_kekulised(indices: list[int], places: list[int], tokens: list[str], raw: Chem.Mol) -> Mistake:
    """Explain an aromatic ring without alternating double bonds: most often a nitrogen lacks its hydrogen."""
    reason = "the aromatic ring that holds this atom cannot have alternating double bonds"
    nitrogens = [i for i in indices if i < len(tokens) and tokens[i] == "n" and raw.GetAtomWithIdx(i).GetDegree() == 2]
    index = nitrogens[0] if nitrogens else min(indices)
    remedy = (
        "If this nitrogen has a hydrogen, write [nH]."
        if nitrogens
        else "Check how many small letters the ring has: one of five needs [nH], o, s or [cH-] among them; or write"
        " capital letters with '='."
    )
    return Mistake(reason, places[index] if index < len(places) else None, remedy)
