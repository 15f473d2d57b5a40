"""The embedded stack as a user sees it: up, down, status. The work is done by its supervisor process."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import BaseModel

from orchestrator.client import Client
from orchestrator.endpoint import last_endpoint, live_endpoint
from orchestrator.stack.lock import FolderLock
from orchestrator.stack.processes import start_ticks
from orchestrator.stack.secrets import FLOWER_PASSWORD
from orchestrator.stack.state import FLOWER_USER, Service, StackState, running
from tasks.errors import SimrelayError, Unreachable
from tasks.settings import Settings, environment

Note = Callable[[str], None]
#: first starts load every engine once, and Redis its data
START_SECONDS = 180.0
STOP_SECONDS = 120.0
_TRIES = 2
_POLL_SECONDS = 0.1


class ServiceStatus(Service):
    """One process of the stack, and whether it runs now."""

    runs: bool = False


class Disk(BaseModel):
    """What the installation uses on its disk, and what is left."""

    home: str
    workspace: str
    redis_bytes: int = 0
    workspace_bytes: int = 0
    #: false: there were too many files to count all
    complete: bool = True
    free_bytes: int = 0


class Status(BaseModel):
    """How the local stack stands."""

    running: bool
    supervisor: str = ""
    services: tuple[ServiceStatus, ...] = ()
    api_url: str = ""
    flower_url: str = ""
    flower_user: str = FLOWER_USER
    flower_password_file: str = ""
    redis_port: int = 0
    disk: Disk


def absolute(settings: Settings) -> Settings:
    """Give settings whose folders mean the same in another working directory."""
    changes: dict[str, Path] = {"home": settings.home.expanduser().absolute()}
    for name in ("workspace_path", "scratch_path"):
        path = getattr(settings, name)
        if path:
            changes[name] = path.expanduser().absolute()
    return settings.model_copy(update=changes)


def up(settings: Settings, note: Note, *, with_worker: bool = True) -> StackState:
    """Start the stack in the background, and wait until it can take work.

    Raises
    ------
    StackBusy
        If another stack works in the same folder.
    Unreachable
        If a part of it does not start; the message says which, with the last lines of its log.
    """
    settings = absolute(settings)
    home = settings.home
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = FolderLock(home)
    lock.acquire()
    lock.release()
    logs = home / "logs"
    logs.mkdir(exist_ok=True, mode=0o700)
    log = logs / "supervisor.log"
    said_before = log.stat().st_size if log.exists() else 0
    command = [sys.executable, "-m", "orchestrator.stack.supervisor"]
    with log.open("ab") as output:
        supervisor = subprocess.Popen(
            command if with_worker else [*command, "--no-worker"],
            env=environment(settings),
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        return _wait(settings, supervisor, note, with_worker)
    except _Stopped:
        raise _failure(supervisor.returncode, log, said_before) from None
    except Unreachable:
        supervisor.terminate()
        supervisor.wait(STOP_SECONDS)
        raise


class _Stopped(Exception):
    """The supervisor ended."""


def _failure(code: int, log: Path, said_before: int) -> SimrelayError:
    with log.open("rb") as file:
        file.seek(said_before)
        said = file.read().decode(errors="replace").strip()
    message = said.splitlines()[-1].removeprefix("error: ") if said else f"the stack ended with exit code {code}"
    error = Unreachable(message)
    error.exit_code = code if code > 0 else error.exit_code
    return error


def _wait(settings: Settings, supervisor: subprocess.Popen[bytes], note: Note, with_worker: bool) -> StackState:
    deadline = time.monotonic() + START_SECONDS
    told: set[str] = set()
    while True:
        if supervisor.poll() is not None:
            raise _Stopped
        state = running(settings.home)
        mine = state if state and state.supervisor.pid == supervisor.pid else None
        for service in mine.services if mine else ():
            if service.name not in told:
                note(f"started {service.name}")
                told.add(service.name)
            if service.restarts >= _TRIES and service.name != "flower":
                raise Unreachable(_said(service))
        if mine and mine.complete and _ready(settings, mine, with_worker):
            return mine
        if time.monotonic() > deadline:
            missing = mine.services[-1] if mine and mine.services else None
            raise Unreachable(_said(missing) if missing else f"the stack did not start within {START_SECONDS:g} s")
        time.sleep(_POLL_SECONDS)


def _ready(settings: Settings, state: StackState, with_worker: bool) -> bool:
    endpoint = live_endpoint(settings.home)
    if not endpoint:
        return False
    if not with_worker:
        return True
    since = datetime.fromisoformat(state.since) - timedelta(seconds=1)
    try:
        with Client.of(settings, patience_seconds=0) as client:
            return any(w.registered and w.registered >= since and w.state == "active" for w in client.workers())
    except Unreachable:
        return False


def _said(service: Service) -> str:
    how = "does not answer" if service.last_exit is None else f"ended with exit code {service.last_exit}"
    log = Path(service.log)
    tail = log.read_text(errors="replace").splitlines()[-8:] if log.exists() else []
    return "\n".join([f"{service.name} {how}; the end of {log}:", *(f"  {line}" for line in tail)])


def down(settings: Settings) -> bool:
    """Stop the stack of this folder; gives whether one was running.

    Raises
    ------
    StackBusy
        If the folder's stack runs on another host.
    """
    home = absolute(settings).home
    state = running(home)
    if not state:
        if home.exists():
            lock = FolderLock(home)
            lock.acquire()
            lock.release()
        return False
    os.kill(state.supervisor.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while state.supervisor.alive():
        if time.monotonic() > deadline:
            os.kill(state.supervisor.pid, signal.SIGKILL)
            deadline += STOP_SECONDS
        time.sleep(_POLL_SECONDS)
    return True


def status(settings: Settings) -> Status:
    """Say how the stack of this folder stands; what needs its API is left to the client."""
    settings = absolute(settings)
    home = settings.home
    state = running(home)
    endpoint = live_endpoint(home) or (last_endpoint(home) if state else None)
    services = tuple(
        ServiceStatus(**one.model_dump(), runs=bool(one.pid) and start_ticks(one.pid) == one.start_ticks)
        for one in (state.services if state else ())
    )
    holder = FolderLock(home).holder() if home.exists() else None
    if holder and not state and holder.same_kernel():
        holder = None  # what a killed stack left behind
    return Status(
        running=state is not None,
        supervisor=f"host {holder.host}, process {holder.pid}" if holder else "",
        services=services,
        api_url=endpoint.url if endpoint else "",
        flower_url=state.flower_url if state else "",
        flower_password_file=str(home / FLOWER_PASSWORD),
        redis_port=state.redis_port if state else 0,
        disk=_disk(settings),
    )


def _disk(settings: Settings) -> Disk:
    home, workspace = settings.home, settings.workspace
    deadline = time.monotonic() + 2
    redis_bytes, first = _size(home / "redis", deadline)
    workspace_bytes, second = _size(workspace, deadline)
    at = next(path for path in (home, *home.parents) if path.exists())
    return Disk(
        home=str(home),
        workspace=str(workspace),
        redis_bytes=redis_bytes,
        workspace_bytes=workspace_bytes,
        complete=first and second,
        free_bytes=shutil.disk_usage(at).free,
    )


def _size(folder: Path, deadline: float) -> tuple[int, bool]:
    """Add up a folder's files; stops at the deadline."""
    total = 0
    for place, _, names in os.walk(folder):
        if time.monotonic() > deadline:
            return total, False
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except FileNotFoundError:
                continue
    return total, True
