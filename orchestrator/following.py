"""Following the events of a run over the API: read as they come, and taken up again where a connection was lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager

import httpx

from orchestrator.views import EventView
from tasks.errors import Unreachable

#: a service that lives sends a sign of it every 15 s
STREAM_TIMEOUT = httpx.Timeout(45.0, connect=5.0)
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 2.0

#: opens the stream of what follows a number; raises what the service says is wrong
Open = Callable[[int], AbstractContextManager[httpx.Response]]


def follow_events(open_after: Open, after: int, patience_seconds: float) -> Iterator[EventView]:
    """Give what follows a number, each event once, until ``done``; also across restarts of the service.

    Raises
    ------
    Unreachable
        If nobody answered within the patience.
    SimrelayError
        What the service said was wrong.
    """
    answered = time.monotonic()
    pause = _FIRST_PAUSE_SECONDS
    while True:
        try:
            with open_after(after) as answer:
                answered, pause = time.monotonic(), _FIRST_PAUSE_SECONDS
                if answer.status_code == httpx.codes.NO_CONTENT:
                    return
                for event in read_stream(answer.iter_lines()):
                    answered = time.monotonic()
                    if event.kind != "lost":
                        if event.sequence <= after:
                            continue
                        after = event.sequence
                    yield event
                    if event.kind == "done":
                        return
        except (httpx.TransportError, Unreachable) as error:
            if time.monotonic() + pause > answered + patience_seconds:
                if isinstance(error, Unreachable):
                    raise
                raise Unreachable(f"the service does not answer: {error}") from error
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


def read_stream(lines: Iterable[str]) -> Iterator[EventView]:
    """Read Server-Sent Events; what was cut off in the middle of one is left out."""
    data: list[str] = []
    for line in lines:
        if line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))
        elif not line and data:
            yield EventView.model_validate_json("\n".join(data))
            data = []
