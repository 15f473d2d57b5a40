"""``simrelay job``: list, info, logs, why; what changes jobs stands in ``changes``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.connect import client
from orchestrator.cli.output import Json, ago, answer, moment, more, note, print_json, print_pairs, print_table

if TYPE_CHECKING:
    from orchestrator.views import AttemptView, JobView

app = typer.Typer(help="Jobs: one simulation each.", no_args_is_help=True)
JobId = Annotated[str, typer.Argument(metavar="JOB", help="Id of the job.")]


@app.command("list")
def list_jobs(
    state: Annotated[str, typer.Option(help="Only in this state, such as RUNNING.")] = "",
    owner: Annotated[str, typer.Option(help="Only of this user.")] = "",
    queue: Annotated[str, typer.Option(help="Only in this queue; only jobs that have not ended.")] = "",
    run: Annotated[str, typer.Option(help="Only of this run.")] = "",
    batch: Annotated[str, typer.Option(help="Only of this batch.")] = "",
    search: Annotated[str, typer.Option(help="Words of the label.")] = "",
    where: Annotated[
        list[str] | None, typer.Option("--range", help="Range of a result, as homo_ev:-10..-5; may be repeated.")
    ] = None,
    cursor: Annotated[str, typer.Option(help="Where the page before ended.")] = "",
    count: Annotated[int, typer.Option(min=1, max=1000, help="Rows of one page.")] = 50,
    as_json: Json = False,
) -> None:
    """List jobs, newest first."""
    with client() as service:
        page = service.jobs(
            ranges=where or (),
            state=state.upper(),
            owner=owner,
            queue=queue,
            run=run,
            batch=batch,
            search=search,
            cursor=cursor,
            count=count,
        )
    if page.incomplete:
        note(f"the search index is incomplete: {page.incomplete}")
    if as_json:
        print_json(page)
        return
    columns = ("job", "label", "task", "state", "progress", "worker", "run or batch", "submitted")
    print_table(columns, (_row(job) for job in page.jobs))
    more(page.cursor, "jobs")


def _row(job: JobView) -> tuple[object, ...]:
    from orchestrator.cli.follow import progress

    task = job.task if job.engine == "program" else f"{job.engine} {job.task}"
    return job.id, job.label, task, job.state, progress(job), job.worker, job.run or job.batch, ago(job.created)


@app.command()
def info(job: JobId, as_json: Json = False) -> None:
    """Show a job: its spec, what became of it, and all its attempts."""
    with client() as service:
        detail = service.job(job)
    if as_json:
        print_json(detail)
        return
    record = detail.job
    print_pairs(_pairs(record))
    print_pairs((name, value) for name, value in _flat(record.spec) if name not in ("molecule.xyz", "label"))
    if record.result:
        print_pairs((f"result {n}", v) for n, v in _flat(record.result.model_dump(exclude={"xyz", "kind"})))
    for correction in record.corrections:
        answer(f"corrected: {correction.text}")
    if record.failure:
        print_pairs((("failure", record.failure.message), ("remedy", record.failure.remedy)))
        for line in record.failure.evidence:
            answer(f"  {line}")
    for artifact in record.artifacts:
        answer(f"{artifact.role or 'file':<12} {detail.workspace}/{artifact.path}")
    if detail.attempts:
        columns = ("attempt", "claim", "worker", "host", "started", "ended", "how", "why", "reached", "from", "to")
        print_table(columns, (_attempt(one) for one in detail.attempts))


def _attempt(one: AttemptView) -> tuple[object, ...]:
    """Give one attempt as a row; from and to are the numbers of the restart points that it began with and reached."""
    why = f"{one.failure.error_class}: {one.failure.message}" if one.failure else one.phase if one.how == "open" else ""
    reached = one.progress.text if one.progress else ""
    begin = f"checkpoint {one.checkpoint_from.number}" if one.checkpoint_from else "scratch"
    end = f"checkpoint {one.checkpoint.number}" if one.checkpoint else ""
    moments = moment(one.started), moment(one.ended)
    return one.attempt, one.claim_id, one.worker, one.host, *moments, one.how, why, reached, begin, end


def _pairs(job: JobView) -> tuple[tuple[str, object], ...]:
    from orchestrator.cli.follow import progress

    return (
        ("job", job.id),
        ("label", job.label),
        (
            "state",
            job.state.value + (" (cancel was asked for)" if job.cancel_requested and not job.state.ended else ""),
        ),
        ("progress", progress(job)),
        ("owner", job.owner),
        ("run", job.run),
        ("batch", job.batch),
        ("queue", job.queue),
        ("priority", job.priority),
        ("worker", job.worker),
        ("attempts", f"{job.attempt} ({job.failures} failed)"),
        ("submitted", moment(job.created)),
        ("started", moment(job.started)),
        ("ended", moment(job.ended)),
        ("compute time", f"{job.compute_seconds:.1f} s" if job.compute_seconds else ""),
        ("retry of", job.retry_of),
    )


def _flat(values: dict[str, Any], before: str = "") -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    for name, value in values.items():
        if isinstance(value, dict):
            rows += _flat(value, f"{before}{name}.")
        elif value is not None:
            rows.append((f"{before}{name}", value))
    return rows


@app.command()
def logs(
    job: JobId,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, max=10_000, help="How many of the last lines.")] = 50,
    attempt: Annotated[int, typer.Option(min=0, help="Of this attempt; 0: the accepted one, else the newest.")] = 0,
    as_json: Json = False,
) -> None:
    """Print the end of what a job's program wrote."""
    with client() as service:
        log = service.log(job, lines=lines, attempt=attempt)
    if as_json:
        print_json(log)
        return
    note(f"attempt {log.attempt}: {log.path}")
    answer(log.text)


@app.command()
def why(job: JobId, as_json: Json = False) -> None:
    """Say in one sentence why a job has not started."""
    with client() as service:
        said = service.why(job)
    if as_json:
        print_json(said)
        return
    answer(said.sentence)
