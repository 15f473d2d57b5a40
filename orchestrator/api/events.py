"""Events of runs: a page of them, or all that follow a number as they happen (Server-Sent Events).

A stream ends after ``done``. Whoever was cut off asks again with the newest number that he saw, in ``Last-Event-ID``,
and gets what follows it, each event once.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse

from orchestrator.api.context import Api, Context
from orchestrator.api.shapes import Count, Id
from tasks import events
from tasks.errors import Unreachable
from tasks.events import EventPage, EventRecord

log = structlog.get_logger()

router = APIRouter(prefix="/runs")
STREAM = "text/event-stream"
#: how long a silent stream goes without a sign that it is alive
HEARTBEAT_SECONDS = 15.0
#: pauses between looks: short while something happens, longer while nothing does
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.05, 1.0

Number = Annotated[int, Query(ge=0, le=2**53)]


@router.get("/{run_id}/events", response_model=None)
async def index(
    run_id: Id,
    request: Request,
    api: Context,
    after: Number = 0,
    limit: Count = 200,
    last_event_id: Annotated[int | None, Header(ge=0, le=2**53)] = None,
) -> dict[str, Any] | Response:
    """Give the events of a run that follow a number; as a stream to whoever accepts ``text/event-stream``."""
    after = after if last_event_id is None else last_event_id
    page = await api.store.run(events.page(run_id, after=after, count=limit))
    if STREAM not in request.headers.get("accept", ""):
        return _page(run_id, after, page)
    if page.state.ended and after >= page.last:
        return Response(status_code=204)  # which tells a browser's EventSource not to ask again
    return StreamingResponse(_stream(run_id, after, api), media_type=STREAM, headers={"Cache-Control": "no-store"})


def _page(run_id: str, after: int, page: EventPage) -> dict[str, Any]:
    newest = page.events[-1].number if page.events else after
    return {
        "run": run_id,
        "events": [_event(run_id, event) for event in page.events],
        "after": newest,
        "first": page.first,
        "lost": page.lost(after),
        "ended": page.state.ended and newest >= page.last,
    }


def _event(run_id: str, event: EventRecord) -> dict[str, Any]:
    time = event.at.isoformat(timespec="milliseconds")
    return {"run": run_id, "sequence": event.number, "time": time, "kind": event.kind, "data": event.data}


async def _stream(run_id: str, after: int, api: Api) -> AsyncIterator[str]:
    pause, silent = _FIRST_PAUSE_SECONDS, 0.0
    while not api.stopping.is_set():
        try:
            page = await api.store.run(events.page(run_id, after=after))
        except Unreachable as error:  # the reader comes again, and goes on where he was
            log.warning("event_stream_cut", run=run_id, error=str(error))
            return
        if lost := page.lost(after):
            data = {"first": page.first, "lost": lost}
            yield message("lost", {"run": run_id, "kind": "lost", "data": data})
        for event in page.events:
            yield message(event.kind, _event(run_id, event), event.number)
            after = event.number
        if page.state.ended and after >= page.last:
            return
        if page.events:
            pause, silent = _FIRST_PAUSE_SECONDS, 0.0
            continue
        await asyncio.sleep(pause)
        silent += pause
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        if silent >= HEARTBEAT_SECONDS:
            silent = 0.0
            yield ": nothing new\n\n"


def message(kind: str, data: dict[str, Any], number: int | None = None) -> str:
    """Give one Server-Sent Event."""
    # In ASCII: readers of lines end them at more characters than the format does.
    head = "" if number is None else f"id: {number}\n"
    return f"{head}event: {kind}\ndata: {json.dumps(data)}\n\n"
