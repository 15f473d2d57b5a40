"""Carrying old checkpoints forward: one small function a version of the state's schema, from it to the next.

A new field with a default needs none. A renamed or reshaped field gets one, and raises ``SCHEMA_VERSION``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.state import SCHEMA_VERSION
from tasks.errors import SimrelayError

Values = Mapping[str, Any]
#: from a version: gives the values that change on the way to the next one
MIGRATIONS: dict[int, Callable[[Values], dict[str, Any]]] = {}


class NewerState(SimrelayError):
    """The run's checkpoint was written by a newer Simrelay than this one."""


def migrate(values: Values, target: int = SCHEMA_VERSION) -> dict[str, Any]:
    """Give the values that have to change so that a stored state fits this version; empty: none.

    Raises
    ------
    NewerState
        If it was written by a newer version: an orchestrator of that version has to take it.
    """
    version = int(values.get("schema_version", 1))
    if version > target:
        raise NewerState(f"the run's state has schema version {version}, and this orchestrator knows up to {target}")
    changes: dict[str, Any] = {}
    while version < target:
        changes.update(MIGRATIONS[version]({**values, **changes}))
        version += 1
        changes["schema_version"] = version
    return changes
