"""Finding and ending all processes of an engine's session (standard library only; also used by the warden).

MPI ranks leave their process group but not their session, and programs that leave their session as well become children
of the warden, which is a subreaper: both nets together leave nobody behind.
"""

from __future__ import annotations

import os
import signal
import time

#: variable by which the processes of an attempt are known, also those that have left their session
MARK = "SIMRELAY_ATTEMPT"


def _stat(pid: int) -> tuple[str, int, int] | None:
    """Give state, parent and session of a process; None if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return None
    fields = text[text.rindex(b")") + 2 :].split()
    return fields[0].decode(), int(fields[1]), int(fields[3])


def members(session: int, root: int = 0) -> set[int]:
    """Give the live processes of a session, and all descendants of ``root`` (0: none), without ``root`` itself."""
    parents: dict[int, int] = {}
    found: set[int] = set()
    for name in os.listdir("/proc"):
        if name.isdigit() and (stat := _stat(int(name))):
            pid = int(name)
            parents[pid] = stat[1]
            if stat[0] not in "ZX" and stat[2] == session:
                found.add(pid)
    if root:
        for pid in parents:
            above = parents[pid]
            while above and above != root:
                above = parents.get(above, 0)
            stat = _stat(pid) if above == root else None
            if stat and stat[0] not in "ZX":
                found.add(pid)
    found.discard(root)
    found.discard(os.getpid())
    return found


def marked(mark: str) -> set[int]:
    """Give the live processes whose environment carries the mark of an attempt."""
    found = set()
    wanted = f"{MARK}={mark}".encode()
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                carries = wanted in file.read().split(b"\0")
        except OSError:  # it has ended, or is another user's
            continue
        if carries and (stat := _stat(int(name))) and stat[0] not in "ZX":
            found.add(int(name))
    return found


def start_ticks(pid: int) -> int:
    """Give when a process started, in clock ticks since boot; 0 if there is none, or only its zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return 0
    fields = text[text.rindex(b")") + 2 :].split()
    return 0 if fields[0] in (b"Z", b"X") else int(fields[19])


def reap() -> None:
    """Collect all children that have ended, so that none stays behind as a zombie."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def end_session(session: int, grace_seconds: float, root: int = 0) -> None:
    """End a session: TERM, a grace, then KILL until nobody is left.

    Parameters
    ----------
    root
        The warden's own process id: its descendants are ended too, and its children collected.
    """
    signal_all(members(session, root), signal.SIGTERM)
    deadline = time.monotonic() + grace_seconds
    while time.monotonic() < deadline:
        if root:
            reap()
        if not members(session, root):
            return
        time.sleep(0.02)
    while left := members(session, root):
        signal_all(left, signal.SIGKILL)
        if root:
            reap()
        time.sleep(0.02)


def end_marked(mark: str) -> None:
    """Kill what carries the mark of an attempt until nobody is left."""
    while left := marked(mark):
        signal_all(left, signal.SIGKILL)
        time.sleep(0.02)


def signal_all(pids: set[int], number: signal.Signals) -> None:
    """Send a signal to processes, some of which may have ended; what is stopped is woken to get SIGTERM."""
    for pid in pids:
        try:
            os.kill(pid, number)
            if number == signal.SIGTERM:
                os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            continue
