"""What a dead worker left on this host: programs that outlived it, scratch folders, notes of what runs.

Each attempt's scratch has an owner, noted beside it before it is made: the pool child that works in it. Every worker
looks at these notes at its start and at each beat. Only an owner that is provably dead loses what it had: this host has
booted since, or no process of this namespace has both its id and its start time. Programs are found by the mark of
their attempt in their environment, which their children inherit also where they leave their session.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import structlog

from tasks.settings import Settings
from worker.sessions import marked, signal_all, start_ticks

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Owner:
    """The process that an attempt's scratch belongs to, told apart from every other one."""

    host: str
    boot_id: str
    pid_namespace: str
    pid: int
    start_ticks: int
    #: note of the attempt among what its worker runs
    note: str

    @property
    def dead(self) -> bool:
        """Whether it is provably dead; what cannot be known from here counts as alive."""
        if self.host != socket.gethostname():
            return False
        if self.boot_id != boot_id():
            return True
        return self.pid_namespace == pid_namespace() and start_ticks(self.pid) != self.start_ticks


@cache
def boot_id() -> str:
    """Give the identity of the running kernel."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def pid_namespace() -> str:
    """Give the namespace in which process ids hold."""
    return os.readlink("/proc/self/ns/pid")


def _owners(settings: Settings) -> Path:
    return settings.scratch / "owners"


def own(settings: Settings, name: str, note: Path) -> Path:
    """Note that this process owns an attempt's scratch, and make it, exclusively."""
    owner = Owner(
        host=socket.gethostname(),
        boot_id=boot_id(),
        pid_namespace=pid_namespace(),
        pid=os.getpid(),
        start_ticks=start_ticks(os.getpid()),
        note=str(note),
    )
    folder = _owners(settings)
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".{name}"
    temporary.write_text(json.dumps(asdict(owner)))
    temporary.replace(folder / name)
    scratch = settings.scratch / name
    scratch.mkdir(exist_ok=False)
    return scratch


def disown(settings: Settings, name: str) -> None:
    """Remove an attempt's scratch, then the note of its owner."""
    shutil.rmtree(settings.scratch / name, ignore_errors=True)
    try:
        (_owners(settings) / name).unlink(missing_ok=True)
    except OSError as error:  # a broken disk, which the attempt has told already
        log.warning("scratch_not_disowned", attempt=name, error=str(error))


def sweep(settings: Settings) -> int:
    """End programs of dead owners, and remove what they left once nothing of them runs; gives how many are gone.

    It never waits: what has not ended yet is looked at again at the next beat.
    """
    gone = 0
    folder = _owners(settings)
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        try:
            owner = Owner(**json.loads(path.read_text()))
        except FileNotFoundError:  # its attempt has just ended
            continue
        except (ValueError, TypeError) as error:
            log.warning("owner_not_readable", path=str(path), error=str(error))
            continue
        if path.name.startswith(".") or not owner.dead:
            continue
        if left := marked(path.name):
            log.warning("orphans_ended", attempt=path.name, pids=sorted(left))
            signal_all(left, signal.SIGKILL)
            continue
        Path(owner.note).unlink(missing_ok=True)
        disown(settings, path.name)
        log.warning("scratch_of_dead_worker_removed", attempt=path.name, owner=owner.pid)
        gone += 1
    return gone
