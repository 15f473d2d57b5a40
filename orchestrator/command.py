"""The service's commands, as the console script collects them."""

from __future__ import annotations

import typer

from orchestrator.cli import agent, batch, changes, engine, file, graph, library, memory, policy, run, stack, worker
from orchestrator.cli.service import orchestrator, schema

app = typer.Typer(help="Requests, jobs, batches and the local stack.", no_args_is_help=True)
app.add_typer(run.app, name="run")
app.add_typer(changes.app, name="job")
app.add_typer(batch.app, name="batch")
app.add_typer(file.app, name="file")
app.add_typer(library.app, name="library")
app.add_typer(worker.app, name="worker")
app.add_typer(engine.app, name="engine")
app.add_typer(agent.app, name="agent")
app.add_typer(graph.app, name="graph")
app.add_typer(memory.app, name="memory")
app.add_typer(policy.app, name="policy")
app.command()(stack.up)
app.command()(stack.down)
app.command()(stack.status)
app.command()(schema)
app.command()(orchestrator)
