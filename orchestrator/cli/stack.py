"""``simrelay up``, ``down`` and ``status``: the local stack."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.connect import client
from orchestrator.cli.output import Json, ago, amount, answer, note, print_json, print_pairs, print_table

if TYPE_CHECKING:
    from orchestrator.stack.embedded import Status
    from orchestrator.views import StatusView


def up(
    worker: Annotated[bool, typer.Option(help="Whether this host computes as well.")] = True, as_json: Json = False
) -> None:
    """Start Redis, the orchestrator, a worker and Flower in the background; SIMRELAY_REDIS_URL: without a Redis."""
    from orchestrator.stack import embedded
    from tasks.settings import load_settings

    settings = load_settings()
    embedded.up(settings, note, with_worker=worker)
    standing = embedded.status(settings)
    if as_json:
        print_json(standing)
        return
    _print_places(standing)


def down(as_json: Json = False) -> None:
    """Stop the local stack; its data stay, and jobs that run go on from their checkpoints at the next start."""
    from orchestrator.stack import embedded
    from tasks.settings import load_settings

    settings = load_settings()
    note(f"stopping the stack in {settings.home}")
    stopped = embedded.down(settings)
    if as_json:
        print_json({"stopped": stopped, "home": str(settings.home)})
        return
    answer("stopped" if stopped else "nothing was running")


def status(as_json: Json = False) -> None:
    """Say how the local stack stands: processes, addresses, counts, disk."""
    from orchestrator.stack import embedded
    from tasks.settings import load_settings

    standing = embedded.status(load_settings())
    counts, problem = _counts(standing)
    if as_json:
        shown: dict[str, Any] = standing.model_dump(mode="json")
        print_json(shown | {"counts": counts.model_dump(mode="json") if counts else None, "problem": problem})
    else:
        _print_status(standing, counts, problem)
    if not standing.running and not counts:
        raise typer.Exit(1)


def _counts(standing: Status) -> tuple[StatusView | None, str]:
    """Ask the service, if there should be one; gives what it said, or why it said nothing."""
    from tasks.errors import SimrelayError
    from tasks.settings import load_settings

    if not standing.running and not load_settings().api_url and not standing.api_url:
        return None, ""
    try:
        with client(patience_seconds=2) as service:
            return service.status(), ""
    except SimrelayError as error:
        return None, str(error)


def _print_status(standing: Status, counts: StatusView | None, problem: str) -> None:
    if standing.services:
        rows = (
            (
                one.name,
                "runs" if one.runs else "down",
                one.pid or "",
                ago(datetime.fromisoformat(one.since)),
                one.restarts,
                one.log,
            )
            for one in standing.services
        )
        print_table(("process", "state", "pid", "started", "restarts", "log"), rows, right=("pid", "restarts"))
    elif not standing.running:
        held = f"; its lock names {standing.supervisor}" if standing.supervisor else ""
        note(f"no stack runs here from {standing.disk.home}{held}; `simrelay up` starts one")
    if problem:
        note(f"the service says nothing: {problem}")
    _print_places(standing)
    if counts:
        print_pairs(
            (("jobs", _listed(counts.jobs)), ("runs", _listed(counts.runs)), ("queues", _listed(counts.queues)))
        )
    disk = standing.disk
    about = "" if disk.complete else "more than "
    print_pairs(
        (
            ("workspace", f"{disk.workspace} ({about}{amount(disk.workspace_bytes)})"),
            ("redis data", f"{amount(disk.redis_bytes)}" if disk.redis_bytes else ""),
            ("disk free", amount(disk.free_bytes)),
        )
    )


def _print_places(standing: Status) -> None:
    flower = standing.flower_url
    how = f" (user {standing.flower_user}, password in {standing.flower_password_file})"
    print_pairs(
        (
            ("home", standing.disk.home),
            ("service", standing.api_url),
            ("flower", flower + how if flower else ""),
            ("redis", f"127.0.0.1:{standing.redis_port}" if standing.redis_port else ""),
        )
    )


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "none"
