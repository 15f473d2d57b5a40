"""Embeddings: an endpoint that answers, refuses, talks nonsense or is not there; a model in a folder; settings."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from orchestrator.library.vectors import EndpointEmbedder, FolderEmbedder, configured_embedder
from tasks.errors import ConfigurationError, Unreachable
from tasks.settings import Settings
from tests.library.stand_in_embeddings import embeddings_server

FOLDER = Path(__file__).parents[3] / "library" / "embedder"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with embeddings_server(16) as served:
        yield served


def test_an_endpoint_s_vectors_are_in_order_and_of_unit_length(url: str) -> None:
    texts = [f"word{number}" for number in range(70)]
    embedder = EndpointEmbedder(url, "words-256")
    vectors = embedder.embed(texts)
    assert (vectors.shape, vectors.dtype) == ((70, 16), np.float32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.allclose(vectors[69], embedder.embed(["word69"])[0])


def test_an_endpoint_that_refuses_is_the_settings_fault(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"refuses model 'other' \(status 404\).*no such model"):
        EndpointEmbedder(url, "other").embed(["a"])


def test_an_endpoint_that_is_not_there_is_unreachable() -> None:
    with pytest.raises(Unreachable, match="does not answer"):
        EndpointEmbedder("http://127.0.0.1:1/v1", "m").embed(["a"])


def test_a_model_in_a_folder_puts_like_beside_like() -> None:
    vectors = FolderEmbedder(FOLDER).embed(["alkaline stability", "stability alkaline", "slurm queue"])
    assert vectors.shape == (3, 8)
    assert vectors[0] @ vectors[1] > 0.9 > vectors[0] @ vectors[2]
    alone = FolderEmbedder(FOLDER).embed(["slurm queue"])
    assert np.allclose(alone[0], vectors[2], atol=1e-6), "padding counts for nothing"


def test_the_name_of_a_folder_s_model_changes_with_its_content(tmp_path: Path) -> None:
    copy = tmp_path / "embedder"
    shutil.copytree(FOLDER, copy)
    before = FolderEmbedder(copy).name
    assert before == FolderEmbedder(FOLDER).name
    with (copy / "model.onnx").open("ab") as stream:
        stream.write(b"\0")
    assert FolderEmbedder(copy).name != before


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"embeddings_url": "http://h/v1"}, "SIMRELAY_EMBEDDINGS_MODEL is not"),
        ({"embeddings_url": "http://h/v1", "embeddings_model": "m", "embeddings_folder": FOLDER}, "are both set"),
        ({"embeddings_folder": FOLDER.parent}, "holds no model.onnx"),
    ],
)
def test_settings_that_cannot_be_used_are_said(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        configured_embedder(Settings.model_validate(changes))


def test_nothing_configured_is_no_embeddings() -> None:
    assert configured_embedder(Settings()) is None


@pytest.mark.parametrize(
    ("missing", "call"),
    [
        (
            "onnxruntime",
            "from orchestrator.library.vectors import FolderEmbedder as F; F(Path(sys.argv[1])).embed(['a'])",
        ),
        (
            "tokenizers",
            "from orchestrator.library.vectors import FolderEmbedder as F; F(Path(sys.argv[1])).embed(['a'])",
        ),
        ("qdrant_client", "from orchestrator.library.qdrant_store import connect_qdrant; connect_qdrant('http://h')"),
    ],
)
def test_what_the_extra_brings_is_named_where_it_is_missing(missing: str, call: str) -> None:
    """The package is hidden from the import system of a fresh process, as if it were not installed."""
    code = f"""
import sys
from pathlib import Path
sys.modules[{missing!r}] = None
from tasks.errors import ConfigurationError
try:
    {call}
except ConfigurationError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code, str(FOLDER)], capture_output=True, text=True, check=True)
    assert f"needs {missing}, which is not installed here: pip install 'simrelay[literature]'" in done.stdout
