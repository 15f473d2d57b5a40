"""The route of stateless turns: everything comes with the request, and nothing is kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from orchestrator.api.context import Api, Context
from orchestrator.api.events import STREAM, message
from orchestrator.api.runs import check_options
from orchestrator.api.shapes import Body
from orchestrator.asking import Options
from orchestrator.planning.asked import Asked
from orchestrator.problems import of_error
from orchestrator.state import Event
from orchestrator.stateless import Taken, Turn
from tasks.errors import InputError, SimrelayError

log = structlog.get_logger()

router = APIRouter()


class Configuration(Body):
    """Which agents a turn may use; named: the one that it is for, which leaves nothing to decide."""

    allowed: tuple[Annotated[str, Field(max_length=64)], ...] = Field(default=(), max_length=50)
    named: str = Field(default="", max_length=64)
    #: whether the language model may be asked, where one is configured
    model: bool = True


class NewTurn(Body):
    """A request with its history and the configuration of its agents."""

    request: str = Field(max_length=10_000)
    history: list[Turn] = Field(default_factory=list, max_length=200)
    agents: Configuration = Configuration()


@router.post("/stateless", response_model=None)
async def turn(body: NewTurn, request: Request, api: Context) -> dict[str, Any] | Response:
    """Take one turn: at most one decision and one agent's turn. Nothing is written to Redis or to the workspace.

    Whoever accepts ``text/event-stream`` gets what happens as events like a run's, with the result in ``done``.
    """
    options = Options(agent=body.agents.named, agents=body.agents.allowed, model=body.agents.model)
    check_options(options)
    asked = Asked(
        text=body.request,
        max_atoms=api.settings.max_atoms,
        options=options,
        agent=body.agents.named,
        pubchem_url=api.settings.pubchem_url,
    )
    if STREAM in request.headers.get("accept", ""):
        events = _events(api, asked, body.history)
        return StreamingResponse(events, media_type=STREAM, headers={"Cache-Control": "no-store"})
    taken = await api.intake.turn(asked, body.history)
    return taken.model_dump(mode="json")


async def _events(api: Api, asked: Asked, history: list[Turn]) -> AsyncIterator[str]:
    """Give the events of a turn, numbered from 1; whoever is cut off asks again, since nothing is kept."""
    told: asyncio.Queue[Event | None] = asyncio.Queue()
    work = asyncio.create_task(api.intake.turn(asked, history, told.put))
    work.add_done_callback(lambda _: told.put_nowait(None))
    number = 0
    try:
        while (event := await told.get()) is not None:
            number += 1
            yield _message(event, number)
        for event in _end(work):
            number += 1
            yield _message(event, number)
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


def _end(work: asyncio.Task[Taken]) -> list[Event]:
    error = work.exception()
    if error is None:
        taken = work.result()
        state = "NEEDS_PERSON" if taken.question else "FAILED" if taken.error else "SUCCEEDED"
        done = {"state": state, "error": taken.error, "result": taken.model_dump(mode="json")}
        return [Event(key="done", kind="done", data=done)]
    if not isinstance(error, SimrelayError):
        log.error("turn_failed", exc_info=error)
    ours = isinstance(error, SimrelayError)
    text = str(error) if ours else f"internal error ({type(error).__name__}); the orchestrator's log says more"
    wrong = of_error(error).model_dump(exclude={"row"}) if isinstance(error, InputError) else {}
    return [
        Event(key="error", kind="error", data={"text": text, **wrong}),
        Event(key="done", kind="done", data={"state": "FAILED", "error": text}),
    ]


def _message(event: Event, number: int) -> str:
    time = datetime.now(UTC).isoformat(timespec="milliseconds")
    data = {"run": "", "sequence": number, "time": time, "kind": event.kind, "data": event.data}
    return message(event.kind, data, number)
