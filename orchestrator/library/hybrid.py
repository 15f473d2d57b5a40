"""The library in Redis, searched by BM25 and by vectors (a redisvl index over the same passages), and both fused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import redis
from redisvl.exceptions import RedisVLError
from redisvl.index import SearchIndex
from redisvl.query import VectorQuery

from orchestrator.library.chunks import Chunk
from orchestrator.library.redis_store import RedisStore, reaching
from orchestrator.library.store import Hit, ModelChanged, Record
from orchestrator.library.vectors import Embedder
from tasks.settings import Settings

#: of reciprocal rank fusion, as Cormack, Clarke and Büttcher (SIGIR 2009, p. 758) found it good
_K = 60
#: how many passages of each ranking are fused, for each one that is wanted
_DEPTH = 4
_AT_ONCE = 64


def fuse(*rankings: Sequence[str]) -> list[tuple[str, float]]:
    """Fuse rankings: a key scores the sum of 1 / (60 + its rank, from 1) over those that it is in; the best first."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + 1 / (_K + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


@contextmanager
def _searching() -> Iterator[None]:
    """As ``reaching``, for what redisvl wraps."""
    with reaching():
        try:
            yield
        except RedisVLError as error:
            if isinstance(error.__cause__, redis.RedisError):
                raise error.__cause__ from error
            raise


class HybridStore(RedisStore):
    """Finds passages by their words and by their meaning."""

    by_meaning = True

    def __init__(self, client: redis.Redis, settings: Settings, embedder: Embedder) -> None:
        super().__init__(client, settings)
        self.embedder = embedder
        self.method = f"BM25 and vectors of {embedder.name}, fused by reciprocal rank"

    def add(self, record: Record, chunks: Sequence[Chunk]) -> None:
        """Keep a document with its vectors, in one transaction."""
        with _searching():
            self._ensure_index()
            self._leave_room()
            stored = self._agreed()
            vectors = self.embedder.embed([chunk.text for chunk in chunks])
            dimension = vectors.shape[1]
            if stored and stored != dimension:
                raise ModelChanged(_named(self.embedder.name, stored), _named(self.embedder.name, dimension))
            # In an empty library an index for other vectors may be left.
            self._vector_index(dimension).create(overwrite=not stored, drop=False)
            pipe = self.client.pipeline()
            self._write(pipe, record, chunks, [row.tobytes() for row in vectors])
            pipe.set(f"{self.prefix}:model", self._model(dimension))
            pipe.execute()

    def search(self, question: str, count: int) -> list[Hit]:
        """Give the passages that rank highest in both rankings together."""
        with _searching():
            self._ensure_index()
            stored = self._agreed()
            if not stored:
                return []
            vector = self.embedder.embed([question])[0]
            if vector.shape[0] != stored:
                raise ModelChanged(_named(self.embedder.name, stored), _named(self.embedder.name, vector.shape[0]))
            query = VectorQuery(vector.tobytes(), "vector", return_fields=["document"], num_results=count * _DEPTH)
            near = [row["id"] for row in self._vector_index(stored).query(query)]
            worded = [key for key, _ in self.ranked(question, count * _DEPTH)]
            return self._hits(fuse(worded, near)[:count])

    def reindex(self) -> int:
        """Embed all passages anew; until that is done, searching says that it is not."""
        count = super().reindex()
        if not count:
            return 0
        done = 0
        with _searching():
            for key_batch in self._batches():
                pipe = self.client.pipeline()
                for key in key_batch:
                    pipe.hget(key, "text")
                # What was removed meanwhile has no text any more.
                texts = {key: text for key, text in zip(key_batch, pipe.execute(), strict=True) if text is not None}
                vectors = self.embedder.embed(list(texts.values()))
                if not done:
                    self._vector_index(vectors.shape[1]).create(overwrite=True, drop=False)
                for key, row in zip(texts, vectors, strict=True):
                    pipe.hset(key, "vector", row.tobytes())
                pipe.execute()
                done += len(texts)
            self.client.set(f"{self.prefix}:model", self._model(vectors.shape[1]))
        return done

    def close(self) -> None:
        """Let go of the connections."""
        self.embedder.close()
        super().close()

    def _batches(self) -> Iterator[list[str]]:
        keys = [self._key(one.id, number) for one in self.documents() for number in range(1, one.chunks + 1)]
        yield from (keys[first : first + _AT_ONCE] for first in range(0, len(keys), _AT_ONCE))

    def _agreed(self) -> int:
        """Give the dimension of the vectors in the library; 0: it is empty.

        Raises
        ------
        ModelChanged
            If they are of another model, or some passages have none.
        """
        kept = self.client.get(f"{self.prefix}:model")
        name, dimension = json.loads(kept) if kept else ("", 0)
        if name != self.embedder.name and self.client.hlen(f"{self.prefix}:documents"):
            raise ModelChanged(name, self.embedder.name)
        return int(dimension) if name == self.embedder.name else 0

    def _model(self, dimension: int) -> str:
        return json.dumps([self.embedder.name, dimension])

    def _vector_index(self, dimension: int) -> SearchIndex:
        vector = {"dims": dimension, "algorithm": "flat", "distance_metric": "cosine", "datatype": "float32"}
        return SearchIndex.from_dict(
            {
                "index": {
                    "name": f"{self.prefix}-vectors",
                    "prefix": f"{self.prefix}:chunk:",
                    "storage_type": "hash",
                },
                "fields": [{"name": "vector", "type": "vector", "attrs": vector}],
            },
            redis_client=self.client,
        )


def _named(model: str, dimension: int) -> str:
    return f"{model} with {dimension} dimensions"
