"""The reconciler: takes back what was not renewed, ends what was cancelled, and tells Celery's events about it.

Every worker and every orchestrator runs a round at least every quarter lease; any number of them may do so at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog
from celery import Celery

from tasks import batches, expiry
from tasks.celery_app import BROKER_ERRORS
from tasks.errors import Unreachable
from tasks.expiry import Expired, Lost
from tasks.settings import Settings
from tasks.store import AsyncStore, Store
from tasks.workers import celery_queue

log = structlog.get_logger()


def report_lost(app: Celery, lost: Sequence[Lost]) -> None:
    """Send Celery's events that end a lost attempt in Flower, under the name of the worker that lost it."""
    with app.connection_for_write() as connection:
        for attempt in lost:
            with app.events.Dispatcher(connection, hostname=attempt.hostname) as events:
                events.send(
                    "task-failed",
                    uuid=attempt.task_id,
                    exception=f"WorkerLost('attempt {attempt.attempt} of job {attempt.job} on {attempt.host}')",
                    traceback="",
                )


def drop_queues(app: Celery, workers: Sequence[str]) -> None:
    """Delete the message queues of workers that are gone; their offers were given to others."""
    with app.connection_for_write() as connection, connection.channel() as channel:
        for worker in workers:
            channel.queue_delete(celery_queue(worker))


def _tell(app: Celery, expired: Expired) -> None:
    for attempt in expired.lost:
        log.warning("attempt_lost", job=attempt.job, attempt=attempt.attempt, worker=attempt.worker, host=attempt.host)
    for worker in expired.gone_workers:
        log.warning("worker_gone", worker=worker)
    for run in expired.runs:
        log.warning("run_taken_back", run=run)
    if expired.lost:
        report_lost(app, expired.lost)
    if expired.gone_workers:
        drop_queues(app, expired.gone_workers)


def reconcile_once(store: Store, app: Celery, settings: Settings) -> None:
    """Do one round, in a worker.

    Raises
    ------
    Unreachable
        If Redis does not answer.
    """
    _tell(app, store.run(expiry.expire(settings)))
    store.run(batches.sweep(settings))


async def reconcile(store: AsyncStore, app: Celery, settings: Settings, stop: asyncio.Event) -> None:
    """Do rounds until told to stop, in an orchestrator."""
    pause = min(settings.lease_seconds / 8, settings.beat_seconds)
    while not stop.is_set():
        try:
            expired = await store.run(expiry.expire(settings))
            await asyncio.to_thread(_tell, app, expired)
            while (await store.run(batches.sweep(settings))).more:
                pass
        except (Unreachable, *BROKER_ERRORS) as error:
            log.warning("reconcile_failed", error=str(error))
        try:
            await asyncio.wait_for(stop.wait(), pause)
        except TimeoutError:
            continue
