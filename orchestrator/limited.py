"""Work on what others wrote, in a process of its own that is ended when it takes too long or too much memory."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from orchestrator.apart import die_with_parent
from tasks.errors import SimrelayError

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one piece of work may take.

    Attributes
    ----------
    memory_bytes
        Of address space, beyond what this process has already.
    """

    seconds: float
    memory_bytes: int


class LimitExceeded(SimrelayError):
    """The work took longer, or more memory, than it may, and was ended; or it took its process down."""


def run_limited(limits: Limits, function: Callable[..., T], *arguments: Any) -> T:
    """Run a function in a process made for it.

    That process is forked, so it must be called where no other thread holds a lock that the function needs: in the
    processes of ``Apart``, which have one thread.

    Raises
    ------
    LimitExceeded
        If it did not end in time, wanted more memory, or died; nothing of it is left then.
    """
    receiving, sending = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=_work, args=(sending, limits.memory_bytes, function, arguments), daemon=True
    )
    process.start()
    sending.close()
    try:
        if not receiving.poll(limits.seconds):
            raise LimitExceeded(f"took more than {limits.seconds:g} s")
        good, answer = pickle.loads(receiving.recv_bytes())
    except EOFError:
        process.join()
        raise LimitExceeded(f"ended its process ({_how(process.exitcode)})") from None
    finally:
        process.kill()
        process.join()
        process.close()
        receiving.close()
    if not good:
        raise answer
    result: T = answer
    return result


def _work(sending: Connection, memory_bytes: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    die_with_parent()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Never above a limit that this process was given itself.
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = _address_space() + memory_bytes
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        answer = pickle.dumps((True, function(*arguments)))
    except MemoryError:
        answer = b""
    except Exception as error:  # noqa: BLE001, it is raised by the caller's process
        answer = pickle.dumps((False, error))
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    answer = answer or pickle.dumps((False, LimitExceeded(f"needs more than {memory_bytes >> 20} MB of memory")))
    sending.send_bytes(answer)


def _address_space() -> int:
    with open("/proc/self/statm") as stream:
        return int(stream.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _how(code: int | None) -> str:
    return signal.Signals(-code).name if code and code < 0 else f"exit code {code}"
