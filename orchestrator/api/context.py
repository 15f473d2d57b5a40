"""What the routes work with."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends, Request

from orchestrator.intake import Intake
from orchestrator.state import RunState
from tasks.errors import SimrelayError
from tasks.settings import Settings
from tasks.store import AsyncStore

_SCHEME = "bearer"


@dataclass(frozen=True, kw_only=True)
class Api:
    """The parts of the service that routes use.

    Attributes
    ----------
    view
        Gives the newest checkpointed state of a run.
    token
        What every caller has to show.
    stopping
        Set when the service stops, which ends what is streamed.
    """

    settings: Settings
    store: AsyncStore
    view: Callable[[str], Awaitable[RunState]]
    intake: Intake
    token: str
    stopping: asyncio.Event = field(default_factory=asyncio.Event)


class Unauthorised(SimrelayError):
    """The token is missing or wrong."""


def _api(request: Request) -> Api:
    return cast(Api, request.app.state.api)


def authorise(request: Request) -> None:
    """Let only callers with the installation's token in."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    expected = _api(request).token
    if scheme.lower() != _SCHEME or not hmac.compare_digest(token.strip().encode(), expected.encode()):
        raise Unauthorised(
            "the bearer token is missing or wrong; it stands in the file api-token of the installation's folder"
            " (or give SIMRELAY_API_TOKEN)"
        )


Context = Annotated[Api, Depends(_api)]
