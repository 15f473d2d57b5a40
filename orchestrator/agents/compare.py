"""Sentences that say which molecule has more of something, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from orchestrator.agents.qm_table import PROPERTIES, number
from orchestrator.state import Quantity


class _Words(NamedTuple):
    noun: str
    more: str
    most: str


_WORDS = {
    "homo": _Words("HOMO", "higher", "highest"),
    "lumo": _Words("LUMO", "higher", "highest"),
    "gap": _Words("gap", "larger", "largest"),
    "dipole": _Words("dipole moment", "larger", "largest"),
}
#: differences below this are not told apart, in the unit of the table
_SAME = 0.0005


def compare(values: Sequence[Quantity], properties: Sequence[str]) -> list[str]:
    """Compare molecules in the properties asked for; total energies of different molecules are never compared.

    Parameters
    ----------
    values
        Numbers of all molecules.
    properties
        Which of them to compare, by name.
    """
    sentences = []
    for name, words in _WORDS.items():
        if name not in properties:
            continue
        found = sorted((v for v in values if v.name == name), key=lambda v: v.value, reverse=True)
        if len(found) < 2:
            continue
        decimals = next(p.decimals for p in PROPERTIES if p.name == name)
        unit = found[0].unit
        first, last = found[0], found[-1]
        difference = first.value - last.value
        if difference < _SAME:
            sentences.append(f"The {words.noun} is the same to {10**-decimals:g} {unit}.")
        elif len(found) == 2:
            sentences.append(
                f"{first.species} has the {words.more} {words.noun}, by {number(difference, decimals)} {unit}:"
                f" {number(first.value, decimals)} {unit} against {number(last.value, decimals)} {unit}"
                f" of {last.species}."
            )
        else:
            order = " > ".join(f"{v.species} ({number(v.value, decimals)})" for v in found)
            sentences.append(
                f"{first.species} has the {words.most} {words.noun}, {number(difference, decimals)} {unit} above"
                f" {last.species}; in order, in {unit}: {order}."
            )
    return sentences
