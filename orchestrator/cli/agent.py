"""``simrelay agent list``: what each agent is for, what it can do, and with what."""

from __future__ import annotations

import typer

from orchestrator.cli.connect import client
from orchestrator.cli.output import Json, answer, print_json

app = typer.Typer(help="Agents: who does what; `simrelay run --agent NAME` asks one by name.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Agents."""


@app.command("list")
def list_agents(as_json: Json = False) -> None:
    """List the agents of the service."""
    with client() as service:
        agents = service.agents()
    if as_json:
        print_json({"agents": [agent.model_dump(mode="json") for agent in agents]})
        return
    for agent in agents:
        tools = f" ({', '.join(agent.tools)})" if agent.tools else ""
        answer(f"{agent.name}: {agent.description}{tools}")
        for ability in agent.abilities:
            answer(f"  - {ability}")
