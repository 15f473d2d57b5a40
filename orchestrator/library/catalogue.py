"""The library as others use it: opened from the settings, added to, searched, and asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath
from types import TracebackType
from typing import Self

from orchestrator.library.answers import CANDIDATES, Answer, compose
from orchestrator.library.chunks import split
from orchestrator.library.documents import Document, Reading, kind_of, load_parsers, read
from orchestrator.library.store import LibraryStore, Part, Record
from orchestrator.limited import LimitExceeded, Limits, run_limited
from tasks.errors import ConfigurationError, InputError, NotFound
from tasks.settings import Settings

#: the shortest beginning of an id that names a document
_SHORTEST_ID = 6
#: what reading one file may take: a hundred times what a long book does
LIMITS = Limits(seconds=120, memory_bytes=1 << 30)


class Added(Part):
    """What became of a file: its documents, those that were there already, and what could not be read of it."""

    added: tuple[Record, ...] = ()
    duplicates: tuple[Record, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Library:
    """The library of an installation."""

    store: LibraryStore

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()

    def add(self, path: Path, name: str, *, kept_at: str = "") -> Added:
        """Read a file and keep its documents; what is there already, by its hash, is left alone.

        Parameters
        ----------
        name
            What its user calls it; its ending says what it is.
        kept_at
            Where it lies, relative to the workspace.

        Raises
        ------
        InputError
            If it cannot be read, or reading it takes too long or too much memory.
        """
        reading = _read(path, name)
        there = {record.id: record for record in self.store.documents()}
        added: list[Record] = []
        duplicates: list[Record] = []
        for document in reading.documents:
            if known := there.get(document.sha256):
                duplicates.append(known)
                continue
            chunks = split(document.pages)
            record = _record(document, len(chunks), kept_at)
            if document.kind != "bibtex":
                record = _described(record, [one for one in there.values() if one.kind == "bibtex"])
            self.store.add(record, chunks)
            there[record.id] = record
            added.append(record)
        return Added(added=tuple(added), duplicates=tuple(duplicates), problems=reading.problems)

    def documents(self) -> list[Record]:
        """Give all documents, by title."""
        return self.store.documents()

    def find(self, beginning: str) -> Record:
        """Find a document by its id, or the beginning of it.

        Raises
        ------
        InputError
            If several have that beginning, or it is too short to name one.
        NotFound
            If none has.
        """
        if len(beginning) < _SHORTEST_ID:
            raise InputError("document", beginning, "is too short an id", f"Give at least {_SHORTEST_ID} digits of it.")
        found = [record for record in self.store.documents() if record.id.startswith(beginning)]
        if not found:
            raise NotFound(f"the library has no document {beginning}; see `simrelay library list`")
        if len(found) > 1:
            raise InputError("document", beginning, f"begins {len(found)} ids", "Give more digits of it.")
        return found[0]

    def remove(self, beginning: str) -> Record:
        """Forget a document; raises as ``find``."""
        record = self.find(beginning)
        self.store.remove(record.id)
        return record

    def ask(self, question: str) -> Answer:
        """Answer a question out of the documents.

        Raises
        ------
        InputError
            If it has no word.
        Unreachable
            If the place where documents are kept, or the embeddings endpoint, does not answer.
        ModelChanged
            If the vectors in the library are of another model than the configured one.
        """
        if not any(c.isalnum() for c in question):
            raise InputError(
                "question", question, "has no word", "Ask, for example, 'alkaline stability of imidazolium'."
            )
        searched = len(self.store.documents())
        hits = self.store.search(question, CANDIDATES) if searched else []
        return compose(
            question,
            hits,
            searched=searched,
            method=self.store.method,
            by_meaning=self.store.by_meaning,
            notes=self.store.notes(),
        )

    def reindex(self) -> int:
        """Build anew what is searched, with the model that is configured; give how many passages that were."""
        return self.store.reindex()


def open_library(settings: Settings) -> Library:
    """Open the library that the settings name: in a Qdrant server if one is named, else in Redis.

    Raises
    ------
    ConfigurationError
        If the settings contradict each other, or name what is not installed here.
    """
    # What takes long to load is loaded only where a library is opened.
    from orchestrator.library.vectors import configured_embedder
    from tasks.store import connect

    embedder = configured_embedder(settings)
    if settings.qdrant_url:
        if embedder is None:
            raise ConfigurationError(
                "SIMRELAY_QDRANT_URL is set, but no embeddings: a Qdrant library is searched by vectors, so set"
                " SIMRELAY_EMBEDDINGS_URL or SIMRELAY_EMBEDDINGS_FOLDER too"
            )
        from orchestrator.library.qdrant_store import QdrantStore, connect_qdrant

        qdrant = connect_qdrant(settings.qdrant_url, settings.qdrant_key.get_secret_value())
        return Library(QdrantStore(qdrant, embedder, settings))
    client = connect(settings)
    if embedder is None:
        from orchestrator.library.redis_store import RedisStore

        return Library(RedisStore(client, settings))
    from orchestrator.library.hybrid import HybridStore

    return Library(HybridStore(client, settings, embedder))


def _read(path: Path, name: str) -> Reading:
    """Read a file that may be made to harm whoever reads it."""
    load_parsers(kind_of(name))
    try:
        return run_limited(LIMITS, read, path, name)
    except LimitExceeded as error:
        remedy = "Print or export it anew, or split it; then add that."
        raise InputError("file", name, f"was given up: reading it {error}", remedy) from None


def _record(document: Document, chunks: int, kept_at: str) -> Record:
    return Record(
        id=document.sha256,
        name=document.file or document.name if document.kind == "bibtex" else document.name,
        kind=document.kind,
        title=document.title,
        authors=document.authors,
        year=document.year,
        doi=document.doi,
        pages=len(document.pages),
        chunks=chunks,
        path=kept_at,
    )


def _described(record: Record, entries: list[Record]) -> Record:
    """Complete what is known of a file by the BibTeX entry that names it, or has its DOI."""
    names = {record.name.lower(), PurePath(record.name).stem.lower()}
    entry = next(
        (one for one in entries if one.name.lower() in names or (record.doi and one.doi.lower() == record.doi.lower())),
        None,
    )
    if entry is None:
        return record
    changes = {"title": entry.title, "authors": entry.authors, "year": entry.year, "doi": entry.doi}
    return record.model_copy(update={name: value for name, value in changes.items() if value})
