"""Nodes that tell: every node of the graph is wrapped once, and what its update changes becomes events."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from langchain_core.runnables import RunnableConfig

from orchestrator.state import RunState, checked
from orchestrator.stream.derive import events_of

Update = dict[str, Any]
Node = Callable[..., Awaitable[Update]]


class Telling(Protocol):
    """A node as the graph takes it."""

    def __call__(self, state: RunState, config: RunnableConfig) -> Awaitable[Update]:
        """Give the update."""


def telling(node: Node) -> Telling:
    """Give the node with its events in its update: what it tells itself first, then what follows from the change."""
    takes_config = "config" in inspect.signature(node).parameters

    async def told(state: RunState, config: RunnableConfig) -> Update:
        update = await (node(state, config) if takes_config else node(state))
        own = tuple(update.get("events", ()))
        events = (*own, *events_of(state, state.model_copy(update=update)))
        return {**update, **checked(events=events, told=state.told + len(events) - len(own))}

    return told
