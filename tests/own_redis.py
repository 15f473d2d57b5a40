"""A Redis for one test alone, which may kill, stop or fill it: import both fixtures into the module of the test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.stack.redis_server import RedisServer
from tasks.settings import Settings
from tests.conftest import settings_for


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis of this test's own."""
    server = RedisServer(tmp_path / "redis")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def settings(server: RedisServer, tmp_path: Path) -> Settings:
    """Settings on this test's own Redis."""
    return settings_for(server, tmp_path)
