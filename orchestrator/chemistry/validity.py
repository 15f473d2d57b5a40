"""Whether a SMILES is valid, and if not: why, and at which of its characters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from rdkit import Chem

from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS, canonical, quietly

_ATOM = re.compile(r"\[[^\[\]]+\]|Br|Cl|[BCNOPSFI]|[bcnops]|\*")
_RING = re.compile(r"%\(\d+\)|%\d\d|\d")
_BONDS = "-=#$:/\\"
_CHARGED = "Nitrogen with four bonds is [N+], oxygen with one bond and a charge [O-]."


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
        return f"{self.smiles} is not valid: {self.reason}{where}. {self.remedy}".strip()


def check(smiles: str, max_atoms: int = DEFAULT_MAX_ATOMS) -> Verdict:
    """Say whether RDKit reads a SMILES (also one of several parts), and explain why if it does not."""
    text = smiles.strip()
    if not text:
        return Verdict(smiles=text, valid=False, reason="it is empty", remedy="Give a SMILES, such as 'CCO'.")
    if len(text) > 24 * max_atoms:
        remedy = f"At most {max_atoms} atoms are accepted."
        return Verdict(smiles=text, valid=False, reason=f"it has {len(text)} characters", remedy=remedy)
    with quietly() as lines:
        raw = Chem.MolFromSmiles(text, sanitize=False)
    if raw is None:
        reason, position, remedy = explain(text, lines)
        return Verdict(smiles=text, valid=False, reason=reason, position=position, remedy=remedy)
    raw.UpdatePropertyCache(strict=False)
    with quietly():
        problems = list(Chem.DetectChemistryProblems(raw))
        mol = None if problems else Chem.MolFromSmiles(text)
    if mol is None:
        reason, position, remedy = _chemistry(text, problems)
        return Verdict(smiles=text, valid=False, reason=reason, position=position, remedy=remedy)
    return Verdict(
        smiles=text,
        valid=True,
        canonical=canonical(mol),
        connectivity=str(Chem.MolToSmiles(mol, isomericSmiles=False)),
        parts=len(Chem.GetMolFrags(mol)),
    )


def atom_positions(smiles: str) -> list[int]:
    """Give the position of each atom's first character, counted from 1, in the order of RDKit's atoms."""
    return [match.start() + 1 for match in _ATOM.finditer(smiles)]


def explain(text: str, lines: list[str]) -> tuple[str, int | None, str]:
    """Find the first mistake of grammar: reason, position (from 1) and remedy; RDKit's own position as last resort."""
    open_branches: list[int] = []
    rings: dict[str, int] = {}
    place, before = 0, ""
    while place < len(text):
        character, at = text[place], place + 1
        if character == "[":
            end = text.find("]", place)
            if end < 0:
                return "the bracket that opens here is never closed", at, "Write ']' after the atom and its charge."
            if Chem.MolFromSmiles(text[place : end + 1], sanitize=False) is None:
                inside = text[place : end + 1]
                return f"{inside} is no bracket atom", at, "Write isotope, element, hydrogens, charge: [13CH3], [N+]."
            before, place = "atom", end + 1
        elif character == "(":
            if before not in ("atom", "ring", "close"):
                return "a branch begins without an atom before it", at, "Write the atom that the branch hangs on first."
            open_branches.append(at)
            before, place = "open", at
        elif character == ")":
            if not open_branches:
                return "this closes a branch that was never opened", at, "Take it out, or write '(' where it begins."
            if before == "open":
                return "the branch is empty", open_branches[-1], "Take '()' out, or write its atoms."
            if before == "bond":
                return "a bond leads to no atom", place, f"Write the atom after it; charges need brackets. {_CHARGED}"
            open_branches.pop()
            before, place = "close", at
        elif (ring := _RING.match(text, place)) is not None:
            if before not in ("atom", "ring", "bond"):
                return "a ring number stands without an atom before it", at, "Write it after the atom it belongs to."
            rings.pop(ring[0], None) if ring[0] in rings else rings.update({ring[0]: at})
            before, place = "ring", ring.end()
        elif character == "+":
            remedy = f"A charge belongs in brackets with its atom. {_CHARGED}"
            return "a charge stands outside brackets", at, remedy
        elif character in _BONDS:
            if before == "bond" and text[place - 1] not in "/\\":
                return "two bonds follow each other", at, "Write one of '-', '=', '#' between two atoms."
            if before == "":
                return "it begins with a bond", at, "Begin with an atom."
            before, place = "bond", at
        elif character == ".":
            before, place = "", at
        elif (atom := _ATOM.match(text, place)) is not None:
            before, place = "atom", atom.end()
        else:
            return _stranger(character), at, "Atoms other than B, C, N, O, P, S and halogens stand in brackets: [Na+]."
    if open_branches:
        return "the branch that opens here is never closed", open_branches[-1], "Write ')' where it ends."
    if rings:
        number, at = next(iter(rings.items()))
        remedy = f"Write {number} again after the atom that closes it."
        return f"ring {number} opens here and is never closed", at, remedy
    if before == "bond":
        remedy = f"Write the atom after it; charges need brackets. {_CHARGED}"
        return "a bond leads to no atom", len(text), remedy
    said = re.search(r"around position (\d+)", "\n".join(lines))
    reason = re.search(r"SMILES Parse Error: (.*?)(?: for input|: ?'|while|$)", "\n".join(lines), re.MULTILINE)
    return (reason[1].strip() if reason else "it cannot be read"), int(said[1]) if said else None, "Check this place."


def _stranger(character: str) -> str:
    if character.isspace():
        return "a blank stands in it, which no SMILES has"
    return f"{character!r} is no atom, bond or bracket of a SMILES"


def _chemistry(text: str, problems: list[Any]) -> tuple[str, int | None, str]:
    if not problems:
        return "it cannot be read as a molecule", None, "Check rings and charges."
    first, places = problems[0], atom_positions(text)
    if first.GetType() in ("AtomValenceException", "AtomKekulizeException"):
        index = first.GetAtomIdx()
        position = places[index] if index < len(places) else None
        if first.GetType() == "AtomKekulizeException":
            return "an aromatic atom stands outside a ring", position, "Write it with a capital letter."
        bonds = re.search(r"Explicit valence for atom # \d+ (\w+), (\d+)", first.Message())
        what = f"{bonds[1]} has {bonds[2]} bonds, too many for its charge" if bonds else "it has too many bonds"
        return what, position, f"Give the atom its charge in brackets, or fewer bonds. {_CHARGED}"
    if first.GetType() == "KekulizeException":
        index = min(first.GetAtomIndices())
        reason = "the aromatic ring that holds this atom cannot have alternating double bonds"
        remedy = "Check the number of small letters in the ring; nitrogen with a hydrogen is [nH]."
        return reason, places[index] if index < len(places) else None, remedy
    return str(first.Message()).strip().rstrip("."), None, "Check rings and charges."
