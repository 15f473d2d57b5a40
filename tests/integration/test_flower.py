"""A real Flower beside real workers: what it shows of each job, and that it asks who is looking."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from orchestrator.stack.redis_server import free_port
from orchestrator.stack.secrets import FLOWER_PASSWORD
from orchestrator.stack.state import FLOWER_USER
from tasks import jobs, listing, runs
from tasks.batches import Owner
from tasks.records import JobState
from tasks.settings import Settings, environment
from tasks.store import Store
from tests.conftest import eventually
from tests.integration.worker.conftest import (
    RunningWorker,
    StartWorker,
    job,
    start_worker,
    submit,
    submitting,
    wait_for,
)

__all__ = ["start_worker", "submitting"]

SLOW: dict[str, object] = {"program": "countdown", "parameters": {"steps": 300, "pause": 0.1}, "label": "a slow one"}
BROKEN: dict[str, object] = {"program": "broken"}
#: a program that fails in a way that trying again would not change
BROKEN_TOML = """
[programs.broken]
command = ["/bin/false"]
success = "^never$"
"""

Shown = dict[str, Any]


class RunningFlower:
    """A Flower process with nothing but the installation's settings."""

    def __init__(self, settings: Settings) -> None:
        port = free_port()
        self.log = settings.home / "flower.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "orchestrator.flower"],
                env=environment(settings) | {"FLOWER_PORT": str(port)},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.url = f"http://127.0.0.1:{port}"
        eventually(self._answers, seconds=30, what="Flower answers")
        password = (settings.home / FLOWER_PASSWORD).read_text()
        self.client = httpx.Client(base_url=self.url, auth=(FLOWER_USER, password), trust_env=False)

    def _answers(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        try:
            return httpx.get(f"{self.url}/healthcheck", trust_env=False).is_success
        except httpx.TransportError:
            return False

    def sees(self, worker: RunningWorker) -> None:
        """Wait until a worker's events arrive."""

        def seen() -> bool:
            workers = self.client.get("/api/workers", params={"status": "1"}).json()
            return any(name.startswith(f"simrelay@{worker.name}-") and alive for name, alive in workers.items())

        eventually(seen, what=f"Flower sees worker {worker.name}")

    def attempts(self, job_id: str) -> list[Shown]:
        """Give what it shows of all offers and attempts of a job."""
        tasks: dict[str, Shown] = self.client.get("/api/tasks").raise_for_status().json()
        return [task for task in tasks.values() if f"job {job_id}" in (task["args"] or "")]

    def wait_for(self, job_id: str, state: str, *, seconds: float = 30) -> Shown:
        """Wait until an offer or attempt of the job is shown in this state."""
        found: list[Shown] = []

        def there() -> bool:
            found[:] = [task for task in self.attempts(job_id) if task["state"] == state]
            return bool(found)

        eventually(there, seconds=seconds, what=f"{job_id} {state} in Flower")
        return found[0]


@pytest.fixture
def flower(settings: Settings) -> Iterator[RunningFlower]:
    """A Flower of this test's own."""
    running = RunningFlower(settings)
    yield running
    running.client.close()
    running.process.kill()
    running.process.wait()


@pytest.fixture
def worker(settings: Settings, submitting: Store, start_worker: StartWorker, flower: RunningFlower) -> RunningWorker:
    """A worker that Flower sees."""
    with (settings.home / "programs.toml").open("a") as file:
        file.write(BROKEN_TOML)
    running = start_worker("one")
    flower.sees(running)
    return running


@pytest.mark.parametrize("path", ["/api/tasks", "/api/workers", "/tasks", "/"])
def test_nobody_sees_anything_without_the_installations_password(flower: RunningFlower, path: str) -> None:
    assert httpx.get(flower.url + path, trust_env=False).status_code == 401
    assert httpx.get(flower.url + path, auth=(FLOWER_USER, "guess"), trust_env=False).status_code == 401
    assert flower.client.get(path, params={"status": "1"}, follow_redirects=True).status_code == 200


def test_an_offered_job_is_shown_under_its_name_with_label_job_and_run(
    submitting: Store, worker: RunningWorker, flower: RunningFlower
) -> None:
    # Given a worker that is stopped, so that it takes no offer
    worker.process.send_signal(signal.SIGSTOP)
    submitting.run(runs.create("r7", "ana", "count"))
    claimed = submitting.run(runs.claim("o1", submitting.settings))
    assert claimed
    # When a run submits a job
    (first,) = submit(submitting, SLOW, batch="b7", owner=Owner(owner="ana", run="r7", epoch=claimed.epoch))
    # Then its offer is pending
    shown = flower.wait_for(first, "PENDING")
    assert shown["name"] == "program.countdown"
    assert shown["args"] == f"(a slow one, job {first}, run r7)"
    # And once the worker goes on, the job runs under the same name
    worker.process.send_signal(signal.SIGCONT)
    running = flower.wait_for(first, "STARTED")
    assert (running["name"], running["args"]) == (shown["name"], shown["args"])


def test_a_job_is_started_while_it_runs_and_a_success_after(
    submitting: Store, worker: RunningWorker, flower: RunningFlower
) -> None:
    (first,) = submit(submitting, SLOW | {"parameters": {"steps": 30, "pause": 0.1}})
    eventually(lambda: job(submitting, first).progress, what="progress")
    (shown,) = flower.attempts(first)
    assert shown["state"] == "STARTED"
    assert shown["name"] == "program.countdown"
    assert shown["args"] == f"(a slow one, job {first})"
    assert shown["worker"].startswith("simrelay@one-")
    wait_for(submitting, first, JobState.SUCCEEDED)
    done = flower.wait_for(first, "SUCCESS")
    assert done["uuid"] == shown["uuid"]
    assert done["runtime"] > 2


def test_failed_attempts_are_retried_and_the_last_one_is_a_failure(
    submitting: Store, worker: RunningWorker, flower: RunningFlower
) -> None:
    (first,) = submit(submitting, BROKEN)
    record = wait_for(submitting, first, JobState.FAILED)
    shown = flower.wait_for(first, "FAILURE")
    assert record.failure
    assert record.failure.message in shown["exception"]
    states = sorted(task["state"] for task in flower.attempts(first))
    assert states == ["FAILURE"] + ["RETRY"] * (submitting.settings.failure_budget - 1)


def test_a_cancelled_running_job_is_revoked(submitting: Store, worker: RunningWorker, flower: RunningFlower) -> None:
    (first,) = submit(submitting, SLOW)
    eventually(lambda: job(submitting, first).progress, what="progress")
    submitting.run(jobs.cancel(first, submitting.settings))
    wait_for(submitting, first, JobState.CANCELLED)
    flower.wait_for(first, "REVOKED")
    assert len(flower.attempts(first)) == 1


@pytest.mark.slow
def test_the_attempt_of_a_killed_worker_is_a_failure_and_the_next_one_is_started(
    submitting: Store, worker: RunningWorker, flower: RunningFlower, start_worker: StartWorker
) -> None:
    (first,) = submit(submitting, SLOW)
    lost = flower.wait_for(first, "STARTED")
    eventually(lambda: job(submitting, first).checkpoint, what="a checkpoint is recorded")
    # When its worker is killed beside another one
    second = start_worker("two")
    flower.sees(second)
    worker.kill()
    # Then the other one's reconciler ends what Flower shows of it
    shown = flower.wait_for(first, "FAILURE", seconds=40)
    assert shown["uuid"] == lost["uuid"]
    assert f"attempt 1 of job {first}" in shown["exception"]
    again = flower.wait_for(first, "STARTED")
    assert again["uuid"] != lost["uuid"]
    assert again["worker"].startswith("simrelay@two-")
    assert next(a.how for a in submitting.run(listing.attempts(first))) == "lost"
