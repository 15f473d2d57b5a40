"""Reading records: one by id, and page by page out of the sets that the scripts keep."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tasks.records import AttemptRecord, BatchRecord, JobRecord, Record, RunRecord, WorkerRecord
from tasks.scripts import Call, Reply, call

R = TypeVar("R", bound=Record)
#: rows looked at for one page before the rest is left to the next page
MOST_LOOKED_AT = 5000


@dataclass(frozen=True, kw_only=True)
class Page(Generic[R]):
    """One page of records, newest first; an empty cursor: there are no more."""

    rows: tuple[R, ...]
    cursor: str


def _page(set_name: str, kind: str, model: type[R], where: dict[str, str], cursor: str, count: int) -> Call[Page[R]]:
    def read(reply: Reply) -> Page[R]:
        rows = tuple(model.model_validate(row) for row in reply.details["rows"] or ())
        return Page(rows=rows, cursor=reply.details["cursor"])

    return call("page", set_name, kind, cursor, count, json.dumps(where), MOST_LOOKED_AT, read=read)


def jobs(
    *,
    state: str = "",
    owner: str = "",
    queue: str = "",
    run: str = "",
    batch: str = "",
    cursor: str = "",
    count: int = 50,
) -> Call[Page[JobRecord]]:
    """List jobs, newest first, by any of state, owner, queue (only jobs that have not ended), run or batch."""
    where = {"state": state, "owner": owner, "queue": queue, "run": run, "batch": batch}
    where = {name: value for name, value in where.items() if value}
    if batch:
        set_name = f"batch:{batch}:jobs"
    elif run:
        set_name = f"run-jobs:{run}"
    elif queue:
        set_name = f"queue:{queue}"
    elif state:
        set_name = f"state:{state}"
    else:
        set_name = f"owner:{owner}" if owner else "jobs"
    return _page(set_name, "job", JobRecord, where, cursor, count)


class WholeBatch:
    """All jobs of a batch, in their order, read page by page by whoever can run the calls, awaited or not.

    ``while call := whole.following(): whole.take(store.run(call))``, and then ``whole.records``.
    """

    def __init__(self, batch_id: str) -> None:
        self._batch, self._cursor, self._rows = batch_id, "", list[JobRecord]()
        self._complete = False

    def following(self) -> Call[Page[JobRecord]] | None:
        """Give the call for the next page; None: there are no more."""
        return None if self._complete else jobs(batch=self._batch, cursor=self._cursor, count=200)

    def take(self, page: Page[JobRecord]) -> None:
        """Take what that call gave."""
        self._rows += page.rows
        self._cursor, self._complete = page.cursor, not page.cursor

    @property
    def records(self) -> list[JobRecord]:
        """What was read so far."""
        return sorted(self._rows, key=lambda record: record.batch_index)


def batches(*, owner: str = "", run: str = "", cursor: str = "", count: int = 50) -> Call[Page[BatchRecord]]:
    """List batches, newest first, by owner or run."""
    set_name = f"run-batches:{run}" if run else f"owner-batches:{owner}" if owner else "batches"
    return _page(set_name, "batch", BatchRecord, {"owner": owner} if owner else {}, cursor, count)


def runs(*, owner: str = "", state: str = "", cursor: str = "", count: int = 50) -> Call[Page[RunRecord]]:
    """List runs, newest first, by owner or state."""
    where = {name: value for name, value in (("owner", owner), ("state", state)) if value}
    set_name = f"runs:state:{state}" if state else f"owner-runs:{owner}" if owner else "runs"
    return _page(set_name, "run", RunRecord, where, cursor, count)


def workers(*, count: int = 1000) -> Call[Page[WorkerRecord]]:
    """List the workers whose heartbeat was not given up yet."""
    return _page("workers", "worker", WorkerRecord, {}, "", count)


def _one(kind: str, model: type[R], key: str) -> Call[R | None]:
    def read(reply: Reply) -> R | None:
        rows = reply.details["rows"] or ()
        return model.model_validate(rows[0]) if rows else None

    return call("get", kind, key, read=read)


def job(job_id: str) -> Call[JobRecord | None]:
    """Read one job."""
    return _one("job", JobRecord, job_id)


def batch(batch_id: str) -> Call[BatchRecord | None]:
    """Read one batch."""
    return _one("batch", BatchRecord, batch_id)


def run(run_id: str) -> Call[RunRecord | None]:
    """Read one run."""
    return _one("run", RunRecord, run_id)


def worker(worker_id: str) -> Call[WorkerRecord | None]:
    """Read one worker."""
    return _one("worker", WorkerRecord, worker_id)


def attempts(job_id: str) -> Call[tuple[AttemptRecord, ...]]:
    """Read all attempts of a job, oldest first."""

    def read(reply: Reply) -> tuple[AttemptRecord, ...]:
        return tuple(AttemptRecord.model_validate(row) for row in reply.details["rows"] or ())

    return call("get", "attempts", job_id, read=read)


def declared() -> Call[dict[str, dict[str, Any]]]:
    """Read what any worker has ever declared, by queue."""

    def read(reply: Reply) -> dict[str, dict[str, Any]]:
        return {queue: json.loads(text) for queue, text in (reply.details["declared"] or {}).items()}

    return call("declared", read=read)


def ahead(job_id: str) -> Call[dict[str, Any]]:
    """Say why a job has not started: how many are before it, and what the live workers could hold."""
    return call("why", job_id, read=lambda reply: {"answer": reply.answer, **reply.details})
