"""A store in memory that finds nothing: for tests of what comes before a store."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.library.chunks import Chunk
from orchestrator.library.store import Hit, LibraryStore, Record


class Shelf(LibraryStore):
    """Keeps records only."""

    method = "nothing"

    def __init__(self) -> None:
        self.kept: dict[str, Record] = {}

    def documents(self) -> list[Record]:
        """Give all documents."""
        return list(self.kept.values())

    def add(self, record: Record, chunks: Sequence[Chunk]) -> None:
        """Keep a record."""
        self.kept[record.id] = record

    def remove(self, document: str) -> None:
        """Forget a record."""
        self.kept.pop(document, None)

    def search(self, question: str, count: int) -> list[Hit]:
        """Find nothing."""
        return []

    def reindex(self) -> int:
        """Do nothing."""
        return 0

    def close(self) -> None:
        """Nothing is open."""
