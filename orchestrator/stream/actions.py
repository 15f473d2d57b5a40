"""What a language model may do on behalf of an agent: one table, for its prompt and for what comes out of it.

An action is allowed if the table names it for the agent and its arguments fit the schema; everything else is dropped,
and told as an ``error`` event. An allowed action is still only a wish: specs go through the same checks, gates and
manifests as those that rules make. An agent that the table does not name may do nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestrator.state import Event
from orchestrator.stream.parser import Action, Parser, Piece, TextDelta
from tasks.errors import InputError
from tasks.specs import DynamicsSpec, QuantumSpec, SwarmSpec, WavefunctionSpec, input_error

#: the supervisor's own name among the agents of the table
SUPERVISOR = "supervisor"


class Arguments(BaseModel):
    """Base of the arguments of actions that are no specs."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Ask(Arguments):
    """Ask the user what only he can say."""

    text: str = Field(min_length=1, max_length=2000)
    candidates: tuple[str, ...] = Field(default=(), max_length=10)


class Delegate(Arguments):
    """Give the request to one agent."""

    agent: str = Field(min_length=1, max_length=64)
    reason: str = Field(default="", max_length=2000)


@dataclass(frozen=True)
class Allowed:
    """One action: its name, what it does, and the schema of its arguments."""

    name: str
    does: str
    arguments: type[BaseModel]


_ASK = Allowed("ask", "asks the user one precise question", Ask)
ACTIONS: dict[str, tuple[Allowed, ...]] = {
    SUPERVISOR: (_ASK, Allowed("delegate", "gives the request to one agent", Delegate)),
    "chemistry_agent": (_ASK,),
    "hem_agent": (_ASK, Allowed("swarm_job", "proposes one particle swarm over cations", SwarmSpec)),
    "qm_agent": (_ASK, Allowed("quantum_job", "proposes one quantum-chemical job", QuantumSpec)),
    "md_agent": (_ASK, Allowed("dynamics_job", "proposes one molecular dynamics job", DynamicsSpec)),
    "multiwfn_agent": (_ASK, Allowed("wavefunction_job", "proposes one analysis of orbitals", WavefunctionSpec)),
}


def actions_prompt(agent: str) -> str:
    """Give the part of an agent's prompt that says how it writes, and what it may do: the table, and nothing else."""
    lines = [
        'Write one JSON array whose items are {"text": "…"} for what the user reads, and',
        '{"action": {"name": "…", "arguments": {…}}} for what is to be done. Allowed actions:',
    ]
    for allowed in ACTIONS.get(agent, ()):
        schema = json.dumps(allowed.arguments.model_json_schema(), ensure_ascii=False, separators=(",", ":"))
        lines.append(f"- {allowed.name}: {allowed.does}. Arguments: {schema}")
    if agent not in ACTIONS:
        lines.append("- none")
    lines.append("Any other action is dropped and reported.")
    return "\n".join(lines)


def check_action(agent: str, content: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Give name and arguments of an action that an agent may do.

    Raises
    ------
    InputError
        If the agent may not, or the arguments do not fit.
    """
    name = content.get("name")
    known = {allowed.name: allowed for allowed in ACTIONS.get(agent, ())}
    if not isinstance(name, str) or name not in known:
        may = ", ".join(known) or "nothing"
        raise InputError("action", _shown(name), f"is none that {agent} may do", f"It may: {may}.")
    if unknown := content.keys() - {"name", "arguments"}:
        raise InputError(f"action {name}", ", ".join(sorted(unknown)), "is no part of it", "Give name and arguments.")
    try:
        # As JSON, so that what only looks right (a text for a number) is judged as the prompt's schema says.
        arguments = known[name].arguments.model_validate_json(json.dumps(content.get("arguments", {})))
    except ValidationError as error:
        raise input_error(error, f"action {name}") from None
    return name, arguments.model_dump(mode="json", exclude_unset=True)


def _shown(name: object) -> str:
    text = str(name)
    return text if len(text) <= 80 else f"{text[:79]}…"


class Emission:
    """Turns what a model writes for an agent into events, while it is written.

    Parameters
    ----------
    agent
        Whose prompt it answers.
    key
        What the keys of its events begin with; another one for each call of a model, since no two write the same.
    step
        The step that it belongs to; 0: none.
    """

    def __init__(self, agent: str, key: str, step: int = 0) -> None:
        self.agent, self.key, self.step = agent, key, step
        self._parser = Parser()
        self._count = 0

    def feed(self, piece: str) -> tuple[Event, ...]:
        """Give the events that a further piece completes."""
        return tuple(self._event(one) for one in self._parser.feed(piece))

    def close(self) -> tuple[Event, ...]:
        """Say that the model has ended; give what is to be told of what it left open."""
        return tuple(self._event(one) for one in self._parser.close())

    def _event(self, piece: Piece) -> Event:
        self._count += 1
        key = f"{self.key}:{self._count}"
        data: dict[str, Any] = {"agent": self.agent, "step": self.step, "item": piece.item}
        if isinstance(piece, TextDelta):
            return Event(key=key, kind="text_delta", data={**data, "text": piece.text})
        if isinstance(piece, Action):
            try:
                name, arguments = check_action(self.agent, piece.content)
            except InputError as error:
                return Event(key=key, kind="error", data={**data, "problem": "not_allowed", "text": str(error)})
            return Event(key=key, kind="action", data={**data, "name": name, "arguments": arguments})
        return Event(key=key, kind="error", data={**data, "problem": piece.kind, "text": piece.text})
