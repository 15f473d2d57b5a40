"""Celery's revoke, taken for what a person means by it: the job is to be cancelled.

Celery's own revoke is a broadcast to the workers that happen to be up, and forgotten by them; it would drop an offer
without ending its job, or kill a pool child so that the attempt counts as lost and the job is run again. Here it runs
the one script that cancels, so it holds with no worker up, and an attempt ends by the answer to its next renewal.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import structlog
from celery import Celery
from celery.app.control import Control

from tasks import jobs, listing
from tasks.celery_app import make_app, publisher
from tasks.errors import NotFound
from tasks.settings import Settings
from tasks.store import Store, connect
from tasks.workers import celery_hostname

log = structlog.get_logger()


def job_of(task_id: str) -> str:
    """Give the job of a publication's task id (``<job>.<number>``); empty: it is none of ours."""
    job, _, number = task_id.rpartition(".")
    return job if number.isdigit() else ""


def revoke(store: Store, app: Celery, task_ids: Sequence[str]) -> dict[str, str]:
    """Cancel the jobs of these publications; gives what became of each.

    What waited is ended here, so Celery's event for it is sent from here; what runs is ended by its worker.

    Raises
    ------
    Unreachable
        If Redis does not answer; the cancel may be repeated.
    """
    said = {}
    for task_id in task_ids:
        job = job_of(task_id)
        record = store.run(listing.job(job)) if job else None
        if not record:
            said[task_id] = "unknown"
            continue
        try:
            said[task_id] = store.run(jobs.cancel(job, store.settings)).answer
        except NotFound:
            said[task_id] = "unknown"
        log.info("job_revoked", job=job, task=task_id, answer=said[task_id])
        if said[task_id] == "ok":
            offered = {record.task_id} if record.place == "offered" else set()
            _tell(app, sorted({task_id} | offered), record.worker)
    return said


def _tell(app: Celery, task_ids: Sequence[str], worker: str) -> None:
    """Send Celery's event that shows an offer as revoked, under the name of the worker that it was made to."""
    with app.connection_for_write() as connection:
        for task_id in task_ids:
            with app.events.Dispatcher(connection, hostname=celery_hostname(worker)) as events:
                events.send("task-revoked", uuid=task_id, terminated=False, signum=None, expired=False)


class RevokingControl(Control):
    """Remote control whose ``revoke`` and ``terminate`` cancel jobs; everything else is Celery's."""

    settings: Settings

    @cached_property
    def store(self) -> Store:
        """The store of this process."""
        return Store(connect(self.settings), self.settings, publisher(self.app))

    def revoke(self, task_id: str | Sequence[str], *_: Any, **__: Any) -> dict[str, str]:
        """Cancel the jobs of one or more publications."""
        return revoke(self.store, self.app, [task_id] if isinstance(task_id, str) else task_id)


def make_revoking_app(settings: Settings) -> Celery:
    """Make the application for programs through which people revoke, such as Flower."""
    app = make_app(settings)
    app.control_cls = type("BoundControl", (RevokingControl,), {"settings": settings})
    return app
