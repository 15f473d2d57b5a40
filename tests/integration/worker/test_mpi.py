"""No rank of an MPI program outlives its attempt, although ranks leave their group and session, and ignore TERM."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tasks import jobs, listing
from tasks.records import JobState
from tasks.settings import Settings
from tasks.store import Store
from tests.chaos.processes import Process, belonging, children, processes, running
from tests.conftest import eventually, missing
from tests.integration.worker.conftest import RunningWorker, StartWorker, job, submit, wait_for

RANKS = 2
#: each rank ignores SIGTERM and has two children, one in a session of its own
RANK = "trap '' TERM; setsid sleep 600 & sleep 601 & wait"
PROGRAM = f"""
[programs.ring]
command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "{RANKS}", "/bin/sh", "-c", "{RANK}"]
success = "^never$"
stop_grace_seconds = 8.0
"""
NAMES = ("mpirun", "/bin/sh", "sleep")


@dataclass(frozen=True)
class Ring:
    """A real MPI program that runs, with the worker that runs it."""

    settings: Settings
    store: Store
    worker: RunningWorker
    job: str
    parts: frozenset[int]

    @property
    def gone(self) -> bool:
        """Whether nothing of the program is left."""
        return not self.parts & processes().keys()


def parts(settings: Settings) -> list[Process]:
    """Give all processes of the MPI program."""
    return [process for process in belonging(settings.home) if process.command[0] in NAMES]


@pytest.fixture
def ring(settings: Settings, submitting: Store, start_worker: StartWorker) -> Ring:
    """An MPI program that runs: mpirun, its ranks and their children."""
    if not shutil.which("mpirun"):
        missing("mpirun (openmpi-bin)")
    path = settings.home / "programs.toml"
    path.write_text(path.read_text() + PROGRAM)
    worker = start_worker()
    (name,) = submit(submitting, {"program": "ring", "resources": {"walltime_seconds": 10}})
    eventually(lambda: len(parts(settings)) == 1 + 3 * RANKS, what="all ranks and their children run")
    found = parts(settings)
    (leader,) = [process for process in found if process.command[0] == "mpirun"]
    assert len({os.getpgid(process.pid) for process in found} - {os.getpgid(leader.pid)}) >= RANKS
    assert len({process.session for process in found} - {leader.session}) == RANKS
    return Ring(settings, submitting, worker, name, frozenset(process.pid for process in found))


def kill_process_group(ring: Ring) -> None:
    """The worker's whole process group, as a terminal or a shell does it."""
    ring.worker.kill()


def kill_warden(ring: Ring) -> None:
    """The one process that watches over the program."""
    (attempt,) = running(ring.settings.scratch)
    os.kill(attempt.warden, signal.SIGKILL)


def cancel(ring: Ring) -> None:
    """A person's cancel."""
    ring.store.run(jobs.cancel(ring.job, ring.settings))


def walltime(ring: Ring) -> None:
    """Nothing is done: the program is told to stop 2 s after its start, and does not listen for 8 s."""


@pytest.mark.parametrize(
    ("blow", "seconds", "hows"),
    [
        (kill_process_group, 5, ["open"]),
        (kill_warden, 5, ["preempted"]),
        (cancel, 5, ["cancelled"]),
        (walltime, 15, ["failed"]),
    ],
)
def test_nothing_of_an_mpi_program_outlives_its_attempt(
    ring: Ring, blow: Callable[[Ring], None], seconds: float, hows: list[str]
) -> None:
    blow(ring)
    eventually(lambda: ring.gone, seconds=seconds, what="mpirun, ranks and their children are gone")
    eventually(
        lambda: [attempt.how for attempt in ring.store.run(listing.attempts(ring.job))][:1] == hows, what=f"{hows}"
    )
    if blow is cancel:
        assert wait_for(ring.store, ring.job, JobState.CANCELLED)
    if blow is walltime:
        failure = job(ring.store, ring.job).failure
        assert failure and failure.error_class == "walltime"


def test_what_the_kill_of_a_worker_and_all_its_wardens_left_is_ended_by_the_next_worker(
    ring: Ring, start_worker: StartWorker
) -> None:
    (attempt,) = running(ring.settings.scratch)
    main = ring.worker.process.pid
    for pid in (main, *children(main), attempt.warden):
        os.kill(pid, signal.SIGSTOP)  # so that none acts on the end of another
    for pid in (attempt.warden, *children(main), main):
        os.kill(pid, signal.SIGKILL)
    ring.worker.process.wait()
    assert not ring.gone, "nobody is left who could end them"
    start_worker("two")
    eventually(lambda: ring.gone, seconds=5, what="mpirun, ranks and their children are gone")
