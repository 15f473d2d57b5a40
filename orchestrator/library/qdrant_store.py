"""The library in a Qdrant server: one collection a model, a point a passage, searched by vectors (cosine)."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from orchestrator.library.chunks import Chunk
from orchestrator.library.store import Hit, LibraryStore, ModelChanged, Record
from orchestrator.library.vectors import Embedder
from tasks.errors import ConfigurationError, SimrelayError, Unreachable
from tasks.settings import Settings

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

_AT_ONCE = 64
_SECONDS = 30
#: the first version that answers ``points/query``
_OLDEST = (1, 10)
_SPACE = uuid.UUID("5e2f6b0a-3b1c-5f0e-9a4d-6b1d0a7c9e21")


def connect_qdrant(url: str, key: str = "") -> QdrantClient:
    """Give a client of a server; whether it answers shows at the first call.

    Raises
    ------
    ConfigurationError
        If the client is not installed here, or the URL is none.
    """
    try:
        from qdrant_client import QdrantClient
    except ModuleNotFoundError as error:
        problem = f"SIMRELAY_QDRANT_URL needs {error.name}, which is not installed here"
        raise ConfigurationError(f"{problem}: pip install 'simrelay[literature]'") from None
    try:
        # The client would look at the server's version now, and warn on standard error; see ``_refusal``.
        headers = {"api-key": key} if key else None
        return QdrantClient(url=url, headers=headers, timeout=_SECONDS, check_compatibility=False, trust_env=False)
    except ValueError as error:
        raise ConfigurationError(f"SIMRELAY_QDRANT_URL: {error}") from error


class QdrantStore(LibraryStore):
    """Finds passages by their meaning.

    The name of a collection tells the model of its vectors, so that a change of model is seen, and re-indexing copies
    from the old collection into a new one before it deletes anything.
    """

    by_meaning = True

    def __init__(self, client: QdrantClient, embedder: Embedder, settings: Settings) -> None:
        self.client, self.embedder = client, embedder
        self.method = f"vectors of {embedder.name} in Qdrant"
        self._stem = f"{re.sub(r'[^A-Za-z0-9]+', '-', settings.key_prefix).strip('-')}-library-"

    def documents(self) -> list[Record]:
        """Give all documents, by title."""
        with self._reaching():
            rows = [
                point.payload["document"]
                for name in self._collections()
                for point in self._points(name, first_only=True)
                if point.payload
            ]
        records = {record.id: record for record in map(Record.model_validate, rows)}
        return sorted(records.values(), key=lambda one: (one.title.lower(), one.id))

    def add(self, record: Record, chunks: Sequence[Chunk]) -> None:
        """Keep a document; its first passage is written last, since that makes it one of the documents."""
        payloads = [
            {
                "document": record.model_dump(mode="json"),
                "id": record.id,
                "number": c.number,
                "page": c.page,
                "text": c.text,
            }
            for c in chunks
        ]
        with self._reaching():
            self._put(payloads, others_may_be=False)

    def remove(self, document: str) -> None:
        """Forget a document in all collections."""
        from qdrant_client import models

        match = models.FieldCondition(key="id", match=models.MatchValue(value=document))
        with self._reaching():
            for name in self._collections():
                self.client.delete(name, models.FilterSelector(filter=models.Filter(must=[match])), wait=True)

    def search(self, question: str, count: int) -> list[Hit]:
        """Give the passages nearest to the question."""
        with self._reaching():
            there = self._collections()
            if not there:
                return []
            vector = self.embedder.embed([question])[0]
            name = self._name(vector.shape[0])
            if there != [name]:
                raise ModelChanged(_model_of(next(one for one in [*there, name] if one != name)), self.embedder.name)
            found = self.client.query_points(name, query=vector.tolist(), limit=count, with_payload=True).points
        payloads = [(point.payload or {}, point.score) for point in found]
        return [
            Hit(
                document=Record.model_validate(payload["document"]),
                number=payload["number"],
                page=payload["page"],
                text=payload["text"],
                score=score,
            )
            for payload, score in payloads
        ]

    def reindex(self) -> int:
        """Copy all passages into the collection of the configured model, and delete the others when that is done."""
        done = 0
        with self._reaching():
            there = self._collections()
            target = ""
            for name in there:
                points = [point.payload for point in self._points(name) if point.payload]
                for first in range(0, len(points), _AT_ONCE):
                    target = self._put(points[first : first + _AT_ONCE], others_may_be=True)
                done += len(points)
            for name in there:
                if name != target:
                    self.client.delete_collection(name)
        return done

    def close(self) -> None:
        """Let go of the connections."""
        self.embedder.close()
        self.client.close()

    # ---- how

    def _put(self, payloads: Sequence[dict[str, Any]], *, others_may_be: bool) -> str:
        from qdrant_client import models

        vectors = self.embedder.embed([payload["text"] for payload in payloads])
        name = self._name(vectors.shape[1])
        there = self._collections()
        if not others_may_be and (others := [one for one in there if one != name]):
            raise ModelChanged(_model_of(others[0]), self.embedder.name)
        if name not in there:
            size = models.VectorParams(size=vectors.shape[1], distance=models.Distance.COSINE)
            self.client.create_collection(name, vectors_config=size)
            # A server in strict mode filters by what is indexed only.
            self.client.create_payload_index(name, "id", models.PayloadSchemaType.KEYWORD, wait=True)
            self.client.create_payload_index(name, "number", models.PayloadSchemaType.INTEGER, wait=True)
        points = [
            models.PointStruct(
                id=str(uuid.uuid5(_SPACE, f"{payload['id']}:{payload['number']}")),
                vector=vector.tolist(),
                payload=payload,
            )
            for payload, vector in zip(payloads, vectors, strict=True)
        ]
        for first in range(0, len(points), _AT_ONCE):
            self.client.upsert(name, points[::-1][first : first + _AT_ONCE], wait=True)
        return name

    def _collections(self) -> list[str]:
        return sorted(one.name for one in self.client.get_collections().collections if one.name.startswith(self._stem))

    def _points(self, name: str, *, first_only: bool = False) -> Iterator[Any]:
        from qdrant_client import models

        first = models.FieldCondition(key="number", match=models.MatchValue(value=1))
        chosen = models.Filter(must=[first]) if first_only else None
        offset: Any = None
        while True:
            points, offset = self.client.scroll(name, scroll_filter=chosen, limit=256, offset=offset, with_payload=True)
            yield from points
            if offset is None:
                return

    def _name(self, dimension: int) -> str:
        digest = hashlib.sha256(self.embedder.name.encode()).hexdigest()[:8]
        return f"{self._stem}{re.sub(r'[^A-Za-z0-9.]+', '-', self.embedder.name)[:60]}-{digest}-{dimension}"

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """Tell a server that does not answer from one that refuses."""
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        try:
            yield
        except ResponseHandlingException as error:
            raise Unreachable(f"the library's store cannot be reached: Qdrant does not answer ({error})") from error
        except UnexpectedResponse as error:
            raise self._refusal(error.status_code or 0, error) from error

    def _refusal(self, status: int, error: Exception) -> SimrelayError:
        """Say why a server refuses: it is not well, the key is wrong, or it is too old for what is asked."""
        if status >= 500:
            return Unreachable(f"the library's store cannot be reached: Qdrant cannot answer (status {status})")
        if status in (401, 403):
            return ConfigurationError(f"Qdrant refuses the key (status {status}): look at SIMRELAY_QDRANT_KEY")
        why = " ".join(str(error).split())[:300]
        version = self._version()
        if version and version < _OLDEST:
            shown = ".".join(map(str, version))
            return ConfigurationError(f"Qdrant {shown} is too old for the library, which needs 1.10 or newer: {why}")
        return SimrelayError(f"Qdrant refuses what the library asks: {why}")

    def _version(self) -> tuple[int, ...]:
        from qdrant_client.http.exceptions import ApiException

        try:
            return tuple(int(part) for part in re.findall(r"\d+", self.client.info().version)[:3])
        except (ApiException, ValueError):
            return ()


def _model_of(collection: str) -> str:
    model, _, dimension = collection.partition("-library-")[2].rpartition("-")
    return f"{model.rpartition('-')[0]} with {dimension} dimensions"
