"""``simrelay worker list``; the worker's own commands are the worker's."""

from __future__ import annotations

import typer

from orchestrator.cli.connect import client
from orchestrator.cli.output import Json, ago, note, print_json, print_table

app = typer.Typer(help="Workers.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Workers."""


@app.command("list")
def list_workers(as_json: Json = False) -> None:
    """List live workers: what they offer, and what of it is taken."""
    with client() as service:
        workers = service.workers()
    if as_json:
        print_json(workers)
        return
    if not workers:
        note("no worker is alive; `simrelay worker` starts one on this host")
        return
    columns = ("worker", "host", "state", "jobs", "cores", "memory / MB", "offers", "workspace", "heard")
    print_table(
        columns,
        (
            (
                worker.id,
                worker.host,
                worker.state,
                worker.held.jobs,
                f"{worker.held.cores}/{worker.cores}",
                f"{worker.held.memory_mb}/{worker.memory_mb}",
                ", ".join(worker.queues),
                "seen" if worker.workspace_seen else "not seen",
                ago(worker.beat),
            )
            for worker in workers
        ),
        right=("jobs", "cores", "memory / MB"),
    )
