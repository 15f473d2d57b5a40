"""Families of cations as fragments: how a vector of numbers is read as a molecule. No chemistry program is needed.

A vector has one coordinate in [-1, 1] for each choice; the interval is divided evenly among the options, which are
ordered so that neighbours resemble each other. Several SMILES of one vector are the same molecule written with its
charge in different places; whoever can canonicalise takes the first of their canonical forms by alphabet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple

Kind = Literal["substituent", "ring_substituent", "ring"]

#: what can stand on nitrogen, by size; ring digit 9 is free in all templates
SUBSTITUENTS = {
    "methyl": "C",
    "ethyl": "CC",
    "propyl": "CCC",
    "isopropyl": "C(C)C",
    "allyl": "CC=C",
    "butyl": "CCCC",
    "isobutyl": "CC(C)C",
    "neopentyl": "CC(C)(C)C",
    "hexyl": "CCCCCC",
    "2-hydroxyethyl": "CCO",
    "2-methoxyethyl": "CCOC",
    "benzyl": "Cc9ccccc9",
}
#: what can stand on a carbon of a ring
RING_SUBSTITUENTS = {
    "hydrogen": "",
    "methyl": "C",
    "ethyl": "CC",
    "isopropyl": "C(C)C",
    "methoxy": "OC",
    "phenyl": "c9ccccc9",
}
#: second and first ring of a spiro cation without its nitrogen, by size; ``{s}`` is a ring substituent
RINGS = {
    "pyrrolidine": "CC{s}CC",
    "piperidine": "CCC{s}CC",
    "morpholine": "CC{s}OCC",
    "azepane": "CCC{s}CCC",
}


class Slot(NamedTuple):
    """One choice: its place in the template, and what can stand there."""

    name: str
    kind: Kind


@dataclass(frozen=True, kw_only=True)
class Family:
    """Cations of one kind: choices, and templates with a place ``{name}`` for each; all of charge +1."""

    name: str
    slots: tuple[Slot, ...]
    templates: tuple[str, ...]


def _slots(substituents: str, ring: str = "", rings: str = "") -> tuple[Slot, ...]:
    return (
        *(Slot(name, "substituent") for name in substituents),
        *(Slot(name, "ring") for name in rings),
        *(Slot(name, "ring_substituent") for name in ring),
    )


FAMILIES = {
    family.name: family
    for family in (
        Family(name="tetraalkylammonium", slots=_slots("abcd"), templates=("[N+]{a}{b}{c}{d}",)),
        Family(name="pyrrolidinium", slots=_slots("ab", "cd"), templates=("[N+]1{a}{b}CC{c}C{d}C1",)),
        Family(name="piperidinium", slots=_slots("ab", "cde"), templates=("[N+]1{a}{b}CC{c}C{d}C{e}C1",)),
        Family(name="morpholinium", slots=_slots("ab", "cd"), templates=("[N+]1{a}{b}CC{c}OC{d}C1",)),
        Family(
            name="imidazolium",
            slots=_slots("ab", "cde"),
            # The charge belongs to either nitrogen: two ways of writing each molecule.
            templates=("[n+]1{a}c{e}c{d}n{b}c1{c}", "n1{a}c{e}c{d}[n+]{b}c1{c}"),
        ),
        Family(name="spiro_ammonium", slots=_slots("", "ab", "xy"), templates=("[N+]12({x}1){y}2",)),
    )
}


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """The space of molecules that a swarm searches.

    Parameters
    ----------
    families
        Names of ``FAMILIES``; with several, the first coordinate chooses.
    substituents, ring_substituents, rings
        Names of the tables above that are allowed, in the order in which the coordinate runs over them.
    """

    families: tuple[str, ...]
    substituents: tuple[str, ...]
    ring_substituents: tuple[str, ...]
    rings: tuple[str, ...] = tuple(RINGS)

    @property
    def dimensions(self) -> int:
        """Number of coordinates: the family (if there are several), and the slots of the largest family."""
        slots = max(len(FAMILIES[name].slots) for name in self.families)
        return slots + (1 if len(self.families) > 1 else 0)

    @property
    def size(self) -> int:
        """Number of different choices; molecules are fewer, since many choices give the same one."""
        total = 0
        for name in self.families:
            count = 1
            for slot in FAMILIES[name].slots:
                count *= len(self._options(slot))
            total += count
        return total

    def decode(self, vector: Sequence[float]) -> tuple[str, ...]:
        """Give the molecule of a vector: SMILES that all mean it, not canonical."""
        values = list(vector)
        name = self.families[0]
        if len(self.families) > 1:
            name = self.families[option(values.pop(0), len(self.families))]
        family = FAMILIES[name]
        chosen = []
        for slot, value in zip(family.slots, values, strict=False):
            options = self._options(slot)
            chosen.append(options[option(value, len(options))])
        return write(family, chosen)

    def enumerate(self) -> list[tuple[str, ...]]:
        """Give every choice as ``decode`` does: the same molecule as often as it can be chosen."""
        found = []
        for name in self.families:
            family = FAMILIES[name]
            choices = product(*(self._options(slot) for slot in family.slots))
            found += [write(family, choice) for choice in choices]
        return found

    def _options(self, slot: Slot) -> tuple[str, ...]:
        return {"substituent": self.substituents, "ring": self.rings, "ring_substituent": self.ring_substituents}[
            slot.kind
        ]


def option(value: float, count: int) -> int:
    """Give which of ``count`` options a coordinate in [-1, 1] means."""
    return max(0, min(count - 1, int((value + 1) / 2 * count)))


def write(family: Family, chosen: Sequence[str]) -> tuple[str, ...]:
    """Write a member of a family as SMILES, from the name of what stands in each slot."""
    filled: dict[str, str] = {}
    rings: dict[str, str] = {}
    for slot, name in zip(family.slots, chosen, strict=True):
        match slot.kind:
            case "ring":
                rings[slot.name] = RINGS[name]
            case "substituent":
                filled[slot.name] = f"({SUBSTITUENTS[name]})"
            case "ring_substituent":
                filled[slot.name] = f"({RING_SUBSTITUENTS[name]})" if RING_SUBSTITUENTS[name] else ""
    for (place, ring), substituent in zip(rings.items(), ("a", "b"), strict=False):
        filled[place] = ring.format(s=filled[substituent])
    return tuple(template.format(**filled) for template in family.templates)
