"""Finding the processes of an installation in /proc: wardens, simulations, and what should not be there any more."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Process:
    """A process as /proc shows it."""

    pid: int
    parent: int
    session: int
    #: one letter: R, S, D, T (stopped), …
    state: str
    command: tuple[str, ...]


def processes() -> dict[int, Process]:
    """Give all live processes that can be read, by their id."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            stat = Path(f"/proc/{name}/stat").read_text()
            command = Path(f"/proc/{name}/cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        fields = stat[stat.rindex(")") + 2 :].split()
        if fields[0] not in "ZX":
            found[int(name)] = Process(
                pid=int(name),
                parent=int(fields[1]),
                session=int(fields[3]),
                state=fields[0],
                command=tuple(command.rstrip("\0").split("\0")),
            )
    return found


@dataclass(frozen=True, kw_only=True)
class Running:
    """An attempt as it physically runs on this host."""

    job: str
    attempt: int
    claim_id: str
    warden: int
    #: the pool child that started the warden
    child: int
    #: the program; 0: not started yet, or over
    simulation: int


def _attempt(process: Process, scratch: Path) -> tuple[str, int, str] | None:
    """Give job, attempt and claim of a warden, from the plan that it was started with."""
    plan = Path(process.command[-1])
    if plan.name != "warden.plan" or plan.parent.parent != scratch:
        return None
    job, attempt, claim_id = plan.parent.name.rsplit("-", 2)
    return job, int(attempt), claim_id


def running(scratch: Path) -> list[Running]:
    """Give all attempts that physically run."""
    every = processes()
    found = []
    for process in every.values():
        known = _attempt(process, scratch)
        if known is None or process.session == process.pid:  # a program between fork and exec looks like its warden
            continue
        simulation = next((p.pid for p in every.values() if p.parent == process.pid and p.session == p.pid), 0)
        found.append(
            Running(
                job=known[0],
                attempt=known[1],
                claim_id=known[2],
                warden=process.pid,
                child=process.parent,
                simulation=simulation,
            )
        )
    return sorted(found, key=lambda r: r.warden)


def children(pid: int) -> list[int]:
    """Give the children of a process."""
    return sorted(p.pid for p in processes().values() if p.parent == pid)


def belonging(home: Path) -> Iterator[Process]:
    """Give all processes that were started for an installation, or work in its folder."""
    mark = f"SIMRELAY_HOME={home}"
    for process in processes().values():
        try:
            variables = Path(f"/proc/{process.pid}/environ").read_bytes().decode(errors="replace").split("\0")
            folder = os.readlink(f"/proc/{process.pid}/cwd")
        except OSError:
            continue
        if process.pid != os.getpid() and (mark in variables or Path(folder).is_relative_to(home)):
            yield process
