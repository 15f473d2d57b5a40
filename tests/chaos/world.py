"""An installation of its own: a real Redis, workers and orchestrators as processes, all restarted when they end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pydantic import SecretStr

from orchestrator.stack.redis_server import RedisServer
from tasks.celery_app import make_app, publisher
from tasks.settings import Settings, environment
from tasks.store import Store, connect
from tests.chaos.processes import belonging
from tests.programs import programs_toml
from tests.stand_ins import install
from worker.detect import read_engines_toml, write_engines_toml

_ORCHESTRATOR = """
import asyncio
from tests.integration.orchestrator.conftest import serve
asyncio.run(serve())
"""
#: the stand-in for ORCA takes some seconds for an optimisation: long enough to be struck in the middle
ORCA = {"pace": 0.08, "stiff": 0.5}
#: how long a process that has ended stays away
RESTART_SECONDS = 1.0


def short_settings(server: RedisServer, home: Path, lease: float) -> Settings:
    """Give settings with a short lease; the dead-man switch takes what DESIGN's sum leaves."""
    return Settings(
        home=home,
        redis_url=SecretStr(server.url),
        lease_seconds=lease,
        beat_seconds=0.5,
        renew_timeout_seconds=1.0,
        dead_man_seconds=lease - 4.5,
        kill_grace_seconds=1.0,
        offer_seconds=3.0,
        checkpoint_interval_seconds=0.5,
        progress_interval_seconds=0.2,
        retry_delay_seconds=0.1,
        # How often a job is failed by kills of its program is not the job's fault here; it is counted and compared.
        failure_budget=1000,
    )


class Service:
    """A process that is started again when it has ended."""

    def __init__(self, name: str, command: list[str], settings: Settings) -> None:
        self.name, self.command, self.settings = name, command, settings
        self.ended: float | None = None
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        with (self.settings.home / f"{self.name}.log").open("ab") as log:
            return subprocess.Popen(
                self.command, env=environment(self.settings), stdout=log, stderr=log, start_new_session=True
            )

    def tend(self) -> None:
        """Start it again a moment after it has ended."""
        if self.process.poll() is None:
            return
        if self.ended is None:
            self.ended = time.monotonic()
        elif time.monotonic() - self.ended > RESTART_SECONDS:
            self.process, self.ended = self._start(), None

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self.process.poll() is None


class World:
    """All processes of the installation."""

    def __init__(self, home: Path, lease: float, *, workers: int, cores: int, orchestrators: int) -> None:
        self.server = RedisServer(home / "redis")
        self.server.start()
        self.redis_ended: float | None = None
        self.settings = short_settings(self.server, home, lease)
        (home / "programs.toml").write_text(programs_toml(home))
        self.settings.workspace.mkdir()
        (self.settings.workspace / ".simrelay-workspace").write_text("token-of-chaos")
        client = connect(self.settings)
        client.set(f"{self.settings.key_prefix}workspace:token", "token-of-chaos")
        self.store = Store(client, self.settings, publisher(make_app(self.settings)))
        subprocess.run(
            [sys.executable, "-m", "worker", "detect", "--json"],
            env=environment(self.settings),
            check=True,
            stdout=subprocess.DEVNULL,
        )
        found = [offer for offer in read_engines_toml(home / "engines.toml") if offer.engine != "orca"]
        write_engines_toml(home / "engines.toml", [*found, install.orca(home / "orca", **ORCA)])
        base = [sys.executable, "-m", "worker", "--cores", str(cores), "--memory", "4 GB", "--name"]
        self.workers = [Service(f"w{n}", [*base, f"w{n}"], self.settings) for n in range(1, workers + 1)]
        self.orchestrators = [
            Service(f"o{n}", [sys.executable, "-c", _ORCHESTRATOR], self.settings) for n in range(1, orchestrators + 1)
        ]

    def tend(self) -> None:
        """Start again what has ended."""
        for service in (*self.workers, *self.orchestrators):
            service.tend()
        assert self.server.process
        if self.server.process.poll() is None:
            return
        if self.redis_ended is None:
            self.redis_ended = time.monotonic()
        elif time.monotonic() - self.redis_ended > RESTART_SECONDS:
            self.server.start()
            self.redis_ended = None

    def stop_services(self, seconds: float = 30.0) -> list[str]:
        """Stop workers and orchestrators in order; gives the names of those that did not."""
        services = (*self.workers, *self.orchestrators)
        for service in services:
            if service.alive:
                service.process.terminate()
        deadline = time.monotonic() + seconds
        while any(service.alive for service in services) and time.monotonic() < deadline:
            time.sleep(0.1)
        return [service.name for service in services if service.alive]

    def close(self) -> None:
        """End everything that belongs to this installation, and nothing else."""
        for process in belonging(self.settings.home):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        self.server.stop()


def wait_until(check: Callable[[], bool], seconds: float) -> bool:
    """Poll until something holds; False: it did not in time."""
    deadline = time.monotonic() + seconds
    while not check():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True
