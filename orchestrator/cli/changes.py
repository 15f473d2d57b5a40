"""``simrelay job hold|release|retry|rerun|cancel``: of named jobs, or of all that fit the filters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.connect import client, new_id
from orchestrator.cli.job import app
from orchestrator.cli.output import Json, answer, note, print_json, print_table

if TYPE_CHECKING:
    from orchestrator.views import Changed

__all__ = ["app"]

Jobs = Annotated[list[str] | None, typer.Argument(metavar="[JOB]...", help="Ids of jobs; none: those that fit.")]
State = Annotated[str, typer.Option(help="Those in this state, such as FAILED.")]
Owned = Annotated[str, typer.Option("--owner", help="Those of this user.")]
Run = Annotated[str, typer.Option(help="Those of this run.")]
Batch = Annotated[str, typer.Option(help="Those of this batch.")]
Queue = Annotated[str, typer.Option(help="Those in this queue that have not ended.")]
All = Annotated[bool, typer.Option("--all", help="Every job.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only list the jobs that would be touched.")]
NewBatchId = Annotated[str, typer.Option("--id", help="Id of the new batch: sending it twice makes one.")]

_MOST_SAID = 20
_REFUSED = 5
_SAID = {
    "hold": {"ok": "held", "already": "it was held before", "refused": "it is {state}, and only QUEUED jobs are held"},
    "release": {"ok": "let go", "refused": "it is {state}, and was not held"},
    "cancel": {
        "ok": "cancelled",
        "requested": "it runs, and was asked to stop",
        "already": "it had ended: {state}",
    },
    "retry": {"ok": "goes on as {new_job}", "refused": "it is {state}, and only FAILED or CANCELLED jobs are retried"},
    "rerun": {"ok": "begins anew as {new_job}", "refused": "it is {state}, and has not ended"},
}


@app.command()
def hold(
    jobs: Jobs = None,
    state: State = "",
    owner: Owned = "",
    run: Run = "",
    batch: Batch = "",
    queue: Queue = "",
    every: All = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Keep jobs that wait from starting."""
    _change("hold", _selection(jobs, state, owner, run, batch, queue, every), dry_run, as_json)


@app.command()
def release(
    jobs: Jobs = None,
    state: State = "",
    owner: Owned = "",
    run: Run = "",
    batch: Batch = "",
    queue: Queue = "",
    every: All = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Let jobs that are held start again."""
    _change("release", _selection(jobs, state, owner, run, batch, queue, every), dry_run, as_json)


@app.command()
def retry(
    jobs: Jobs = None,
    state: State = "",
    owner: Owned = "",
    run: Run = "",
    batch: Batch = "",
    queue: Queue = "",
    every: All = False,
    dry_run: DryRun = False,
    batch_id: NewBatchId = "",
    as_json: Json = False,
) -> None:
    """Make new jobs of failed or cancelled ones, going on from their last checkpoints."""
    selection = _selection(jobs, state, owner, run, batch, queue, every)
    _change("retry", selection, dry_run, as_json, batch_id or new_id())


@app.command()
def rerun(
    jobs: Jobs = None,
    state: State = "",
    owner: Owned = "",
    run: Run = "",
    batch: Batch = "",
    queue: Queue = "",
    every: All = False,
    dry_run: DryRun = False,
    batch_id: NewBatchId = "",
    as_json: Json = False,
) -> None:
    """Make new jobs of ended ones, from scratch."""
    selection = _selection(jobs, state, owner, run, batch, queue, every)
    _change("rerun", selection, dry_run, as_json, batch_id or new_id())


@app.command()
def cancel(
    jobs: Jobs = None,
    state: State = "",
    owner: Owned = "",
    run: Run = "",
    batch: Batch = "",
    queue: Queue = "",
    every: All = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Cancel jobs: at once if they wait, at their next heartbeat if they run."""
    _change("cancel", _selection(jobs, state, owner, run, batch, queue, every), dry_run, as_json)


def _selection(
    jobs: list[str] | None, state: str, owner: str, run: str, batch: str, queue: str, every: bool
) -> dict[str, object]:
    filters = {"owner": owner, "run": run, "batch": batch, "queue": queue}
    return {"jobs": jobs or [], "state": state.upper(), **filters, "all": every}


def _change(verb: str, selection: dict[str, object], dry_run: bool, as_json: bool, batch_id: str = "") -> None:
    with client() as service:
        done = service.change_jobs(verb, {**selection, "dry_run": dry_run, "id": batch_id})
    if as_json:
        print_json(done)
    elif dry_run:
        _print_dry_run(verb, done)
    else:
        _print_done(verb, done)
    if any(one.answer == "refused" for one in done.changes):
        raise typer.Exit(_REFUSED)


def _print_dry_run(verb: str, done: Changed) -> None:
    touched = [one for one in done.changes if one.answer == "would"]
    print_table(("job", "label", "owner", "state"), ((one.job, one.label, one.owner, one.state) for one in touched))
    note(f"{verb} would touch {len(touched)} of {len(done.changes)} jobs; nothing was changed")


def _print_done(verb: str, done: Changed) -> None:
    for one in done.changes[:_MOST_SAID]:
        said = _SAID[verb].get(one.answer, one.answer).format(state=one.state, new_job=one.new_job)
        answer(f"{one.job}  {said}" if len(done.changes) > 1 else said)
    if len(done.changes) > _MOST_SAID:
        note(f"and {len(done.changes) - _MOST_SAID} more")
    if not done.changes:
        note(f"no job fits, so there is nothing to {verb}")
    if done.batch:
        note(f"see `simrelay batch show {done.batch}`")
