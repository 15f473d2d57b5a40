"""The route of stateless turns: everything comes with the request, and nothing is kept."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field

from orchestrator.api.context import Context
from orchestrator.api.runs import check_options
from orchestrator.api.shapes import Body
from orchestrator.asking import Options
from orchestrator.planning.asked import Asked
from orchestrator.stateless import Turn

router = APIRouter()


class Configuration(Body):
    """Which agents a turn may use; named: the one that it is for, which leaves nothing to decide."""

    allowed: tuple[Annotated[str, Field(max_length=64)], ...] = Field(default=(), max_length=50)
    named: str = Field(default="", max_length=64)


class NewTurn(Body):
    """A request with its history and the configuration of its agents."""

    request: str = Field(max_length=10_000)
    history: list[Turn] = Field(default_factory=list, max_length=200)
    agents: Configuration = Configuration()


@router.post("/stateless")
async def turn(body: NewTurn, api: Context) -> dict[str, Any]:
    """Take one turn: at most one decision and one agent's turn. Nothing is written to Redis or to the workspace."""
    options = Options(agent=body.agents.named, agents=body.agents.allowed)
    check_options(options)
    asked = Asked(
        text=body.request,
        max_atoms=api.settings.max_atoms,
        options=options,
        agent=body.agents.named,
        pubchem_url=api.settings.pubchem_url,
    )
    taken = await api.intake.turn(asked, body.history)
    return taken.model_dump(mode="json")
