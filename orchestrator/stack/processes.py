"""Processes of this host: which one is meant, whether it lives, and children that cannot outlive their parent."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path

from pydantic import BaseModel, ConfigDict

_PR_SET_PDEATHSIG = 1
#: loaded before any fork, since a child between fork and exec should not load libraries
_LIBC = ctypes.CDLL(None, use_errno=True)


class Process(BaseModel):
    """One process, named so that no later one with the same number is taken for it.

    Attributes
    ----------
    boot_id
        Of the kernel that it runs under; a new one at every boot.
    start_ticks
        When it started, in clock ticks since boot.
    pid_namespace
        In which its number holds; another container of the same host has another one.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    host: str
    boot_id: str
    pid: int
    start_ticks: int
    pid_namespace: str = ""

    def same_kernel(self) -> bool:
        """Tell whether it runs, or ran, under the kernel that runs this process."""
        return self.boot_id == boot_id() and self.boot_id != ""

    def alive(self) -> bool:
        """Tell whether it still runs here; False also where it cannot be seen from here."""
        return (
            self.same_kernel()
            and self.pid_namespace == pid_namespace()
            and self.start_ticks == start_ticks(self.pid) != 0
        )


def this_process() -> Process:
    """Describe the calling process."""
    return describe(os.getpid())


def describe(pid: int) -> Process:
    """Describe a process of this host by its number."""
    return Process(
        host=socket.gethostname(),
        boot_id=boot_id(),
        pid=pid,
        start_ticks=start_ticks(pid),
        pid_namespace=pid_namespace(),
    )


def boot_id() -> str:
    """Give the identity of the running kernel; empty where there is none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def pid_namespace() -> str:
    """Give the namespace in which this process' number holds."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def start_ticks(pid: int) -> int:
    """Give when a process started, in clock ticks since boot; 0 if there is none, or only its zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    # The name in parentheses may hold blanks and parentheses itself; what follows it is regular (proc(5)).
    fields = text[text.rindex(")") + 2 :].split()
    return 0 if fields[0] in "ZX" else int(fields[19])


def dies_with_parent(number: int) -> Callable[[], None]:
    """Give what a child runs between fork and exec so that the kernel ends it with its parent.

    The signal comes when the forking thread ends, so only a main thread should start such children.

    Parameters
    ----------
    number
        The signal that it gets.
    """
    parent = os.getpid()

    def in_child() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        bind_to_parent(number, parent)

    return in_child


def bind_to_parent(number: int, parent: int) -> None:
    """Have the kernel send this process a signal when its parent ends; end at once if it has ended already."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
