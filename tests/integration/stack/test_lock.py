"""The lock of a folder, with real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orchestrator.stack.lock import FolderLock
from orchestrator.stack.processes import describe, this_process
from tasks.errors import StackBusy
from tests.conftest import eventually

#: takes the lock, says so, and holds it until its input ends
HOLD = """
import sys
from pathlib import Path
from orchestrator.stack.lock import FolderLock
from tasks.errors import StackBusy
lock = FolderLock(Path(sys.argv[1]))
try:
    lock.acquire()
except StackBusy as error:
    print("busy", error, flush=True)
    sys.exit(8)
print("held", flush=True)
sys.stdin.read()
lock.release()
"""
Start = Callable[[], "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start processes that want the lock; all are killed at the end."""
    started: list[subprocess.Popen[str]] = []

    def one() -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield one
    for process in started:
        process.kill()
        process.communicate()


def said(process: subprocess.Popen[str]) -> str:
    """Give the next line that a process prints."""
    assert process.stdout
    return process.stdout.readline().strip()


def test_a_second_process_is_refused_with_host_and_process_of_the_first(tmp_path: Path, start: Start) -> None:
    first = start()
    assert said(first) == "held"
    lock = FolderLock(tmp_path)
    with pytest.raises(StackBusy) as refused:
        lock.acquire()
    me = this_process()
    assert f"host {me.host}, process {first.pid}," in str(refused.value)
    assert refused.value.exit_code == 8
    # And it can be taken once the first has let go.
    first.communicate()
    lock.acquire()
    lock.release()
    assert lock.holder() is None


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path: Path, start: Start) -> None:
    first = start()
    assert said(first) == "held"
    first.kill()
    first.wait()
    lock = FolderLock(tmp_path)
    assert lock.holder() is not None
    lock.acquire()
    holder = lock.holder()
    assert holder
    assert holder.pid == os.getpid()
    lock.release()


def test_the_lock_of_a_stopped_process_is_not_taken_over(tmp_path: Path, start: Start) -> None:
    first = start()
    assert said(first) == "held"
    first.send_signal(signal.SIGSTOP)
    with pytest.raises(StackBusy):
        FolderLock(tmp_path).acquire()


def test_of_many_that_want_a_stale_lock_one_gets_it(tmp_path: Path, start: Start) -> None:
    dead = start()
    assert said(dead) == "held"
    dead.kill()
    dead.wait()
    wanting = [start() for _ in range(6)]
    with ThreadPoolExecutor(len(wanting)) as pool:
        answers = list(pool.map(said, wanting))
    assert sum(answer == "held" for answer in answers) == 1
    winner = wanting[answers.index("held")]
    holder = FolderLock(tmp_path).holder()
    assert holder
    assert holder.pid == winner.pid
    assert not list(tmp_path.glob(".stack.lock.*"))


def write_holder(folder: Path, **changes: object) -> None:
    """Put a lock file there that somebody else has written."""
    holder = {**this_process().model_dump(), "since": "2026-01-01T00:00:00+00:00", **changes}
    (folder / "stack.lock").write_text(json.dumps(holder))


def test_another_host_of_a_shared_file_system_is_never_taken_for_dead(tmp_path: Path) -> None:
    write_holder(tmp_path, host="node17", boot_id="another", pid=4321)
    with pytest.raises(
        StackBusy, match=r"host node17, process 4321.*If that host is really gone, remove .*stack\.lock"
    ):
        FolderLock(tmp_path).acquire()
    # The remedy that it names works.
    (tmp_path / "stack.lock").unlink()
    lock = FolderLock(tmp_path)
    lock.acquire()
    lock.release()


def test_a_lock_of_this_host_before_its_last_boot_is_taken_over(tmp_path: Path) -> None:
    write_holder(tmp_path, boot_id="the boot before", pid=os.getpid())
    lock = FolderLock(tmp_path)
    lock.acquire()
    lock.release()


def test_a_later_process_of_the_same_number_is_not_taken_for_the_holder(tmp_path: Path) -> None:
    write_holder(tmp_path, start_ticks=1)
    lock = FolderLock(tmp_path)
    lock.acquire()
    lock.release()


def test_a_live_holder_counts_also_where_flock_says_nothing(tmp_path: Path, start: Start) -> None:
    # As on a file system without flock: the first holds only its named file.
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        write_holder(tmp_path, **describe(sleeper.pid).model_dump())
        with pytest.raises(StackBusy, match=f"process {sleeper.pid}"):
            FolderLock(tmp_path).acquire()
    finally:
        sleeper.kill()
        sleeper.wait()
    lock = FolderLock(tmp_path)
    lock.acquire()
    lock.release()


def test_release_leaves_the_lock_of_somebody_else_alone(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    lock.acquire()
    write_holder(tmp_path, host="node17", boot_id="another", pid=4321)
    lock.release()
    assert (tmp_path / "stack.lock").exists()


def test_the_end_of_the_holder_frees_the_flock_at_once(tmp_path: Path, start: Start) -> None:
    first = start()
    assert said(first) == "held"
    os.kill(first.pid, signal.SIGKILL)

    def free() -> bool:
        lock = FolderLock(tmp_path)
        try:
            lock.acquire()
        except StackBusy:
            return False
        lock.release()
        return True

    eventually(free, seconds=5)
