"""Embeddings: vectors of texts, from an OpenAI-compatible endpoint or an ONNX model in a folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import httpx
import numpy as np
from numpy.typing import NDArray

from tasks.errors import ConfigurationError, SimrelayError, Unreachable
from tasks.settings import Settings

Vectors = NDArray[np.float32]
#: texts that one call embeds
_AT_ONCE = 64
_SECONDS = 60.0
_EXTRA = "pip install 'simrelay[literature]'"


class Embedder(Protocol):
    """What turns texts into vectors, always the same way."""

    #: what tells its vectors from those of others
    name: str

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Give the unit vectors of texts, shape (texts, dimension)."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


def configured_embedder(settings: Settings) -> Embedder | None:
    """Give what the settings name; None: nothing.

    Raises
    ------
    ConfigurationError
        If they name two, or one that cannot be used.
    """
    url, folder = settings.embeddings_url, settings.embeddings_folder
    if url and folder:
        raise ConfigurationError(
            "SIMRELAY_EMBEDDINGS_URL and SIMRELAY_EMBEDDINGS_FOLDER are both set: the library has vectors of one model"
        )
    if url:
        if not settings.embeddings_model:
            raise ConfigurationError("SIMRELAY_EMBEDDINGS_URL is set, but SIMRELAY_EMBEDDINGS_MODEL is not")
        return EndpointEmbedder(url, settings.embeddings_model, settings.embeddings_key.get_secret_value())
    return FolderEmbedder(folder) if folder else None


def _unit(vectors: NDArray[Any]) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)


class EndpointEmbedder:
    """Asks ``POST <url>/embeddings``, as OpenAI's API and its many relatives have it."""

    def __init__(self, url: str, model: str, key: str = "") -> None:
        self.name, self.url = model, url.rstrip("/")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(timeout=_SECONDS, headers=headers, trust_env=False)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Give the unit vectors of texts.

        Raises
        ------
        Unreachable
            If the endpoint does not answer.
        ConfigurationError
            If it refuses the key or does not know the model.
        """
        rows: list[list[float]] = []
        for first in range(0, len(texts), _AT_ONCE):
            rows += self._ask(list(texts[first : first + _AT_ONCE]))
        return _unit(np.array(rows, dtype=np.float64))

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def _ask(self, texts: list[str]) -> list[list[float]]:
        where = f"the embeddings endpoint {self.url}"
        try:
            answer = self._client.post(f"{self.url}/embeddings", json={"model": self.name, "input": texts})
        except httpx.TransportError as error:
            raise Unreachable(f"{where} does not answer ({type(error).__name__})") from error
        if answer.status_code >= 500 or answer.status_code == 429:
            raise Unreachable(f"{where} cannot answer now (status {answer.status_code})")
        if answer.is_error:
            said = " ".join(answer.text.split())[:200]
            raise ConfigurationError(f"{where} refuses model {self.name!r} (status {answer.status_code}): {said}")
        try:
            data = sorted(answer.json()["data"], key=lambda row: int(row["index"]))
            rows = [[float(number) for number in row["embedding"]] for row in data]
        except (ValueError, KeyError, TypeError) as error:
            raise SimrelayError(f"{where} gave no embeddings in the form of OpenAI's API") from error
        if len(rows) != len(texts) or len({len(row) for row in rows}) != 1:
            raise SimrelayError(f"{where} gave {len(rows)} vectors for {len(texts)} texts, or of several lengths")
        return rows


@lru_cache(maxsize=1)
def _loaded(model: Path, tokenizer: Path, changed: int) -> tuple[Any, Any]:
    try:
        import onnxruntime
        import tokenizers
    except ModuleNotFoundError as error:
        problem = f"SIMRELAY_EMBEDDINGS_FOLDER needs {error.name}, which is not installed here"
        raise ConfigurationError(f"{problem}: {_EXTRA}") from None
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    words = tokenizers.Tokenizer.from_file(str(tokenizer))
    words.enable_truncation(max_length=512)
    words.enable_padding()
    return session, words


@lru_cache(maxsize=1)
def _digest(model: Path, changed: int) -> str:
    with model.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class FolderEmbedder:
    """Runs the model of a folder: ``tokenizer.json``, and ``model.onnx`` or ``onnx/model.onnx``.

    Its vectors are means over the tokens, or those of the first token where ``1_Pooling/config.json`` says so.
    """

    def __init__(self, folder: Path) -> None:
        models = [path for path in (folder / "model.onnx", folder / "onnx" / "model.onnx") if path.is_file()]
        self._tokenizer = folder / "tokenizer.json"
        if not models or not self._tokenizer.is_file():
            missing = "tokenizer.json" if models else "model.onnx"
            raise ConfigurationError(f"SIMRELAY_EMBEDDINGS_FOLDER: {folder} holds no {missing}")
        self._model = models[0]
        self._changed = self._model.stat().st_mtime_ns
        self.name = f"{folder.resolve().name} ({_digest(self._model, self._changed)[:12]})"
        pooling = folder / "1_Pooling" / "config.json"
        self._first = pooling.is_file() and bool(json.loads(pooling.read_text()).get("pooling_mode_cls_token"))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Give the unit vectors of texts."""
        session, tokenizer = _loaded(self._model, self._tokenizer, self._changed)
        wanted = {one.name for one in session.get_inputs()}
        parts = []
        for first in range(0, len(texts), _AT_ONCE):
            read = tokenizer.encode_batch(list(texts[first : first + _AT_ONCE]))
            mask = np.array([one.attention_mask for one in read], dtype=np.int64)
            given = {
                "input_ids": np.array([one.ids for one in read], dtype=np.int64),
                "attention_mask": mask,
                "token_type_ids": np.array([one.type_ids for one in read], dtype=np.int64),
            }
            # shape (texts, tokens, dimension)
            states = session.run(None, {name: value for name, value in given.items() if name in wanted})[0]
            counts = np.maximum(mask.sum(axis=1, keepdims=True), 1)
            mean = (states * mask[:, :, None]).sum(axis=1) / counts
            parts.append(states[:, 0] if self._first else mean)
        return _unit(np.concatenate(parts))

    def close(self) -> None:
        """Nothing is open; the model stays loaded in this process."""
