"""Where the grammar of a SMILES is broken, and what would be right there.

RDKit says no more than near which character it stopped. What is looked for here are the slips that people make: see
Weininger, J. Chem. Inf. Comput. Sci. 1988, 28, 31, doi:10.1021/ci00057a005, for the rules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rdkit import Chem

_ATOM = re.compile(r"\[[^\[\]]+\]|Br|Cl|[BCNOPSFI]|[bcnops]|\*")
_RING = re.compile(r"%\(\d+\)|%\d\d|\d")
_BONDS = "-=#$:/\\"
_PLUS, _MINUS = "⁺＋", "⁻−–—‐‑－"
_BRACKET = "Write isotope, element, hydrogens, charge, in this order: [13CH3], [NH4+]."
_ELEMENTS = frozenset(Chem.GetPeriodicTable().GetElementSymbol(number) for number in range(1, 119))
_CHARGED = {"Li": "+", "Na": "+", "K": "+", "Mg": "+2", "Ca": "+2", "Zn": "+2"}


@dataclass(frozen=True)
class Mistake:
    """What is wrong at which character (from 1; None: not at one place), and what would be right."""

    reason: str
    position: int | None
    remedy: str


def atom_positions(smiles: str) -> list[int]:
    """Give the position of each atom's first character, counted from 1, in the order of RDKit's atoms."""
    return [match.start() + 1 for match in _ATOM.finditer(smiles)]


def atom_tokens(smiles: str) -> list[str]:
    """Give each atom as it is written, brackets included, in the order of RDKit's atoms."""
    return _ATOM.findall(smiles)


def find_stranger(text: str) -> Mistake | None:
    """Find the first character that no SMILES has, which RDKit overlooks: blanks, and signs that are not ASCII."""
    for at, character in enumerate(text, 1):
        before = _last_atom(text[: at - 1])
        if character.isspace():
            return Mistake("a blank stands in it, which no SMILES has", at, "Take it out; one SMILES is one word.")
        if character in _PLUS + _MINUS:
            sign = "+" if character in _PLUS else "-"
            inside = text.rfind("[", 0, at) > text.rfind("]", 0, at)
            remedy = f"Write '{sign}', in brackets with its atom where it is a charge: [{before or 'O'}{sign}]."
            return Mistake(
                f"{character!r} is not the {sign!r} of the keyboard", at, f"Write '{sign}'." if inside else remedy
            )
        if not character.isascii():
            return Mistake(f"{character!r} is no atom, bond or bracket of a SMILES", at, "Take it out.")
    return None


def find_mistake(text: str) -> Mistake | None:
    """Find the first mistake of grammar; None: there is none that is known."""
    if stranger := find_stranger(text):
        return stranger
    branches: list[int] = []
    rings: dict[str, tuple[int, int]] = {}
    place, before, atoms = 0, "", 0
    while place < len(text):
        character, at = text[place], place + 1
        if character == "[":
            end = text.find("]", place)
            if end < 0 or "[" in text[at:end]:
                return Mistake(
                    "the bracket that opens here is never closed", at, "Write ']' after the atom and its charge."
                )
            if Chem.MolFromSmiles(text[place : end + 1], sanitize=False) is None:
                return _bracket(text[place : end + 1], at)
            before, place, atoms = "atom", end + 1, atoms + 1
        elif character == "]":
            return Mistake(
                "this closes a bracket that was never opened", at, "Take it out, or write '[' before the atom."
            )
        elif character == "(":
            if before not in ("atom", "ring", "close"):
                remedy = "Write the atom that the branch hangs on first."
                return Mistake("a branch begins without an atom before it", at, remedy)
            branches.append(at)
            before, place = "open", at
        elif character == ")":
            if not branches:
                remedy = "Take it out, or write '(' where it begins."
                return Mistake("this closes a branch that was never opened", at, remedy)
            if before == "open":
                return Mistake("the branch is empty", branches[-1], "Take '()' out, or write its atoms.")
            if before == "bond":
                return _loose_bond(text, place)
            branches.pop()
            before, place = "close", at
        elif (ring := _RING.match(text, place)) is not None:
            if before not in ("atom", "ring", "bond"):
                remedy = "Write it after the atom it belongs to."
                return Mistake("a ring number stands without an atom before it", at, remedy)
            if ring[0] in rings and rings[ring[0]][1] == atoms:
                remedy = f"Write the second {ring[0]} after another atom."
                return Mistake(f"ring {ring[0]} opens and closes at the same atom", at, remedy)
            rings.pop(ring[0], None) if ring[0] in rings else rings.update({ring[0]: (at, atoms)})
            before, place = "ring", ring.end()
        elif character in "+" or (character == "-" and _is_charge(text, place)):
            return _charge(text, place)
        elif character in _BONDS:
            if before == "bond" and text[place - 1] not in "/\\":
                return Mistake("two bonds follow each other", at, "Write one of '-', '=', '#' between two atoms.")
            if before == "":
                return Mistake("it begins with a bond", at, "Begin with an atom.")
            before, place = "bond", at
        elif character == ".":
            if before == "":
                return Mistake("a dot stands without a molecule before it", at, "Write one '.' between two molecules.")
            if before == "bond":
                return _loose_bond(text, place)
            before, place = "", at
        elif (atom := _ATOM.match(text, place)) is not None and _no_atom(text, place) is None:
            before, place, atoms = "atom", atom.end(), atoms + 1
        else:
            return _no_atom(text, place) or _unknown(character, at)
    if branches:
        return Mistake("the branch that opens here is never closed", branches[-1], "Write ')' where it ends.")
    if rings:
        number, (at, _) = next(iter(rings.items()))
        remedy = f"Write {number} again after the atom that closes it."
        return Mistake(f"ring {number} opens here and is never closed", at, remedy)
    if before == "bond":
        return _loose_bond(text, len(text))
    if before == "" and text:
        return Mistake("a dot stands without a molecule after it", len(text), "Take it out, or write the molecule.")
    return None


def _last_atom(text: str) -> str:
    found = re.findall(r"\[[^\[\]]+\]|Br|Cl|[A-Z]", text)
    return found[-1] if found and not found[-1].startswith("[") else ""


def _is_charge(text: str, place: int) -> bool:
    """Tell whether a '-' outside brackets is no bond: nothing that could be bound follows it."""
    after = text[place + 1 : place + 2]
    return place > 0 and text[place - 1] not in "(.-=#" and after in ("", ")", ".", "-")


def _charge(text: str, place: int) -> Mistake:
    sign, atom = text[place], _last_atom(text[:place])
    example = f"[{atom}{sign}]" if atom else f"[N{sign}]"
    remedy = f"Write the atom in brackets with its charge, and with its hydrogens if it has any: {example}."
    return Mistake("a charge stands outside brackets", place + 1, remedy)


def _loose_bond(text: str, place: int) -> Mistake:
    return Mistake("a bond leads to no atom", place, f"Write the atom after '{text[place - 1]}', or take it out.")


def _no_atom(text: str, place: int) -> Mistake | None:
    """Explain letters that stand where an atom would, and are none of those that need no brackets."""
    at, two = place + 1, text[place : place + 2]
    if two in ("CL", "BR"):
        return Mistake(
            f"{two} is no element", at, f"Write {two.capitalize()}: the second letter of an element is small."
        )
    if text[place] == "H":
        remedy = "Leave hydrogens out, as in CO for methanol, or write them in brackets with their atom: [NH4+]."
        return Mistake("a hydrogen stands outside brackets", at, remedy)
    if two[1:].islower() and two in _ELEMENTS and two not in ("Cl", "Br") and two[1] not in "bcnops":
        return Mistake(f"{two} stands outside brackets", at, f"Write [{two}{_CHARGED.get(two, '')}].")
    return None


def _unknown(character: str, at: int) -> Mistake:
    if character == "%":
        return Mistake(
            "'%' stands without two digits after it", at, "Write ring numbers from 10 on as %10, at both ends."
        )
    if character == "@":
        remedy = "Write it in brackets with its atom: [C@H], [C@@H]."
        return Mistake("a mark of stereochemistry stands outside brackets", at, remedy)
    if character == ">":
        remedy = "Give one side of it, or ask whether the reaction is balanced."
        return Mistake("this is a reaction, not a molecule", at, remedy)
    if character in _ELEMENTS:
        return Mistake(f"{character} stands outside brackets", at, f"Write [{character}{_CHARGED.get(character, '')}].")
    remedy = "Atoms other than B, C, N, O, P, S and halogens stand in brackets: [Na+]."
    return Mistake(f"{character!r} is no atom, bond or bracket of a SMILES", at, remedy)


def _bracket(inside: str, at: int) -> Mistake:
    reason = f"{inside} is no bracket atom"
    if turned := re.fullmatch(r"\[(\d*)([A-Z][a-z]?)([+-]+\d?)(H\d?)\]", inside):
        right = f"[{turned[1]}{turned[2]}{turned[4]}{turned[3]}]"
        return Mistake(reason, at, f"Write the charge last: {right}.")
    symbol = re.match(r"\[\d*([A-Z][a-z]?)", inside)
    if symbol and symbol[1] not in _ELEMENTS and symbol[1][0] not in _ELEMENTS:
        return Mistake(f"{symbol[1]} is no element", at + inside.index(symbol[1]), _BRACKET)
    return Mistake(reason, at, _BRACKET)
