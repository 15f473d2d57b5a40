"""Flower's Terminate and Revoke buttons, and a plain Celery revoke: the job ends CANCELLED, and is not run again."""

from __future__ import annotations

import signal

import psutil
import pytest
from celery.app.control import Control

from tasks import listing
from tasks.celery_app import make_app
from tasks.records import JobState
from tasks.revoking import job_of
from tasks.settings import Settings
from tasks.store import Store
from tests.conftest import eventually
from tests.integration.test_flower import (
    SLOW,
    RunningFlower,
    RunningWorker,
    StartWorker,
    flower,
    job,
    start_worker,
    submit,
    submitting,
    wait_for,
    worker,
)

__all__ = ["flower", "start_worker", "submitting", "worker"]


def press(flower: RunningFlower, task_id: str, *, terminate: bool) -> None:
    """Press Terminate or Revoke."""
    query = {"terminate": "true"} if terminate else {}
    flower.client.post(f"/api/task/revoke/{task_id}", params=query).raise_for_status()


def counts_still(settings: Settings) -> list[int]:
    """Give the processes of this test's counting program."""
    script = str(settings.home / "countdown.py")
    return [p.pid for p in psutil.process_iter(["cmdline"]) if script in (p.info["cmdline"] or ())]


@pytest.mark.parametrize("terminate", [True, False])
def test_a_running_job_is_cancelled_with_its_program_and_not_run_again(
    settings: Settings, submitting: Store, worker: RunningWorker, flower: RunningFlower, terminate: bool
) -> None:
    (first,) = submit(submitting, SLOW)
    eventually(lambda: job(submitting, first).progress, what="progress")
    shown = flower.wait_for(first, "STARTED")
    press(flower, shown["uuid"], terminate=terminate)
    record = wait_for(submitting, first, JobState.CANCELLED, seconds=10)
    (attempt,) = submitting.run(listing.attempts(first))
    assert (attempt.how, record.failures) == ("cancelled", 0)
    eventually(lambda: not counts_still(settings), seconds=5, what="the program is gone")
    assert flower.wait_for(first, "REVOKED")["uuid"] == shown["uuid"]
    # and the worker takes the next one
    (second,) = submit(submitting, {"program": "countdown"}, batch="b2")
    wait_for(submitting, second, JobState.SUCCEEDED)


def test_an_offered_job_is_cancelled_and_never_starts(
    submitting: Store, worker: RunningWorker, flower: RunningFlower
) -> None:
    worker.process.send_signal(signal.SIGSTOP)
    (first,) = submit(submitting, SLOW)
    shown = flower.wait_for(first, "PENDING")
    press(flower, shown["uuid"], terminate=True)
    assert job(submitting, first).state is JobState.CANCELLED
    flower.wait_for(first, "REVOKED")
    worker.process.send_signal(signal.SIGCONT)
    # Whoever comes back to the message finds it void
    (second,) = submit(submitting, {"program": "countdown"}, batch="b2")
    wait_for(submitting, second, JobState.SUCCEEDED)
    assert submitting.run(listing.attempts(first)) == ()
    flower.wait_for(first, "REVOKED")


def test_a_waiting_job_is_cancelled_with_no_worker_up(
    submitting: Store, worker: RunningWorker, flower: RunningFlower, start_worker: StartWorker
) -> None:
    # Given an offer whose worker is gone
    worker.process.send_signal(signal.SIGSTOP)
    (first,) = submit(submitting, SLOW)
    shown = flower.wait_for(first, "PENDING")
    worker.kill()
    # When it is revoked, and a worker comes up later
    press(flower, shown["uuid"], terminate=True)
    assert job(submitting, first).state is JobState.CANCELLED
    start_worker("two")
    # Then it does not run
    (second,) = submit(submitting, {"program": "countdown"}, batch="b2")
    wait_for(submitting, second, JobState.SUCCEEDED)
    assert submitting.run(listing.attempts(first)) == ()
    # and revoking it again, or what never was, is harmless
    press(flower, shown["uuid"], terminate=True)
    press(flower, "nothing.1", terminate=True)
    press(flower, "nothing", terminate=False)
    assert job(submitting, first).state is JobState.CANCELLED


@pytest.mark.parametrize("terminate", [True, False])
def test_a_revoke_that_others_broadcast_cancels_as_well_and_kills_no_pool_child(
    settings: Settings, submitting: Store, start_worker: StartWorker, terminate: bool
) -> None:
    running = start_worker("one")
    (first,) = submit(submitting, SLOW)
    eventually(lambda: job(submitting, first).progress, what="progress")
    children = {child.pid for child in psutil.Process(running.process.pid).children()}
    Control(make_app(settings)).revoke(job(submitting, first).task_id, terminate=terminate, signal="KILL")
    wait_for(submitting, first, JobState.CANCELLED, seconds=10)
    (attempt,) = submitting.run(listing.attempts(first))
    assert attempt.how == "cancelled"
    assert {child.pid for child in psutil.Process(running.process.pid).children()} == children


@pytest.mark.parametrize(
    ("task_id", "job_id"), [("a.1", "a"), ("a.b.12", "a.b"), ("a", ""), ("a.", ""), ("", ""), ("a.b", "")]
)
def test_a_task_id_names_its_job(task_id: str, job_id: str) -> None:
    assert job_of(task_id) == job_id
