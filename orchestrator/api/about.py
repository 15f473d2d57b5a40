"""Routes about the installation as a whole: health, counts, schemas."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import TypeAdapter
from redis.exceptions import RedisError

from orchestrator.agents import AGENTS
from orchestrator.api.context import Context
from orchestrator.state import state_schema
from tasks import __version__, counts
from tasks.specs import JobSpec

open_routes = APIRouter()
router = APIRouter()


@open_routes.get("/health")
async def health(api: Context, response: Response) -> dict[str, str]:
    """Say whether the service works; needs no token and tells nothing else."""
    try:
        await api.store.client.ping()
    except (RedisError, OSError):
        response.status_code = 503
        return {"status": "Redis does not answer", "version": __version__}
    return {"status": "ok", "version": __version__}


@router.get("/status")
async def status(api: Context) -> dict[str, Any]:
    """Count jobs and runs by state."""
    counted = await counts.count(api.store)
    return counted.model_dump(mode="json") | {"version": __version__, "workspace": str(api.settings.workspace)}


@router.get("/agents")
async def agents() -> dict[str, Any]:
    """List the agents: what each is for, what it can do, and with what."""
    names = ("name", "description", "abilities", "tools")
    return {"agents": [{name: getattr(agent, name) for name in names} for agent in AGENTS.values()]}


@router.get("/schema")
async def schema(request: Request) -> dict[str, Any]:
    """Give the JSON schemas of a run's state and of a job's spec."""
    return {"run_state": state_schema(), "job_spec": TypeAdapter[Any](JobSpec).json_schema()}
