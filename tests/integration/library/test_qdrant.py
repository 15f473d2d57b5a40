"""A Qdrant by its URL, over HTTP as a server is asked: its key, its refusals, its age, and how it is not there."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.library import Library, open_library
from orchestrator.library.store import ModelChanged
from tasks.errors import ConfigurationError, NotFound, SimrelayError, Unreachable
from tasks.settings import Settings
from tests.library.qdrant_over_http import QdrantOverHttp

QUESTION = "conductivity of S-07"


@pytest.fixture
def qdrant() -> Iterator[QdrantOverHttp]:
    with QdrantOverHttp(key="secret-key") as server:
        yield server


def opened(home: Path, server: QdrantOverHttp, embeddings_url: str, **changes: str) -> Library:
    values = {
        "home": home,
        "qdrant_url": server.url,
        "qdrant_key": server.key,
        "embeddings_url": embeddings_url,
        "embeddings_model": "words-256",
        **changes,
    }
    return open_library(Settings.model_validate(values))


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "one.txt"
    path.write_text("Title: On S-07\n\nThe conductivity of membrane S-07 is 118 mS/cm.")
    return path


def test_a_library_lives_in_a_server_and_every_call_has_the_key(
    tmp_path: Path, qdrant: QdrantOverHttp, embeddings_url: str, text: Path
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        library = opened(tmp_path, qdrant, embeddings_url)
    with library:
        assert library.ask(QUESTION).searched == 0
        assert library.add(text, "one.txt").added
        assert [one.name for one in library.add(text, "again.txt").duplicates] == ["one.txt"]
        answer = library.ask(QUESTION)
        assert "“The conductivity of membrane S-07 is 118 mS/cm.” [1]" in answer.text
        assert answer.sources[0].citation == "one.txt (n.d.), On S-07, p. 1, chunk 1"
        assert library.reindex() == 1
    assert {key for _, _, key in qdrant.seen} == {"secret-key"}
    # What another process opens is the same library.
    with opened(tmp_path, qdrant, embeddings_url) as library:
        (record,) = library.documents()
        library.remove(record.id)
        assert library.documents() == []
        with pytest.raises(NotFound):
            library.remove(record.id)


def test_more_passages_than_one_call_takes_are_all_kept_and_listed(
    tmp_path: Path, qdrant: QdrantOverHttp, embeddings_url: str
) -> None:
    names = [f"{number}.txt" for number in range(3)]
    with opened(tmp_path, qdrant, embeddings_url) as library:
        for name in names:
            (tmp_path / name).write_text("\n\n".join(f"Paragraph {n} of {name}. " + "x" * 900 for n in range(100)))
            library.add(tmp_path / name, name)
        assert {one.name for one in library.documents()} == set(names)
        assert {one.chunks for one in library.documents()} == {100}
        assert library.reindex() == 300


def test_another_model_is_told_and_copied(
    tmp_path: Path, qdrant: QdrantOverHttp, embeddings_url: str, text: Path
) -> None:
    with opened(tmp_path, qdrant, embeddings_url) as library:
        library.add(text, "one.txt")
    with opened(tmp_path, qdrant, embeddings_url, embeddings_model="other-256") as library:
        with pytest.raises(ModelChanged, match="words-256 with 256 dimensions, and other-256"):
            library.ask(QUESTION)
        assert len(library.documents()) == 1
        assert library.reindex() == 1
        assert library.ask(QUESTION).found
    deleted = [path for method, path, _ in qdrant.seen if method == "DELETE"]
    assert len(deleted) == 1 and "words-256" in deleted[0]


@pytest.mark.parametrize("key", ["", "wrong"])
def test_a_wrong_key_names_its_setting_and_is_not_shown(
    tmp_path: Path, qdrant: QdrantOverHttp, embeddings_url: str, key: str
) -> None:
    with (
        opened(tmp_path, qdrant, embeddings_url, qdrant_key=key) as library,
        pytest.raises(
            ConfigurationError, match=r"refuses the key \(status 401\): look at SIMRELAY_QDRANT_KEY"
        ) as raised,
    ):
        library.ask(QUESTION)
    assert "wrong" not in str(raised.value)


@pytest.mark.parametrize(("status", "kind"), [(500, Unreachable), (503, Unreachable), (400, SimrelayError)])
def test_a_server_that_is_not_well_is_told_from_one_that_refuses(
    tmp_path: Path, qdrant: QdrantOverHttp, embeddings_url: str, status: int, kind: type[Exception]
) -> None:
    qdrant.broken = status
    with opened(tmp_path, qdrant, embeddings_url) as library, pytest.raises(SimrelayError) as raised:
        library.ask(QUESTION)
    assert type(raised.value) is kind


def test_a_server_that_went_away_and_came_back_is_the_same_library(
    tmp_path: Path, qdrant: QdrantOverHttp, embeddings_url: str, text: Path
) -> None:
    with opened(tmp_path, qdrant, embeddings_url) as library:
        library.add(text, "one.txt")
        qdrant.stop()
        with pytest.raises(Unreachable, match="Qdrant does not answer"):
            library.ask(QUESTION)
        qdrant.start()
        assert library.ask(QUESTION).found


@pytest.mark.parametrize(("version", "said"), [("1.9.7", r"Qdrant 1\.9\.7 is too old"), ("1.15.0", "Qdrant refuses")])
def test_a_server_that_is_too_old_is_told(
    tmp_path: Path, embeddings_url: str, text: Path, version: str, said: str
) -> None:
    with (
        QdrantOverHttp(version=version, without=("query",)) as server,
        opened(tmp_path, server, embeddings_url) as library,
    ):
        library.add(text, "one.txt")
        with pytest.raises(SimrelayError, match=said):
            library.ask(QUESTION)


def test_a_url_that_is_none_is_the_settings_fault(tmp_path: Path, embeddings_url: str) -> None:
    with QdrantOverHttp() as server, pytest.raises(ConfigurationError, match="SIMRELAY_QDRANT_URL"):
        opened(tmp_path, server, embeddings_url, qdrant_url="http://host:none")
