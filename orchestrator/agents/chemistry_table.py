"""What operations of the chemistry agent give, and the table it becomes: one row a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from orchestrator.state import Column, Picture, Quantity, Table

_TITLES = ("Molecule", "Quantity", "Value", "Unit", "Method")
Row = tuple[str, str, str, str, str]


@dataclass
class Done:
    """What the operations of a step have found; ``sentences`` say the most important of it."""

    rows: list[Row] = field(default_factory=list)
    values: list[Quantity] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)

    def miss(self, what: str) -> None:
        """Say first of all what was asked for and could not be found out."""
        self.sentences.insert(0, what)
        self.notes.append(f"{what}.")


def table_of(rows: Sequence[Row]) -> Table:
    """Give a table of one row a value."""
    return Table(columns=tuple(Column(title=title) for title in _TITLES), rows=tuple(rows))
