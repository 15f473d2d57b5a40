"""Reading the output of programs: its last line, its last lines, and what they say about a failure."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path

from tasks.results import Failure
from worker.engines.base import Exit

LOG_FILE = "output.log"

_TAIL_BYTES = 65_536
_NO_MEMORY = (
    "MemoryError",
    "std::bad_alloc",
    "Cannot allocate memory",
    "Unable to allocate",
    "out of memory",
    "Out of memory",
)


def tail(path: Path, size: int = _TAIL_BYTES) -> list[str]:
    """Give the last lines of a text file, at most ``size`` bytes of them; nothing if there is no such file."""
    try:
        with path.open("rb") as stream:
            length = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, length - size))
            return stream.read().decode("utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []


def last_line(path: Path) -> str:
    """Give the last line that is not blank, without surrounding blanks; empty if there is none."""
    return next((line.strip() for line in reversed(tail(path)) if line.strip()), "")


def evidence(lines: Sequence[str], count: int = 12) -> tuple[str, ...]:
    """Give the last lines that are not blank, each cut to a readable length."""
    return tuple(line.rstrip()[:400] for line in lines if line.strip())[-count:]


def failure_from_log(log: Path, exits: Sequence[Exit]) -> Failure:
    """Say what failed when the program itself gave no reason."""
    lines = tail(log)
    shown = evidence(lines)
    if telling := [line for line in lines if any(word in line for word in _NO_MEMORY)]:
        return Failure(
            error_class="out_of_memory",
            message="The program could not get the memory that it needs.",
            evidence=evidence(telling, 4),
            remedy="Raise resources.memory.",
        )
    if telling := [line for line in lines if "No space left on device" in line]:
        return Failure(
            error_class="disk_full",
            message="The disk of this host is full.",
            evidence=evidence(telling, 4),
            remedy="Make room in scratch.",
        )
    code = next((exit.code for exit in exits if exit.code != 0), 0)
    number = killing_signal(code)
    if number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU):
        hint = " If nobody did it, the system was probably out of memory." if number == signal.SIGKILL else ""
        message = f"The program was killed by {signal.Signals(number).name}.{hint}"
        return Failure(error_class="killed", message=message, evidence=shown)
    if number:
        message = f"The program crashed with {signal.Signals(number).name}."
        return Failure(error_class="program_failed", message=message, evidence=shown)
    ending = f"exit code {code}" if exits else "no exit code known"
    message = f"The program ended without the mark of success ({ending})."
    return Failure(error_class="program_failed", message=message, evidence=shown, remedy="Read the output.")


def killing_signal(code: int) -> int:
    """Give the signal behind an exit code (negative, or a shell's 128 + n); 0 if it is none."""
    number = -code if code < 0 else code - 128
    return number if number in set(signal.Signals) else 0
