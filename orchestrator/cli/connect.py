"""Reaching the service from a command; starting the embedded stack where nothing is configured."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from orchestrator.cli.output import note

if TYPE_CHECKING:
    from orchestrator.client import Client


def client(*, patience_seconds: float = 10.0) -> Client:
    """Give a client of the service that this installation's settings name, or of the local one."""
    from orchestrator.client import Client
    from tasks.settings import load_settings

    return Client.of(load_settings(), patience_seconds=patience_seconds)


def local_service_is_missing() -> bool:
    """Tell whether a command would have to start the embedded stack first."""
    from orchestrator.endpoint import live_endpoint
    from orchestrator.stack.state import running
    from tasks.settings import load_settings

    settings = load_settings()
    if settings.api_url or live_endpoint(settings.home):
        return False
    # A stack that is starting, or whose orchestrator is restarting, is not missing.
    return running(settings.home) is None


def start_if_missing(*, patience_seconds: float = 60.0) -> Client:
    """Give a client; with nothing configured and nothing running, the embedded stack is started first.

    Raises
    ------
    Unreachable
        If a Redis of the user's own is configured, but no service runs.
    """
    from orchestrator.client import NoService
    from orchestrator.stack import embedded
    from tasks.settings import load_settings

    settings = load_settings()
    if local_service_is_missing():
        if settings.redis_url.get_secret_value():
            raise NoService(
                "SIMRELAY_REDIS_URL is set, but no service runs here: start one with `simrelay up`, or name one with"
                " SIMRELAY_API_URL"
            )
        note(f"nothing is configured and nothing runs: starting a local stack in {settings.home}")
        embedded.up(settings, note)
        note("the stack stays up afterwards; `simrelay down` stops it")
    return client(patience_seconds=patience_seconds)


def owner() -> str:
    """Give the name under which this user submits: the account's, as far as it may be part of a key."""
    import getpass

    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = f"uid{os.getuid()}"
    return re.sub(r"[^A-Za-z0-9_.@+-]", "_", name).lstrip(".@+-")[:64] or "user"


def new_id() -> str:
    """Choose an id for a run or batch: short enough to type, and no two alike.

    It begins at random, since the workspace sorts jobs into folders by how their ids begin.
    """
    import secrets

    return secrets.token_hex(5)
