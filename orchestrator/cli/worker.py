"""``simrelay worker list|drain|resume``; the worker's own commands are the worker's."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.connect import client
from orchestrator.cli.output import Json, ago, answer, note, print_json, print_table

app = typer.Typer(help="Workers.", no_args_is_help=True)
WorkerId = Annotated[str, typer.Argument(metavar="WORKER", help="Id of the worker, or its name if no other has it.")]


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
    columns = ("worker", "host", "state", "jobs", "cores", "memory / MB", "offers", "workspace", "heard", "remark")
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
                worker.reason,
            )
            for worker in workers
        ),
        right=("jobs", "cores", "memory / MB"),
    )


@app.command()
def drain(
    worker: WorkerId,
    finish_current: Annotated[
        bool, typer.Option("--finish-current", help="Finish what runs; else it goes back with a checkpoint.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Have a worker take no more work; its process ends when nothing is left."""
    with client() as service:
        done = service.drain_worker(worker, finish_current=finish_current)
    if as_json:
        print_json(done)
        return
    answer(f"{done.worker} finishes what it runs" if finish_current else f"{done.worker} gives back what it runs")


@app.command()
def resume(worker: WorkerId, as_json: Json = False) -> None:
    """Let a worker that drains or is quarantined take work again."""
    with client() as service:
        done = service.resume_worker(worker)
    if as_json:
        print_json(done)
        return
    answer(f"{done.worker} took work already" if done.answer == "already" else f"{done.worker} takes work again")
