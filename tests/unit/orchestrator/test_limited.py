"""Limited work: answers and errors come back; what hangs, eats memory or dies is ended, and says which."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from orchestrator.limited import LimitExceeded, Limits, run_limited
from tasks.errors import InputError
from tests.conftest import eventually

LIMITS = Limits(seconds=30, memory_bytes=200 << 20)


def _refuse(name: str) -> None:
    raise InputError("file", name, "is bad", "Give another.")


def _hang(marker: Path) -> None:
    marker.write_text(str(os.getpid()))
    time.sleep(600)


def _eat() -> int:
    # Little enough for any host, so that nothing but the limit refuses it.
    kept = [bytes(10 << 20) for _ in range(40)]
    return len(kept)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_answers_and_errors_come_back_whole() -> None:
    assert run_limited(LIMITS, sorted, [2, 1]) == [1, 2]
    assert len(run_limited(LIMITS, bytes, 20 << 20)) == 20 << 20, "also more than a pipe holds"
    with pytest.raises(InputError) as raised:
        run_limited(LIMITS, _refuse, "a.pdf")
    assert (raised.value.value, raised.value.remedy) == ("a.pdf", "Give another.")


def test_what_hangs_is_ended(tmp_path: Path) -> None:
    marker = tmp_path / "pid"
    with pytest.raises(LimitExceeded, match="took more than 1 s"):
        run_limited(Limits(seconds=1, memory_bytes=200 << 20), _hang, marker)
    eventually(lambda: not _is_there(int(marker.read_text())))


def test_what_eats_memory_is_ended() -> None:
    with pytest.raises(LimitExceeded, match="needs more than 200 MB of memory"):
        run_limited(LIMITS, _eat)


def test_what_takes_its_process_down_is_told() -> None:
    with pytest.raises(LimitExceeded, match=r"ended its process \(SIGKILL\)"):
        run_limited(LIMITS, _die)
