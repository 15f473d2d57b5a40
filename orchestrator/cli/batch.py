"""``simrelay batch``: submit, list, show, results, cancel."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.connect import client, new_id, owner, start_if_missing
from orchestrator.cli.output import Json, ago, answer, moment, more, note, print_json, print_pairs, print_table

if TYPE_CHECKING:
    from orchestrator.views import BatchView, ResultRow

app = typer.Typer(help="Batches: jobs submitted together.", no_args_is_help=True)
BatchId = Annotated[str, typer.Argument(metavar="BATCH", help="Id of the batch.")]
_NUMBERS = (
    *("energy_hartree", "homo_ev", "lumo_ev", "gap_ev", "dipole_debye"),
    *("zero_point_energy_hartree", "enthalpy_hartree", "gibbs_energy_hartree"),
)
_UNITS = ("energy / Eh", "HOMO / eV", "LUMO / eV", "gap / eV", "dipole / D", "ZPE / Eh", "H / Eh", "G / Eh")


@app.command()
def submit(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV with a line of column names, or .smi.")],
    method: Annotated[str, typer.Option(help="For rows that do not say; as the other options.")] = "",
    basis: Annotated[str, typer.Option(help="Basis set.")] = "",
    task: Annotated[
        str, typer.Option(help="single_point, optimisation, frequencies or optimisation_frequencies.")
    ] = "",
    solvent: Annotated[str, typer.Option(help="Implicit solvent; empty: gas phase.")] = "",
    engine: Annotated[str, typer.Option(help="Program; empty: whichever workers offer.")] = "",
    cores: Annotated[str, typer.Option(help="Cores of each job.")] = "",
    memory: Annotated[str, typer.Option(help="Memory of each job, such as '2 GB'.")] = "",
    walltime: Annotated[str, typer.Option(help="Longest time of each job, such as '90 min'.")] = "",
    tag: Annotated[str, typer.Option(help="Only workers with this tag.")] = "",
    program: Annotated[str, typer.Option(help="A declared program: the columns are its parameters.")] = "",
    label: Annotated[str, typer.Option(help="What to call the batch; empty: the file's name.")] = "",
    priority: Annotated[int, typer.Option(min=0, max=9, help="9 goes first.")] = 5,
    batch_id: Annotated[str, typer.Option("--id", help="Id of the batch: submitting it twice makes one.")] = "",
    wait_for_worker: Annotated[
        bool, typer.Option("--wait-for-worker", help="Queue it although no worker ever offered its engine.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check it only.")] = False,
    as_json: Json = False,
) -> None:
    """Submit a file of molecules; it is checked as a whole first, and nothing is queued if any row is wrong."""
    from orchestrator.cli.rows import read_rows
    from orchestrator.problems import BadInput

    template = {
        "method": method,
        "basis": basis,
        "task": task,
        "solvent": solvent,
        "engine": engine,
        "cores": cores,
        "memory": memory,
        "walltime": walltime,
        "tag": tag,
    }
    rows = read_rows(file, template, program)
    body = {
        "id": batch_id or new_id(),
        "owner": owner(),
        "label": label or file.stem[:120],
        "priority": priority,
        "jobs": [row.job for row in rows.rows],
        "wait_for_worker": wait_for_worker,
        # With a row that is wrong here already, the service only looks for what else is wrong.
        "dry_run": dry_run or bool(rows.problems),
    }
    if not rows.rows:
        rows.refuse()
    with start_if_missing() as service:
        note(f"checking {len(rows.rows)} jobs")
        try:
            submitted = service.submit_batch(body)
        except BadInput as error:
            rows.refuse(error.problems)
            raise
    rows.refuse()
    if as_json:
        print_json(submitted)
    elif dry_run:
        answer(f"{len(rows.rows)} jobs, all of them valid; nothing was queued")
    else:
        note(f"{submitted.batch['count']} jobs; see `simrelay batch show {submitted.batch['id']}`")
        answer(submitted.batch["id"])


@app.command("list")
def list_batches(
    owner_name: Annotated[str, typer.Option("--owner", help="Only of this user.")] = "",
    run: Annotated[str, typer.Option(help="Only of this run.")] = "",
    cursor: Annotated[str, typer.Option(help="Where the page before ended.")] = "",
    count: Annotated[int, typer.Option(min=1, max=1000, help="Rows of one page.")] = 50,
    as_json: Json = False,
) -> None:
    """List batches, newest first."""
    with client() as service:
        page = service.batches(owner=owner_name, run=run, cursor=cursor, count=count)
    if as_json:
        print_json(page)
        return
    columns = ("batch", "label", "owner", "jobs", "open", "succeeded", "failed", "cancelled", "submitted")
    rows = (
        (b.id, b.label, b.owner, b.count, b.open, b.succeeded, b.failed, b.cancelled, ago(b.created))
        for b in page.batches
    )
    print_table(columns, rows, right=columns[3:8])
    more(page.cursor, "batches")


@app.command()
def show(batch: BatchId, as_json: Json = False) -> None:
    """Show a batch: how many of its jobs are where."""
    with client() as service:
        record = service.batch(batch)
    if as_json:
        print_json(record)
        return
    _print_batch(record)


def _print_batch(batch: BatchView) -> None:
    state = (
        "complete" if batch.complete else "cancelled" if batch.cancel_mark else "open" if batch.sealed else "filling"
    )
    print_pairs(
        (
            ("batch", batch.id),
            ("label", batch.label),
            ("owner", batch.owner),
            ("run", batch.waiter_run),
            ("state", state),
            ("jobs", batch.count),
            ("open", batch.open),
            ("succeeded", batch.succeeded),
            ("failed", batch.failed),
            ("cancelled", batch.cancelled),
            ("submitted", moment(batch.created)),
            ("complete", moment(batch.complete)),
        )
    )


@app.command()
def results(
    batch: BatchId,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the results as CSV.")] = False,
    as_json: Json = False,
) -> None:
    """Print what came out of a batch's jobs, in the order of their submission."""
    with client() as service:
        rows = service.results(batch)
    if as_json:
        print_json(rows)
    elif as_csv:
        _print_csv(rows)
    else:
        _print_results(rows)


def _print_csv(rows: list[ResultRow]) -> None:
    values = sorted({name for row in rows for name in _program_values(row)})
    writer = csv.writer(sys.stdout, lineterminator="\n")
    columns = ("index", "job", "label", "smiles", "engine", "task", "state", *_NUMBERS, *values)
    writer.writerow((*columns, "compute_seconds", "failure"))
    for row in rows:
        numbers = [(row.result or {}).get(name) for name in _NUMBERS]
        program = [_program_values(row).get(name) for name in values]
        failure = row.failure.message if row.failure else ""
        head = (row.index, row.job, row.label, row.smiles, row.engine, row.task, row.state)
        writer.writerow((*head, *numbers, *program, row.compute_seconds, failure))


def _program_values(row: ResultRow) -> dict[str, str]:
    found = (row.result or {}).get("values")
    return found if isinstance(found, dict) else {}


def _print_results(rows: list[ResultRow]) -> None:
    shown = [i for i, name in enumerate(_NUMBERS) if any((row.result or {}).get(name) is not None for row in rows)]
    values = sorted({name for row in rows for name in _program_values(row)})
    units = [_UNITS[i] for i in shown]
    columns = ("job", "label", "state", *units, *values, "remark")
    table = [
        (
            row.job,
            row.label,
            row.state,
            *(_number((row.result or {}).get(_NUMBERS[i]), 6 if _NUMBERS[i].endswith("hartree") else 3) for i in shown),
            *(_program_values(row).get(name, "") for name in values),
            row.failure.message if row.failure and row.state == "FAILED" else "",
        )
        for row in rows
    ]
    print_table(columns, table, right=units)


def _number(value: object, digits: int) -> str:
    return f"{value:.{digits}f}" if isinstance(value, int | float) else ""


@app.command()
def cancel(batch: BatchId, as_json: Json = False) -> None:
    """Cancel all jobs of a batch that have not ended."""
    with client() as service:
        ended = service.cancel_batch(batch)
    if as_json:
        print_json(ended)
        return
    said = {"ok": "cancelled", "already": "it was cancelled before", "ended": "all of its jobs had ended"}
    answer(said.get(ended.answer, ended.answer))
