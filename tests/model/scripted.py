"""A small HTTP server that answers each request with the next reply of its script."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl


@dataclass(frozen=True)
class Raw:
    """One answer as it goes over the wire; slow: it does not come before the server is closed.

    Attributes
    ----------
    pieces, pause_seconds
        What follows the body, each after a pause; how long they are together is not said.
    stuck
        After the last piece nothing more comes, and the connection stays.
    cut
        After the last piece the connection is closed as if it had broken.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    slow: bool = False
    pieces: tuple[bytes, ...] = ()
    pause_seconds: float = 0.0
    stuck: bool = False
    cut: bool = False


@dataclass
class Seen:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


class ScriptedServer:
    """Answers by ``reply``, on loopback, from the block's begin to its end; keeps all requests."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def reply(self, seen: Seen) -> Raw:
        """Give the answer to a request."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                if headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
                    values: dict[str, Any] = dict(parse_qsl(body.decode()))
                else:
                    values = json.loads(body or b"{}")
                seen = Seen(self.path, headers, values)
                outer.seen.append(seen)
                raw = outer.reply(seen)
                if raw.slow:
                    outer._closing.wait(60)
                    self.close_connection = True
                    return
                self.send_response(raw.status)
                whole = not (raw.pieces or raw.stuck or raw.cut)
                length = {"content-length": str(len(raw.body))} if whole else {"transfer-encoding": "chunked"}
                for name, value in {"content-type": "application/json", **length, **raw.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                if whole:
                    self.wfile.write(raw.body)
                else:
                    self._in_pieces(raw)

            def _in_pieces(self, raw: Raw) -> None:
                self.close_connection = True
                with contextlib.suppress(ConnectionError):  # whoever asked may have gone
                    for piece in (raw.body, *raw.pieces):
                        if piece:
                            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                            self.wfile.flush()
                        outer._closing.wait(raw.pause_seconds)
                    if raw.stuck:
                        outer._closing.wait(60)
                    elif not raw.cut:
                        self.wfile.write(b"0\r\n\r\n")

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def as_json(body: object, status: int = 200, **headers: str) -> Raw:
    """Give a JSON answer."""
    return Raw(json.dumps(body).encode(), status, {name.replace("_", "-"): value for name, value in headers.items()})


def in_turn(script: Sequence[Any], number: int) -> Any:
    """Give the reply to the request of that number, counted from one; the last one goes on for ever."""
    return script[min(number, len(script)) - 1]
