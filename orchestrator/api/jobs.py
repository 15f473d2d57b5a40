"""Routes of jobs."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query

from orchestrator.api.context import Api, Context
from orchestrator.api.shapes import Count, Cursor, Id, NewChange, job_row
from orchestrator.changes import Verb, change
from orchestrator.problems import known_state
from orchestrator.why import explain
from tasks import jobs, listing
from tasks.errors import InputError, NotFound
from tasks.records import AttemptRecord, JobRecord, JobState
from tasks.search import parse_range, search
from tasks.workspace import attempt_folder

router = APIRouter(prefix="/jobs")
#: what engines write as they go (DESIGN, "Life of an attempt")
OUTPUT_FILE = "output.log"
_LONGEST_LINE = 400


@router.get("")
async def index(
    api: Context,
    state: str = "",
    owner: str = "",
    queue: str = "",
    run: str = "",
    batch: str = "",
    cursor: Cursor = "",
    count: Count = 50,
    text: Annotated[str, Query(alias="search")] = "",
    ranges: Annotated[list[str] | None, Query(alias="range")] = None,
) -> dict[str, Any]:
    """List jobs, newest first; with ``search`` or ``range=homo_ev:-10..-5`` out of the search index."""
    known_state(state, JobState)
    if text or ranges:
        tags = {"state": state, "owner": owner, "queue": queue, "run": run, "batch": batch}
        return await _search(api, text, tags, ranges or [], cursor, count)
    page = await api.store.run(
        listing.jobs(state=state, owner=owner, queue=queue, run=run, batch=batch, cursor=cursor, count=count)
    )
    return {"jobs": [job_row(job) for job in page.rows], "cursor": page.cursor, "incomplete": ""}


async def _search(
    api: Api, text: str, tags: dict[str, str], ranges: list[str], cursor: str, count: int
) -> dict[str, Any]:
    if cursor and not cursor.isdigit():
        raise InputError("cursor", cursor, "is not of a search", "Give the cursor of the page before.")
    offset = int(cursor or 0)
    limits = {}
    for one in ranges:
        name, _, limit = one.partition(":")
        limits[name] = parse_range(limit, f"range {name}")
    tags = {name: value for name, value in tags.items() if value}
    found = await search(api.store, text, tags=tags, ranges=limits, offset=offset, count=count)
    rows = await asyncio.gather(*(api.store.run(listing.job(job_id)) for job_id in found.ids))
    more = offset + len(found.ids) < found.total and bool(found.ids)
    return {
        "jobs": [job_row(job) for job in rows if job],
        "cursor": str(offset + count) if more else "",
        "total": found.total,
        "incomplete": found.incomplete,
    }


@router.get("/{job_id}")
async def show(job_id: Id, api: Context) -> dict[str, Any]:
    """Give a job with its spec and all its attempts."""
    record = await _record(job_id, api)
    attempts = await api.store.run(listing.attempts(job_id))
    return {
        "job": record.model_dump(mode="json"),
        "attempts": [attempt.model_dump(mode="json") for attempt in attempts],
        "workspace": str(api.settings.workspace),
    }


@router.get("/{job_id}/log")
async def log(
    job_id: Id,
    api: Context,
    lines: Annotated[int, Query(ge=1, le=10_000)] = 50,
    attempt: Annotated[int, Query(ge=0)] = 0,
) -> dict[str, Any]:
    """Give the end of what the job's program wrote: of one attempt, the accepted one, or the newest."""
    record = await _record(job_id, api)
    number = attempt or record.accepted_attempt or record.attempt
    attempts: dict[int, AttemptRecord] = {one.attempt: one for one in await api.store.run(listing.attempts(job_id))}
    if number not in attempts:
        raise NotFound(f"job {job_id} has no attempt {number}" if attempt else f"job {job_id} has not started yet")
    folder = attempt_folder(api.settings.workspace, job_id, number, attempts[number].claim_id)
    path = folder / OUTPUT_FILE
    text = await asyncio.to_thread(_tail, path, lines)
    if text is None:
        raise NotFound(f"attempt {number} of job {job_id} has written nothing to the workspace yet")
    return {"job": job_id, "attempt": number, "path": str(path), "text": text}


def _tail(path: Path, lines: int) -> str | None:
    """Read the last lines of a file; None if it is not there."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - lines * _LONGEST_LINE))
            text = file.read().decode(errors="replace")
    except OSError:
        return None
    return "\n".join(text.splitlines()[-lines:])


@router.get("/{job_id}/why")
async def why(job_id: Id, api: Context) -> dict[str, Any]:
    """Say in one sentence why a job has not started."""
    await _record(job_id, api)
    said = await api.store.run(listing.ahead(job_id))
    return {"job": job_id, "sentence": explain(job_id, said), **said}


@router.post("/{job_id}/cancel")
async def cancel(job_id: Id, api: Context) -> dict[str, Any]:
    """Cancel a job: at once if it waits; one that runs is told by its next heartbeat."""
    ended = await api.store.run(jobs.cancel(job_id, api.settings))
    return {"job": job_id, "answer": ended.answer, "state": (await _record(job_id, api)).state}


@router.post("/{verb}")
async def change_many(verb: Verb, body: NewChange, api: Context) -> dict[str, Any]:
    """Hold, release, retry, rerun or cancel the jobs that are named or fit the filters."""
    return (await change(api.store, api.settings, verb, body)).model_dump(mode="json")


async def _record(job_id: str, api: Api) -> JobRecord:
    record = await api.store.run(listing.job(job_id))
    if not record:
        raise NotFound(f"there is no job {job_id}")
    return record
