"""One child of the supervisor: started with a log of its own, restarted with growing pauses, ended in order."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.stack.processes import dies_with_parent, start_ticks
from orchestrator.stack.redis_server import RedisServer
from orchestrator.stack.state import Service
from tasks.errors import Unreachable

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
#: a child that lived so long is restarted without a pause
LIVED_WELL_SECONDS = 60.0
_LARGEST_LOG_BYTES = 20 * 2**20


class Child:
    """One program that is to run all the time.

    Parameters
    ----------
    command, environment
        The program, its arguments and all its variables.
    log
        File that its output is appended to.
    stop_seconds
        How long it may take to end on SIGTERM before it is killed.
    """

    def __init__(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], log: Path, *, stop_seconds: float
    ) -> None:
        self.name, self.log, self.stop_seconds = name, log, stop_seconds
        self._command, self._environment = list(command), dict(environment)
        self._process: subprocess.Popen[bytes] | None = None
        self._pause = FIRST_PAUSE_SECONDS
        self._started_at = 0.0
        self._start_ticks = 0
        self._since = ""
        self._restarts = -1
        self._last_exit: int | None = None
        #: moment (monotonic) of its next start while it does not run
        self.due = 0.0

    @property
    def runs(self) -> bool:
        """Whether it was running when looked at last."""
        return self._process is not None

    def describe(self) -> Service:
        """Say how it stands."""
        return Service(
            name=self.name,
            pid=self._process.pid if self._process else 0,
            start_ticks=self._start_ticks if self._process else 0,
            since=self._since,
            restarts=max(self._restarts, 0),
            last_exit=self._last_exit,
            log=str(self.log),
        )

    def start(self) -> None:
        """Start it."""
        self._restarts += 1
        self._started_at = time.monotonic()
        self._since = datetime.now(UTC).isoformat(timespec="seconds")
        self._process = self._spawn()
        self._start_ticks = start_ticks(self._process.pid) if self._process else 0

    def _spawn(self) -> subprocess.Popen[bytes] | None:
        if self.log.exists() and self.log.stat().st_size > _LARGEST_LOG_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))
        with self.log.open("ab") as output:
            return subprocess.Popen(
                self._command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=dies_with_parent(signal.SIGKILL),
            )

    def look(self) -> bool:
        """See whether it ended; gives whether it did since the last look. It is due again after a pause."""
        if self._process is None or self._process.poll() is None:
            return False
        self._last_exit = self._process.returncode
        end_group(self._process.pid)
        self._process = None
        self._postpone()
        return True

    def _postpone(self) -> None:
        now = time.monotonic()
        lived = now - self._started_at
        self._pause = FIRST_PAUSE_SECONDS if lived > LIVED_WELL_SECONDS else self._pause
        self.due = now + self._pause
        self._pause = min(self._pause * 2, LONGEST_PAUSE_SECONDS)

    def ask_to_stop(self) -> None:
        """Ask it to end."""
        if self._process and self._process.poll() is None:
            self._process.terminate()

    def wait(self) -> None:
        """Wait until it has ended; what does not end in time is killed with what it started."""
        if not self._process:
            return
        try:
            self._last_exit = self._process.wait(self.stop_seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._last_exit = self._process.wait()
        end_group(self._process.pid)
        self._process = None


class RedisChild(Child):
    """Our own Redis, as a child: it answers when ``start`` returns, and stops in order when its parent dies."""

    def __init__(self, server: RedisServer) -> None:
        super().__init__("redis", (), {}, server.folder / "server.log", stop_seconds=30.0)
        self.server = server

    def _spawn(self) -> subprocess.Popen[bytes] | None:
        try:
            self.server.start(in_child=dies_with_parent(signal.SIGTERM))
        except Unreachable:
            if self._restarts == 0:
                raise
            # It has answered before, so it may again: what it says about it stands in its log.
            self._postpone()
            return None
        return self.server.process


def end_group(pid: int) -> None:
    """Kill what is left of the process group that a child led."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def wait_for_end(service: Service, seconds: float) -> None:
    """Wait until a child that an earlier supervisor left behind has ended; kill it if it does not."""
    deadline = time.monotonic() + seconds
    while service.pid and start_ticks(service.pid) == service.start_ticks != 0:
        if time.monotonic() > deadline:
            os.kill(service.pid, signal.SIGKILL)
        time.sleep(0.05)
