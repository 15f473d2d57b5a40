"""Real workers: processes of their own, on the session's Redis."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tasks import batches, listing
from tasks.batches import NewJob, Owner
from tasks.celery_app import make_app, publisher
from tasks.records import JobRecord, JobState
from tasks.settings import Settings, environment
from tasks.specs import parse_spec
from tasks.store import Store, connect
from tests.conftest import eventually
from tests.programs import programs_toml

StartWorker = Callable[..., "RunningWorker"]


class RunningWorker:
    """A worker process with a name of its own, and variables besides those of the settings."""

    def __init__(self, settings: Settings, name: str, cores: int, variables: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.log = settings.home / f"{name}.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "worker", "--cores", str(cores), "--memory", "4 GB", "--name", name],
                env={**environment(settings), **(variables or {})},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self) -> None:
        """Kill the worker's main process and its pool children at once, as a node going down would."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """Ask the worker to stop, and wait."""
        self.process.terminate()
        self.process.wait(30)


def prepare(settings: Settings) -> Store:
    """Make the folders of an installation with declared programs; give a store that publishes its offers."""
    (settings.home / "programs.toml").write_text(programs_toml(settings.home))
    settings.workspace.mkdir()
    (settings.workspace / ".simrelay-workspace").write_text("token-of-the-test")
    client = connect(settings)
    client.set(f"{settings.key_prefix}workspace:token", "token-of-the-test")
    return Store(client, settings, publisher(make_app(settings)))


@pytest.fixture
def submitting(settings: Settings) -> Store:
    """A store that publishes its offers, as a submitting process has."""
    return prepare(settings)


@pytest.fixture
def start_worker(settings: Settings, submitting: Store) -> Iterator[StartWorker]:
    """Start workers; all are killed at the end."""
    started: list[RunningWorker] = []

    def start(name: str = "one", cores: int = 2, **variables: str) -> RunningWorker:
        before = {worker.id for worker in submitting.run(listing.workers()).rows}
        running = RunningWorker(settings, name, cores, variables)
        started.append(running)

        def registered() -> bool:
            assert running.process.poll() is None, running.log.read_text()
            return any(w.id not in before for w in submitting.run(listing.workers()).rows)

        eventually(registered, seconds=30, what=f"worker {name} registers")
        return running

    yield start
    for running in started:
        running.kill()


def submit(store: Store, *specs: dict[str, object], batch: str = "b1", owner: Owner | None = None) -> list[str]:
    """Submit specs as one batch; give the ids of its jobs."""
    owner = owner or Owner(owner="ana")
    jobs = [NewJob(id=f"{batch}-{i}", spec=parse_spec(spec)) for i, spec in enumerate(specs)]
    store.run(batches.open_batch(batch, owner, count=len(jobs), manifest_hash="h"))
    for first in range(0, len(jobs), 250):
        store.run(batches.submit(batch, owner, jobs[first : first + 250], store.settings, first_index=first))
    store.run(batches.seal(batch, owner))
    return [job.id for job in jobs]


def job(store: Store, job_id: str) -> JobRecord:
    """Read a job that must exist."""
    record = store.run(listing.job(job_id))
    assert record
    return record


def wait_for(store: Store, job_id: str, *states: JobState, seconds: float = 30.0) -> JobRecord:
    """Wait until a job is in one of these states."""
    eventually(lambda: job(store, job_id).state in states, seconds=seconds, what=f"{job_id} in {states}")
    return job(store, job_id)


def artifact_path(settings: Settings, record: JobRecord, role: str) -> Path:
    """Give the path of a job's artifact of that role."""
    return settings.workspace / next(a.path for a in record.artifacts if a.role == role)
