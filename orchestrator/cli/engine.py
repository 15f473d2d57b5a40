"""``simrelay engine list``: which engines live workers offer, and what each computes; ``parse`` is the worker's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from orchestrator.cli.connect import client
from orchestrator.cli.output import Json, note, print_json, print_table

if TYPE_CHECKING:
    from orchestrator.views import WorkerView

app = typer.Typer(
    help="Engines: which workers offer what; reading an output that was computed elsewhere.", no_args_is_help=True
)


@app.callback()
def _group() -> None:
    """Engines."""


@app.command("list")
def list_engines(as_json: Json = False) -> None:
    """List what live workers offer: engine, version, tasks, methods, solvent models, dispersion, workers."""
    with client() as service:
        engines = offered(service.workers())
    if as_json:
        print_json({"engines": engines})
        return
    if not engines:
        note("no worker is alive; `simrelay worker` starts one on this host")
        return
    columns = ("engine", "version", "tasks", "methods", "solvent models", "dispersion", "workers")
    names = ("engine", "version", "tasks", "methods", "solvent_models", "dispersion", "workers")
    shown = ([", ".join(row[name]) if isinstance(row[name], list) else row[name] for name in names] for row in engines)
    print_table(columns, shown)


def offered(workers: Sequence[WorkerView]) -> list[dict[str, Any]]:
    """Give what live workers offer, one row for each version of an engine.

    A worker that declares fewer tasks than its engine has (optimisations need another package) has a row of its own.
    """
    from tasks.methods import ABILITIES

    rows: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for worker in workers:
        for offer in worker.engines:
            rows.setdefault((offer.engine, offer.version, tuple(sorted(offer.tasks))), []).append(worker.id)
    found = []
    for (engine, version, tasks), ids in sorted(rows.items()):
        ability = ABILITIES.get(engine)
        able = [task for task in tasks if not ability or task in ability.tasks]
        found.append(
            {
                "engine": engine,
                "version": version,
                "tasks": able,
                "methods": sorted(ability.methods) if ability else [],
                "solvent_models": sorted(ability.solvent_models) if ability else [],
                "dispersion": sorted(ability.dispersion) if ability else [],
                "workers": sorted(ids),
            }
        )
    return found
