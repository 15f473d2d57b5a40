"""Whether this host is able to start jobs: what a worker that quarantined itself asks before it takes work again."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tasks.settings import Settings
from tasks.workspace import write_file
from worker.engines.base import Engine

#: enough that a full disk is noticed
_BYTES = 2**20


def self_test(settings: Settings, engines: Iterable[Engine[Any]]) -> str:
    """Say what is wrong with this host; empty: nothing is."""
    for folder in (settings.scratch, settings.workspace):
        if trouble := _trouble(folder):
            return trouble
    return next((trouble for engine in engines if (trouble := engine.trouble())), "")


def _trouble(folder: Path) -> str:
    probe = folder / f".self-test-{secrets.token_hex(4)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_file(probe, bytes(_BYTES))
        probe.unlink()
    except OSError as error:
        return f"{folder} cannot be written: {error.strerror or error}"
    return ""
