"""The library in Redis: passages as hashes, searched by BM25 in RediSearch.

    library:documents              hash: id -> record, JSON
    library:chunk:<id>:<number>    hash: text, title, authors, document, number, page, start (and vector)
    library:model                  JSON: model and dimension of the vectors of all passages; none: not all have any

All keys stand behind the installation's prefix. The index over the passages is ``library-index``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import redis
from redis.exceptions import BusyLoadingError, OutOfMemoryError, ResponseError

from orchestrator.library.chunks import Chunk
from orchestrator.library.store import Hit, LibraryStore, Record, RedisAway
from orchestrator.library.thesaurus import concepts
from orchestrator.library.words import matters, parts_of
from tasks.errors import Refused
from tasks.settings import Settings

#: share of Redis' limit of memory above which nothing is added: runs and jobs come first
_FULL = 0.8
#: how long indexing anew waits for Redis; a search says if it has not finished
_INDEXING_SECONDS = 300.0
#: how much another name of something counts beside the question's own word for it
_OTHER_NAME = 0.5
_FIELDS = ("text", "document", "number", "page")


@contextmanager
def reaching() -> Iterator[None]:
    """Tell a Redis that does not answer, or has no room, from all else."""
    try:
        yield
    except (redis.ConnectionError, redis.TimeoutError, BusyLoadingError) as error:
        name = type(error).__name__
        raise RedisAway(f"the library's store cannot be reached: Redis does not answer ({name})") from error
    except OutOfMemoryError as error:
        raise Refused("Redis has no memory left: nothing is added to the library") from error


class RedisStore(LibraryStore):
    """Searches by BM25 (RediSearch's ``BM25STD``: Robertson and Zaragoza, Found. Trends Inf. Retr. 3 (2009) 333)."""

    method = "BM25"

    def __init__(self, client: redis.Redis, settings: Settings) -> None:
        self.client: Any = client  # commands of modules have no typed methods
        self.prefix = f"{settings.key_prefix}library"
        self.index = f"{self.prefix}-index"

    def documents(self) -> list[Record]:
        """Give all documents, by title."""
        with reaching():
            rows = self.client.hvals(f"{self.prefix}:documents")
        return sorted((Record.model_validate_json(row) for row in rows), key=lambda one: (one.title.lower(), one.id))

    def add(self, record: Record, chunks: Sequence[Chunk]) -> None:
        """Keep a document, in one transaction."""
        with reaching():
            self._ensure_index()
            self._leave_room()
            pipe = self.client.pipeline()
            self._write(pipe, record, chunks)
            # Passages without vectors: whoever searches by vectors has to make them first.
            pipe.delete(f"{self.prefix}:model")
            pipe.execute()

    def remove(self, document: str) -> None:
        """Forget a document, in one transaction."""
        with reaching():
            kept = self.client.hget(f"{self.prefix}:documents", document)
            if kept is None:
                return
            pipe = self.client.pipeline()
            pipe.hdel(f"{self.prefix}:documents", document)
            for number in range(1, Record.model_validate_json(kept).chunks + 1):
                pipe.delete(self._key(document, number))
            pipe.execute()

    def search(self, question: str, count: int) -> list[Hit]:
        """Give the passages with the highest BM25 score."""
        with reaching():
            self._ensure_index()
            found = self.ranked(question, count)
            return self._hits(found[:count])

    def reindex(self) -> int:
        """Build the index over the passages anew; vectors that some may have are no longer searched."""
        with reaching():
            self._drop_index()
            self.client.delete(f"{self.prefix}:model")
            self._ensure_index()
            # Redis reads what is there already in the background.
            deadline = time.monotonic() + _INDEXING_SECONDS
            while self._indexed() < 1 and time.monotonic() < deadline:
                time.sleep(0.02)
        return sum(record.chunks for record in self.documents())

    def notes(self) -> tuple[str, ...]:
        """Say so while Redis is still indexing, as it does after a restart."""
        with reaching():
            self._ensure_index()
            share = self._indexed()
        return (f"only {share:.0%} of the library is indexed yet",) if share < 1 else ()

    def close(self) -> None:
        """Let go of the connections."""
        self.client.close()

    # ---- for hybrid search

    def ranked(self, question: str, count: int) -> list[tuple[str, float]]:
        """Give keys of passages and their BM25 scores, the best first."""
        query = text_query(question)
        if not query:
            return []
        answer = self.client.execute_command(
            *("FT.SEARCH", self.index, query, "SCORER", "BM25STD", "WITHSCORES", "NOCONTENT"),
            *("LIMIT", "0", str(count), "DIALECT", "2"),
        )
        if isinstance(answer, dict):
            return [(row["id"], float(row["score"])) for row in answer["results"]]
        return [(key, float(score)) for key, score in zip(answer[1::2], answer[2::2], strict=False)]

    def _hits(self, found: Sequence[tuple[str, float]]) -> list[Hit]:
        pipe = self.client.pipeline()
        for key, _ in found:
            pipe.hmget(key, *_FIELDS)
        rows = pipe.execute() if found else []
        records = {record.id: record for record in self.documents()} if found else {}
        return [
            Hit(document=records[row[1]], number=int(row[2]), page=int(row[3]), text=row[0], score=score)
            for row, (_, score) in zip(rows, found, strict=True)
            if row[1] in records  # else it was removed meanwhile
        ]

    def _write(self, pipe: Any, record: Record, chunks: Sequence[Chunk], vectors: Sequence[bytes] = ()) -> None:
        pipe.hset(f"{self.prefix}:documents", record.id, record.model_dump_json())
        for index, chunk in enumerate(chunks):
            row: dict[str, str | int | bytes] = {
                "text": chunk.text,
                "title": record.title,
                "authors": " ".join(record.authors),
                "document": record.id,
                "number": chunk.number,
                "page": chunk.page,
                "start": chunk.start,
            }
            if vectors:
                row["vector"] = vectors[index]
            pipe.hset(self._key(record.id, chunk.number), mapping=row)

    def _key(self, document: str, number: int) -> str:
        return f"{self.prefix}:chunk:{document}:{number}"

    def _indexed(self) -> float:
        """Give the share of the passages that the index has read."""
        info = self.client.execute_command("FT.INFO", self.index)
        pairs = info if isinstance(info, dict) else dict(zip(info[::2], info[1::2], strict=False))
        share = float(pairs.get("percent_indexed", 1))
        return min(share, 0.99) if int(pairs.get("indexing", 0)) else share

    def _leave_room(self) -> None:
        memory = self.client.info("memory")
        limit = int(memory.get("maxmemory", 0))
        if limit and int(memory["used_memory"]) > _FULL * limit:
            raise Refused(f"Redis uses more than {_FULL:.0%} of its memory: nothing is added to the library")

    def _ensure_index(self) -> None:
        fields = ("text", "TEXT", "title", "TEXT", "authors", "TEXT", "NOSTEM", "document", "TAG")
        create = ("FT.CREATE", self.index, "ON", "HASH", "PREFIX", "1", f"{self.prefix}:chunk:", "SCHEMA", *fields)
        try:
            self.client.execute_command(*create)
        except ResponseError as error:
            if "already exists" not in str(error).lower():
                raise

    def _drop_index(self) -> None:
        try:
            self.client.execute_command("FT.DROPINDEX", self.index)
        except ResponseError as error:
            if "index" not in str(error).lower():  # there is none
                raise


def text_query(question: str) -> str:
    """Write a question as a query: any of its words, several that belong together as phrases too, and other names.

    Nothing of the question becomes syntax. Other names of what it says count less than its own words.
    """
    terms: list[str] = []
    for concept in concepts(question):
        parts = parts_of(concept.said)
        terms += [_phrase(parts)] if len(parts) > 1 else []
        terms += [part for part in parts if matters(part)]
        terms += [f"({_phrase(way)})=>{{$weight:{_OTHER_NAME};}}" for way in concept.ways]
    return "|".join(dict.fromkeys(terms))


def _phrase(parts: Sequence[str]) -> str:
    return f'"{" ".join(parts)}"' if len(parts) > 1 else parts[0]
