"""Texts told while they are written: between checkpoints, under the run's epoch, and never twice.

A ``text_delta`` says of the text ``id``: from character ``offset`` on (counted in Unicode code points) it reads
``text``; whatever stood there before is gone. So a reader keeps ``known[:offset] + text``, and needs no other rule: a
text that grows gives the offset at its end; one that was begun by an orchestrator that died is begun again at offset 0
by whoever goes on; one that is refused as a whole is replaced by what stands in its place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from orchestrator.state import Event, Step
from orchestrator.stream.derive import start_event
from tasks import events
from tasks.events import NewEvent
from tasks.store import AsyncStore

#: pieces of a text that come within this time are told together
TOGETHER_SECONDS = 0.2

#: tells one event
TellEvent = Callable[[Event], Awaitable[None]]


class Live:
    """What a run tells while one of its nodes works.

    Parameters
    ----------
    told
        How many events the states of the run have told, as in ``RunState.told``.

    Raises
    ------
    LeaseLost
        From whatever tells: if the run is no longer held under this epoch.
    """

    def __init__(self, store: AsyncStore, run: str, epoch: int, told: int) -> None:
        self._store, self._run, self._epoch, self._told = store, run, epoch, told

    async def begin(self, step: Step) -> None:
        """Tell the start of a step before its texts; the checkpoint that holds it does not tell it again."""
        await self.tell(start_event(step, self._told))

    def text(self, of: str, identity: str, **about: Any) -> LiveText:
        """Begin a text; no two texts of a run have the same identity."""
        return LiveText(self.tell, {"of": of, "id": identity, **about}, f"text:{identity}:{self._epoch}")

    async def tell(self, event: Event) -> None:
        """Tell one event."""
        new = NewEvent(key=event.key, kind=event.kind, data=event.data)
        await self._store.run(events.tell(self._run, self._epoch, [new]))


class LiveText:
    """One text, while it is written.

    Parameters
    ----------
    about
        What each of its events says besides offset and text.
    key
        What the keys of its events begin with: another one for each time that it is begun.
    """

    def __init__(self, tell: TellEvent, about: dict[str, Any], key: str) -> None:
        self._tell, self._about, self._key = tell, about, key
        self._told = ""
        self._count = 0
        self._last = -TOGETHER_SECONDS

    async def grow(self, text: str) -> None:
        """Tell all of the text that there is now, unless something was told a moment ago."""
        if text != self._told and self._clock() - self._last >= TOGETHER_SECONDS:
            await self._put(text)

    async def end(self, text: str) -> None:
        """Tell how the text reads in the end, also if nothing was told of it before."""
        if text != self._told or not self._count:
            await self._put(text)

    async def _put(self, text: str) -> None:
        self._last = self._clock()
        offset = len(self._told) if text.startswith(self._told) else 0
        self._count += 1
        data = {**self._about, "offset": offset, "text": text[offset:]}
        await self._tell(Event(key=f"{self._key}:{self._count}", kind="text_delta", data=data))
        self._told = text

    @staticmethod
    def _clock() -> float:
        return asyncio.get_running_loop().time()
