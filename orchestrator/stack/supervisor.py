"""The process that runs a stack: starts Redis, orchestrator, worker and Flower, in this order, and keeps them running.

It is one plain loop over signals. Its children get a signal from the kernel when it dies in whatever way, so none of
them outlives it. Run as ``python -m orchestrator.stack.supervisor [--no-worker]`` with its settings in the environment.
"""

from __future__ import annotations

import http.client
import importlib.util
import os
import signal
import socket
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr

from orchestrator.endpoint import live_endpoint
from orchestrator.stack.children import Child, RedisChild, wait_for_end
from orchestrator.stack.lock import FolderLock
from orchestrator.stack.processes import this_process
from orchestrator.stack.redis_server import RedisServer, free_port
from orchestrator.stack.secrets import API_TOKEN, FLOWER_PASSWORD, secret
from orchestrator.stack.state import FLOWER_USER, StackState, read_state, write_state
from tasks.errors import SimrelayError
from tasks.settings import Settings, environment, load_settings

_STOP = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_SIGNALS = (*_STOP, signal.SIGCHLD)
#: how often is looked whether the next child may start, in seconds
_GATE_SECONDS = 0.1
_IDLE_SECONDS = 5.0
_OLD_REDIS_SECONDS = 30.0


class Supervisor:
    """Runs one stack until it is told to stop.

    Parameters
    ----------
    settings
        The installation's; without ``redis_url`` a Redis of our own is started.
    with_worker
        Whether this host computes as well.
    """

    def __init__(self, settings: Settings, *, with_worker: bool = True) -> None:
        self.home = settings.home
        self.logs = self.home / "logs"
        self.logs.mkdir(exist_ok=True, mode=0o700)
        before = read_state(self.home)
        self._own_redis = not settings.redis_url.get_secret_value()
        self._redis_port = self._flower_port = 0
        self._children: list[Child] = []
        if self._own_redis:
            if before and before.supervisor.same_kernel() and (redis := before.service("redis")):
                # After a kill of its supervisor it stops by itself; two servers must not write the same files.
                wait_for_end(redis, _OLD_REDIS_SECONDS)
            server = RedisServer(self.home / "redis", port=_port_again(before.redis_port if before else 0))
            self._redis_port = server.port
            settings = settings.model_copy(update={"redis_url": SecretStr(server.url)})
            self._children.append(RedisChild(server))
        self._variables = environment(settings) | {"PYTHONUNBUFFERED": "1"}
        self._children.append(self._python("orchestrator", "tasks.command", "orchestrator", stop_seconds=30))
        if with_worker:
            self._children.append(self._python("worker", "tasks.command", "worker", stop_seconds=90))
        if importlib.util.find_spec("flower"):
            self._flower_port = _port_again(before.flower_port if before else 0)
            self._children.append(self._flower())
        self._started: list[Child] = []
        self._since = datetime.now(UTC).isoformat(timespec="seconds")

    def _python(self, name: str, module: str, *arguments: str, stop_seconds: float) -> Child:
        command = (sys.executable, "-m", module, *arguments)
        return Child(name, command, self._variables, self.logs / f"{name}.log", stop_seconds=stop_seconds)

    def _flower(self) -> Child:
        # Given as variables: a command line can be read by every user of the host.
        variables = self._variables | {
            "FLOWER_ADDRESS": "127.0.0.1",
            "FLOWER_PORT": str(self._flower_port),
            "FLOWER_BASIC_AUTH": f"{FLOWER_USER}:{secret(self.home, FLOWER_PASSWORD)}",
            "FLOWER_PERSISTENT": "True",
            "FLOWER_DB": str(self.home / "flower.db"),
            "FLOWER_STATE_SAVE_INTERVAL": "5000",
        }
        command = (sys.executable, "-m", "orchestrator.flower")
        return Child("flower", command, variables, self.logs / "flower.log", stop_seconds=10)

    def run(self) -> None:
        """Run the stack; returns when it was told to stop and all its children have ended."""
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            while not self._told_to_stop():
                if self._step():
                    self._write()
        finally:
            self._stop()

    def _told_to_stop(self) -> bool:
        """Wait for a signal, or until something is due."""
        waiting = [child.due for child in self._started if not child.runs]
        pause = _GATE_SECONDS if len(self._started) < len(self._children) else _IDLE_SECONDS
        pause = min([pause, *(max(due - time.monotonic(), 0.01) for due in waiting)])
        got = signal.sigtimedwait(_SIGNALS, pause if self._started else 0)
        return got is not None and got.si_signo in _STOP

    def _step(self) -> bool:
        """Start what is due; gives whether anything has changed."""
        changed = False
        for child in self._started:
            changed |= child.look()
            if not child.runs and time.monotonic() >= child.due:
                child.start()
                changed = True
        if len(self._started) < len(self._children):
            child = self._children[len(self._started)]
            # The worker compares its workspace with the orchestrator's when it registers, so that goes first.
            if child.name in ("redis", "orchestrator") or api_answers(self.home):
                child.start()
                self._started.append(child)
                changed = True
        return changed

    def _write(self) -> None:
        state = StackState(
            supervisor=this_process(),
            since=self._since,
            own_redis=self._own_redis,
            redis_port=self._redis_port,
            flower_port=self._flower_port,
            services=tuple(child.describe() for child in self._started),
            complete=len(self._started) == len(self._children),
        )
        write_state(self.home, state)

    def _stop(self) -> None:
        """End all children, those that others need last."""
        last = [child for child in self._started if child.name in ("redis", "orchestrator")]
        first = [child for child in self._started if child not in last]
        for child in first:
            child.ask_to_stop()
        for child in first:
            child.wait()
        for child in reversed(last):
            child.ask_to_stop()
            child.wait()
        self._write()


def api_answers(home: Path) -> bool:
    """Tell whether this installation's service answers."""
    endpoint = live_endpoint(home)
    if not endpoint:
        return False
    connection = http.client.HTTPConnection(endpoint.host, endpoint.port, timeout=2)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _port_again(port: int) -> int:
    """Give the port of last time if it is free, so that bookmarks go on working."""
    if port:
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                return free_port()
            return port
    return free_port()


def main() -> int:
    """Run the stack of this process' settings; gives the exit code."""
    os.umask(0o077)
    settings = load_settings()
    lock = FolderLock(settings.home)
    try:
        lock.acquire()
    except SimrelayError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    try:
        secret(settings.home, API_TOKEN)
        Supervisor(settings, with_worker="--no-worker" not in sys.argv[1:]).run()
    except SimrelayError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    finally:
        lock.release()
    return 0


if __name__ == "__main__":
    sys.exit(main())
