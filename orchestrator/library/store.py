"""What a store of the library is: documents with their passages, found by a question."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from orchestrator.library.chunks import Chunk
from tasks.errors import Conflict, Unreachable

Kind = Literal["pdf", "markdown", "text", "bibtex"]


class Part(BaseModel):
    """Base of what the library gives: immutable; what a newer version adds is left out."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Record(Part):
    """What is kept of a document besides its passages."""

    #: SHA-256 of its content
    id: str
    #: of the file; of a BibTeX entry, of the file that it describes, else its key
    name: str
    kind: Kind
    title: str
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str = ""
    pages: int = 1
    chunks: int = 0
    #: where the file lies, relative to the workspace
    path: str = ""


class Hit(Part):
    """A passage that a search found."""

    document: Record
    #: of the passage in its document, from 1
    number: int
    page: int
    text: str
    #: as the search that found it counts: BM25, similarity, or fused; comparable within one search only
    score: float


class RedisAway(Unreachable):
    """The library's store cannot be reached: Redis, which holds the runs too, does not answer."""


class ModelChanged(Conflict):
    """The vectors in the library are of another model than the one that is configured."""

    def __init__(self, stored: str, configured: str) -> None:
        before = f"with the embeddings of {stored}" if stored else "without embeddings, or not wholly"
        super().__init__(
            f"the library was indexed {before}, and {configured} is configured now: `simrelay library reindex` embeds"
            " it anew"
        )


class LibraryStore(ABC):
    """One place where documents are kept; every method raises Unreachable if that place does not answer."""

    #: how it searches, in words: ``BM25``
    method: str
    #: whether a passage can be found that shares no word with the question
    by_meaning: bool = False

    @abstractmethod
    def documents(self) -> list[Record]:
        """Give all documents, by title."""

    @abstractmethod
    def add(self, record: Record, chunks: Sequence[Chunk]) -> None:
        """Keep a document whole or not at all; doing it twice is doing it once.

        Raises
        ------
        ModelChanged
            If the library holds vectors of another model.
        Refused
            If there is no room.
        """

    @abstractmethod
    def remove(self, document: str) -> None:
        """Forget a document by its id; forgetting it twice is forgetting it once."""

    @abstractmethod
    def search(self, question: str, count: int) -> list[Hit]:
        """Give the passages that fit a question best, the best first.

        Raises
        ------
        ModelChanged
            If the library holds vectors of another model.
        """

    @abstractmethod
    def reindex(self) -> int:
        """Build anew what is searched, with the model that is configured now; give how many passages that were."""

    def notes(self) -> tuple[str, ...]:
        """Say what a search may miss at the moment."""
        return ()

    @abstractmethod
    def close(self) -> None:
        """Let go of connections."""
