"""Which agent a request is for, where the rules abstain: one of the candidates, an answer at once, or nobody."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from orchestrator.asking import Candidate
from orchestrator.model.client import Asks
from orchestrator.model.fence import fenced
from orchestrator.model.numbers import strange
from orchestrator.model.prompts import prompt
from orchestrator.model.structured import ask_for, schema_of
from orchestrator.state import Usage

RESPOND, FINISH, ABSTAIN = "RESPOND", "FINISH", "ABSTAIN"


class RouteDecision(BaseModel):
    """What the language model decides about a request."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: an agent among the candidates, ``RESPOND``, ``FINISH`` or ``ABSTAIN``
    next_agent: str
    #: why, in a sentence
    reasoning: str = Field(default="", max_length=1000)
    #: what the user is told with ``RESPOND`` and ``FINISH``
    response: str = Field(default="", max_length=3000)


async def choose(
    model: Asks, request: str, candidates: Sequence[Candidate], usage: Usage
) -> tuple[RouteDecision, Usage]:
    """Have the model choose among candidates, or answer at once, or abstain.

    Raises
    ------
    ModelError
        If it gives nothing that can be used.
    """
    allowed = (*(candidate.value for candidate in candidates), RESPOND, FINISH, ABSTAIN)
    # The allowed values are part of the shape: nothing else gets past it.
    values: Any = Literal[allowed]
    shape = create_model("RouteDecision", __base__=RouteDecision, next_agent=(values, ...))
    choices = "\n".join(f"- `{candidate.value}`: {candidate.text}" for candidate in candidates)
    text = prompt("route", choices=choices, schema=json.dumps(schema_of(shape)))

    def check(decision: RouteDecision) -> str:
        if decision.next_agent not in (RESPOND, FINISH):
            return ""
        if not decision.response.strip():
            return f"response: is empty with {decision.next_agent}"
        if unknown := strange(decision.response, (request, text)):
            return f"response: holds {', '.join(unknown)}, which nobody has said or computed"
        return ""

    decision, usage = await ask_for(model, shape, text, fenced("request", request), usage, check)
    return decision, usage
