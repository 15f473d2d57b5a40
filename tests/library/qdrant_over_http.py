"""A stand-in for a Qdrant server: its REST calls, as far as the library makes them, over a client's local mode.

Paths and shapes are those of Qdrant's OpenAPI description, which the client's models are made from: what is sent is
read by those models, and what is answered is written by them. It keeps nothing, and is no measure of speed.
"""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import BaseModel
from qdrant_client import QdrantClient, models

_ROUTES = {
    ("GET", "/"): "version",
    ("GET", "/collections"): "list",
    ("PUT", "/collections/{}"): "create",
    ("DELETE", "/collections/{}"): "drop",
    ("PUT", "/collections/{}/index"): "index",
    ("PUT", "/collections/{}/points"): "upsert",
    ("POST", "/collections/{}/points/delete"): "delete",
    ("POST", "/collections/{}/points/scroll"): "scroll",
    ("POST", "/collections/{}/points/query"): "query",
}


class QdrantOverHttp:
    """Serves on a free port of this host; what it holds outlives a stop.

    Attributes
    ----------
    seen
        What was asked: method, path, and the key that was sent.
    """

    def __init__(self, *, key: str = "", version: str = "1.15.0", without: tuple[str, ...] = ()) -> None:
        self.key, self.version, self.without = key, version, without
        self.seen: list[tuple[str, str, str]] = []
        #: a status that every call is answered with; 0: none
        self.broken = 0
        self.indexed: dict[str, set[str]] = {}
        self._client = QdrantClient(":memory:")
        self._lock = threading.Lock()
        self._port = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._client.close()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Listen, on the same port as before."""
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), _handler(self))
        self._port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Let nobody in any more."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    def answer(self, method: str, path: str, key: str, body: Any) -> tuple[int, Any]:
        """Give status and body of an answer."""
        self.seen.append((method, path, key))
        if self.broken:
            return self.broken, {"status": {"error": "broken"}, "time": 0.0}
        if self.key and key != self.key:
            return 401, "Must provide an API key or an Authorization bearer token"
        parts = re.fullmatch(r"(/collections/)([^/]+)(.*)", path)
        name = parts[2] if parts else ""
        what = _ROUTES.get((method, f"{parts[1]}{{}}{parts[3]}" if parts else path), "")
        if not what or what in self.without:
            return 404, ""
        if what == "version":
            return 200, {"title": "qdrant - vector search engine", "version": self.version}
        with self._lock:
            if name and what != "create" and not self._client.collection_exists(name):
                return 404, {"status": {"error": f"Not found: Collection `{name}` doesn't exist!"}, "time": 0.0}
            return 200, {"result": self._result(what, name, body), "status": "ok", "time": 0.001}

    def _result(self, what: str, name: str, body: Any) -> Any:
        client = self._client
        if what == "list":
            return client.get_collections()
        if what == "create":
            return client.create_collection(name, models.VectorParams.model_validate(body["vectors"]))
        if what == "drop":
            return client.delete_collection(name)
        if what == "index":
            self.indexed.setdefault(name, set()).add(body["field_name"])
        elif what == "upsert":
            client.upsert(name, models.PointsList.model_validate(body).points)
        elif what == "delete":
            self._must_be_indexed(name, body["filter"])
            client.delete(name, models.FilterSelector.model_validate(body))
        elif what == "scroll":
            self._must_be_indexed(name, body.get("filter"))
            asked = models.ScrollRequest.model_validate(body)
            points, after = client.scroll(
                name, asked.filter, limit=asked.limit or 10, offset=asked.offset, with_payload=bool(asked.with_payload)
            )
            return {"points": points, "next_page_offset": after}
        elif what == "query":
            asked_for = models.QueryRequest.model_validate(body)
            return client.query_points(
                name, asked_for.query, limit=asked_for.limit or 10, with_payload=bool(asked_for.with_payload)
            )
        return {"operation_id": 1, "status": "completed"}

    def _must_be_indexed(self, name: str, chosen: Any) -> None:
        """Refuse filters over what is not indexed, as a server in strict mode does."""
        keys = {one["key"] for one in (chosen or {}).get("must", [])}
        assert keys <= self.indexed.get(name, set()), keys


def _handler(server: QdrantOverHttp) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            key = self.headers.get("api-key") or ""
            status, said = server.answer(self.command, urlsplit(self.path).path, key, body)
            content = said.encode() if isinstance(said, str) else json.dumps(said, default=_plain).encode()
            self.send_response(status)
            self.send_header("content-type", "text/plain" if isinstance(said, str) else "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PUT = do_POST = do_DELETE = _serve

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    return Handler


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)
