"""``simrelay orchestrator`` and ``simrelay schema``."""

from __future__ import annotations

from orchestrator.cli.output import Json, print_json


def orchestrator() -> None:
    """Run the service in the foreground, on a Redis of your own (SIMRELAY_REDIS_URL)."""
    from orchestrator.service import run_service
    from tasks.settings import load_settings

    run_service(load_settings())


def schema(as_json: Json = True) -> None:
    """Print the JSON schemas of a run's state and of a job's spec."""
    from pydantic import TypeAdapter

    from orchestrator.state import state_schema
    from tasks.specs import JobSpec

    # The schemas are those of this version, with or without a service.
    print_json({"run_state": state_schema(), "job_spec": TypeAdapter(JobSpec).json_schema()})
