"""Another model than the one whose vectors are kept is told, and re-indexing mends it; who does not answer is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from orchestrator.library import open_library
from orchestrator.library.hybrid import HybridStore, fuse
from orchestrator.library.store import ModelChanged
from orchestrator.library.vectors import EndpointEmbedder
from tasks.errors import ConfigurationError, Refused, Unreachable
from tasks.settings import Settings
from tasks.store import connect
from tests.library.stand_in_embeddings import embeddings_server

WithModel = Callable[..., Settings]
QUESTION = "conductivity of S-07"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "one.txt"
    path.write_text("Title: On S-07\n\nThe conductivity of membrane S-07 is 118 mS/cm.")
    return path


def test_another_model_is_told_until_all_is_embedded_anew(either: Settings, with_model: WithModel, text: Path) -> None:
    another = text.with_name("two.txt")
    another.write_text("Another text.")
    with open_library(with_model(either)) as library:
        library.add(text, "one.txt")
    with open_library(with_model(either, "other-256")) as library:
        told = "with the embeddings of words-256, and other-256 is configured now: `simrelay library reindex`"
        with pytest.raises(ModelChanged, match=told):
            library.ask(QUESTION)
        with pytest.raises(ModelChanged, match=told):
            library.add(another, "two.txt")
        assert library.reindex() == 1
        assert library.ask(QUESTION).found
    with open_library(with_model(either)) as library, pytest.raises(ModelChanged):
        library.ask(QUESTION)


def test_a_library_without_vectors_gets_them_by_indexing_anew(
    either: Settings, with_model: WithModel, text: Path
) -> None:
    with open_library(either) as library:
        library.add(text, "one.txt")
        assert library.store.method == "BM25"
    with open_library(with_model(either)) as library:
        with pytest.raises(ModelChanged, match="without embeddings"):
            library.ask(QUESTION)
        assert library.reindex() == 1
        assert "words-256" in library.ask(QUESTION).method
    with open_library(either) as library:
        assert library.ask(QUESTION).found, "BM25 needs no model"


def test_vectors_of_another_length_under_the_same_name_are_told(
    either: Settings, with_model: WithModel, text: Path
) -> None:
    with open_library(with_model(either)) as library:
        library.add(text, "one.txt")
    with embeddings_server(64) as url, open_library(with_model(either, url=url)) as library:
        with pytest.raises(ModelChanged, match="256 dimensions, and words-256 with 64 dimensions"):
            library.ask(QUESTION)
        assert library.reindex() == 1
        assert library.ask(QUESTION).found


def test_indexing_anew_that_was_cut_off_is_told(
    either: Settings, with_model: WithModel, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_library(with_model(either)) as library:
        library.add(text, "one.txt")
        with monkeypatch.context() as patched:
            patched.setattr(EndpointEmbedder, "_ask", lambda *_: (_ for _ in ()).throw(Unreachable("cut off")))
            with pytest.raises(Unreachable):
                library.reindex()
        with pytest.raises(ModelChanged, match="not wholly"):
            library.ask(QUESTION)
        library.reindex()
        assert library.ask(QUESTION).found


def test_vectors_find_what_no_word_finds(either: Settings, with_model: WithModel, text: Path) -> None:
    with open_library(with_model(either)) as library:
        library.add(text, "one.txt")
        assert isinstance(library.store, HybridStore)
        assert library.store.ranked("perovskite", 5) == []
        answer = library.ask("perovskite")
        assert (answer.found, answer.worded) == (True, False)


def test_fusing_adds_the_reciprocals_of_ranks() -> None:
    fused = fuse(["a", "b"], ["b", "c"])
    assert [key for key, _ in fused] == ["b", "a", "c"]
    assert fused[0][1] == pytest.approx(1 / 62 + 1 / 61)


def test_a_redis_that_is_full_takes_no_documents(either: Settings, text: Path) -> None:
    client = connect(either)
    with open_library(either) as library:
        library.documents()
        used = int(client.info("memory")["used_memory"])
        client.config_set("maxmemory", int(used * 1.1))
        try:
            with pytest.raises(Refused, match="nothing is added to the library"):
                library.add(text, "one.txt")
        finally:
            client.config_set("maxmemory", 0)
        assert library.documents() == []


# ---- who does not answer


def test_a_redis_that_does_not_answer_is_told_from_nothing_found(either: Settings, with_model: WithModel) -> None:
    away = either.model_copy(update={"redis_url": type(either.redis_url)("redis://127.0.0.1:1/0")})
    for settings in (away, with_model(away)):
        with open_library(settings) as library, pytest.raises(Unreachable, match="store cannot be reached: Redis"):
            library.ask(QUESTION)


def test_what_redisvl_wraps_is_unwrapped(either: Settings, with_model: WithModel, text: Path) -> None:
    with open_library(with_model(either)) as library:
        library.add(text, "one.txt")
        assert isinstance(library.store, HybridStore)

        def gone(*_: object) -> None:
            raise RedisConnectionError("gone")

        # Redis goes away between BM25 and the vectors.
        library.store._vector_index = lambda dimension: type("I", (), {"query": gone})()  # type: ignore[method-assign, assignment, return-value]
        with pytest.raises(Unreachable):
            library.ask(QUESTION)


def test_an_endpoint_that_does_not_answer_is_named(either: Settings, with_model: WithModel, text: Path) -> None:
    with open_library(with_model(either)) as library:
        library.add(text, "one.txt")
    away = with_model(either, url="http://127.0.0.1:1/v1")
    with open_library(away) as library, pytest.raises(Unreachable, match=r"the embeddings endpoint .* does not answer"):
        library.ask(QUESTION)


def test_a_qdrant_that_does_not_answer_is_named(tmp_path: Path, with_model: WithModel) -> None:
    settings = with_model(Settings.model_validate({"home": tmp_path, "qdrant_url": "http://127.0.0.1:1"}))
    with open_library(settings) as library, pytest.raises(Unreachable, match="store cannot be reached: Qdrant"):
        library.ask(QUESTION)


def test_a_qdrant_without_embeddings_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="but no embeddings"):
        open_library(Settings.model_validate({"home": tmp_path, "qdrant_url": "http://127.0.0.1:1"}))
