"""A stand-in for an embeddings endpoint: OpenAI's API over HTTP, with vectors that are only sums of hashed words.

It is deterministic and knows no language, so it shows that the parts fit together, and not what a real model finds.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from orchestrator.library.words import matters, parts_of, stem


def embed(text: str, dimension: int) -> list[float]:
    """Give the sum of one fixed random direction for each stem of a text."""
    total = np.full(dimension, 1e-3)
    for one in sorted({stem(word) for word in parts_of(text) if matters(word)}):
        seed = int.from_bytes(hashlib.sha256(one.encode()).digest()[:8], "big")
        total += np.random.default_rng(seed).standard_normal(dimension)
    return [float(number) for number in total]


@contextmanager
def embeddings_server(dimension: int = 256, *, models: tuple[str, ...] = ("words-256",)) -> Iterator[str]:
    """Serve on a free port of this host for as long as the block lasts; give its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked_for = json.loads(self.rfile.read(int(self.headers["content-length"])))
            known = asked_for["model"] in models and self.path == "/v1/embeddings"
            vectors = [embed(text, dimension) for text in asked_for["input"]] if known else []
            data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
            body = {"data": data[::-1]} if known else {"error": {"message": "there is no such model"}}
            content = json.dumps(body).encode()
            self.send_response(200 if known else 404)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
