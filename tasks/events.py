"""Events of runs: what a run tells those who watch it, numbered in the order in which it happened.

They stand in a stream of the run, told by three kinds of script, so that no number is missing and none is there twice:
with the checkpoint that they belong to, between checkpoints by whoever holds the run, and by the scripts that change
its jobs. The newest ten thousand are kept; a reader who asks for an older one is told which is the first.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from tasks.errors import LeaseLost, NotFound
from tasks.records import Record, RunState, read_json, read_moment
from tasks.scripts import Call, Reply, call
from tasks.specs import canonical_json

#: the most events of one page
MOST_EVENTS = 1000


@dataclass(frozen=True, kw_only=True)
class NewEvent:
    """Something to be told; the same key told twice is told once."""

    key: str
    kind: str
    data: dict[str, Any]

    def row(self) -> tuple[str, str, str]:
        """Give it as scripts take it."""
        return self.key, self.kind, canonical_json(self.data)


class EventRecord(Record):
    """Something that was told: its number in the run, and the moment by the Redis server's clock."""

    number: int
    kind: str
    at: Annotated[datetime, BeforeValidator(read_moment)]
    data: Annotated[dict[str, Any], BeforeValidator(read_json)] = Field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class EventPage:
    """Events in the order of their numbers; first: the oldest that is kept; last: the newest of all."""

    events: tuple[EventRecord, ...]
    first: int
    last: int
    state: RunState

    def lost(self, after: int) -> int:
        """Give how many of those that follow a number are kept no longer."""
        return max(0, self.first - after - 1)


def tell(run: str, epoch: int, events: Sequence[NewEvent]) -> Call[None]:
    """Tell something between checkpoints; what belongs to a checkpoint is told with it (``RunState.events``).

    Raises
    ------
    LeaseLost
        If the run is no longer held under this epoch; nothing was told.
    """

    def read(reply: Reply) -> None:
        if reply.answer == "fenced":
            raise LeaseLost(f"run {run} is held under a newer epoch, or has ended")

    return call("event_put", run, epoch, json.dumps([event.row() for event in events]), read=read)


def page(run: str, *, after: int = 0, count: int = 200) -> Call[EventPage]:
    """Read the events that follow a number.

    Raises
    ------
    NotFound
        If there is no such run.
    """

    def read(reply: Reply) -> EventPage:
        if reply.answer == "unknown":
            raise NotFound(f"there is no run {run}")
        rows = reply.details["events"] or ()
        return EventPage(
            events=tuple(EventRecord.model_validate(row) for row in rows),
            first=reply.details["first"],
            last=reply.details["last"],
            state=RunState(reply.details["state"]),
        )

    return call("event_page", run, after, min(count, MOST_EVENTS), read=read)
