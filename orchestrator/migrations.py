"""Carrying old checkpoints forward: one small function a version of the state's schema, from it to the next.

The saver applies them whenever it reads a checkpoint, before anything checks the values against the models of today. A
new field with a default needs none. A renamed or reshaped field gets one, and raises ``SCHEMA_VERSION``; then
``tasks.protocol.PROTOCOL`` goes up too, so that no older orchestrator reads what this one writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.state import SCHEMA_VERSION
from tasks.errors import SimrelayError
from tasks.units import memory_mb

Values = Mapping[str, Any]


class NewerState(SimrelayError):
    """The run's checkpoint was written by a newer Simrelay than this one."""


def _memory_in_mb(values: Values) -> dict[str, Any]:
    """From 1 to 2: a goal's ``memory``, as people write it (``4 GB``), became ``memory_mb``."""
    plan = values.get("plan")
    if not plan:
        return {}
    steps = []
    for step in plan.get("steps", ()):
        goal = {name: value for name, value in step.get("goal", {}).items() if name != "memory"}
        if written := step.get("goal", {}).get("memory"):
            goal["memory_mb"] = memory_mb(written)
        steps.append({**step, "goal": goal})
    return {"plan": {**plan, "steps": steps}}


def _with_people(values: Values) -> dict[str, Any]:
    """From 2 to 3: gates, questions and options came; a run that knows none has none."""
    return {}


#: from a version: gives the values that change on the way to the next one, as JSON has them
MIGRATIONS: dict[int, Callable[[Values], dict[str, Any]]] = {1: _memory_in_mb, 2: _with_people}


def migrate(values: Values, target: int = SCHEMA_VERSION) -> dict[str, Any]:
    """Give the values that have to change so that a stored state fits this version; empty: none.

    Values without a ``schema_version`` are no state yet.

    Raises
    ------
    NewerState
        If it was written by a newer version: an orchestrator of that version has to take it.
    """
    if "schema_version" not in values:
        return {}
    version = int(values["schema_version"])
    if version > target:
        raise NewerState(f"the run's state has schema version {version}, and this orchestrator knows up to {target}")
    changes: dict[str, Any] = {}
    while version < target:
        changes.update(MIGRATIONS[version]({**values, **changes}))
        version += 1
        changes["schema_version"] = version
    return changes
