"""``simrelay run``: a request, or list, show, attach, retry, cancel, and what people say to a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from orchestrator.asking import Options, Pipeline
from orchestrator.cli.connect import client, local_service_is_missing, new_id, owner, start_if_missing
from orchestrator.cli.output import Json, ago, answer, moment, more, note, print_json, print_pairs, print_table
from orchestrator.cli.people import GateId, Why, print_asked, say_answer, say_verdict
from tasks.errors import InputError

if TYPE_CHECKING:
    from orchestrator.client import Client
    from orchestrator.views import RunView

_REQUEST = "request"
_DETACHED = 130
#: exit code of a run that waits for a person
NEEDS_PERSON_CODE = 10
_MOST_FILES = 12


class RequestGroup(TyperGroup):
    """A group of commands whose first word, if it is none of them, is a request."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command that takes a request in front of a request."""
        before = next((i for i, word in enumerate(args) if not word.startswith("-")), len(args))
        first = args[before] if before < len(args) else ""
        if first in self.commands and first != _REQUEST:
            args = [first, *args[:before], *args[before + 1 :]]
        elif args and not (before == len(args) and {"--help"} & set(args)):
            self._refuse_typo(first)
            args = [_REQUEST, *args]
        return super().parse_args(ctx, args)

    def _refuse_typo(self, word: str) -> None:
        near = get_close_matches(word, [name for name in self.commands if name != _REQUEST], 1, 0.7)
        if near:
            raise InputError("request", word, "is one word, and no command", f"Did you mean `simrelay run {near[0]}`?")


app = typer.Typer(
    cls=RequestGroup,
    no_args_is_help=True,
    help='Runs: `simrelay run "Compare the HOMO and LUMO energies of A and B"` computes and answers.',
)
RunId = Annotated[str, typer.Argument(metavar="RUN", help="Id of the run.")]


@app.command(_REQUEST, hidden=True)
def request(
    text: Annotated[str, typer.Argument(metavar="REQUEST", help="What to find out, in words.")],
    new: Annotated[bool, typer.Option("--new", help="Do not attach to an unfinished run of the same request.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show plan, specs and cost; queue nothing.")] = False,
    detach: Annotated[bool, typer.Option("--detach", help="Do not wait for the end.")] = False,
    wait_for_worker: Annotated[
        bool, typer.Option("--wait-for-worker", help="Queue it although no worker ever offered its engine.")
    ] = False,
    run_id: Annotated[str, typer.Option("--id", help="Id of the run: sending it twice makes one run.")] = "",
    agent: Annotated[str, typer.Option(help="The agent that it is for; else the supervisor decides.")] = "",
    pipeline: Annotated[
        Pipeline, typer.Option(help="short: no gates; full: the plan is approved; looped: the results are reviewed.")
    ] = Pipeline.SHORT,
    max_iterations: Annotated[int, typer.Option(min=1, max=20, help="Revisions of a looped run at most.")] = 3,
    model: Annotated[
        bool, typer.Option("--model/--no-model", help="Ask the language model where rules abstain, if there is one.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Compute and answer a request; the local stack is started if nothing is configured and none runs."""
    options = Options(agent=agent, pipeline=pipeline, max_iterations=max_iterations, model=model)
    missing = local_service_is_missing()
    planned = _plan_here(text, options, dry_run) if missing else None
    run_id = run_id or new_id()
    body = {
        "id": run_id,
        "request": text,
        "owner": owner(),
        "new": new,
        "wait_for_worker": wait_for_worker,
        "options": options.model_dump(mode="json"),
    }
    if dry_run:
        if planned is None:
            with client() as service:
                planned = service.preview(body)
        _print_plan(planned, as_json)
        return
    with start_if_missing() as service, _detaching(run_id):
        created = service.create_run(body)
        if created.answer == "attached":
            note(f"attached to the unfinished run {created.run} of the same request (--new forces another)")
        if detach:
            print_json(created) if as_json else answer(created.run)
            return
        _watch(service, created.run, as_json)


@contextmanager
def _detaching(run: str) -> Iterator[None]:
    """Turn Ctrl-C into letting go of a run that goes on."""
    try:
        yield
    except KeyboardInterrupt:
        note(f"\ndetached; the run goes on. Attach again: simrelay run attach {run}")
        note(f"End it: simrelay run cancel {run}")
        raise typer.Exit(_DETACHED) from None


def _plan_here(text: str, options: Options, only_shown: bool) -> dict[str, Any] | None:
    """Plan a request without a service, so that bad input starts nothing; None where a model will have to read it."""
    from orchestrator.model.extract import left_to_model
    from orchestrator.planning.preview import dry_run
    from tasks.settings import load_settings

    settings = load_settings()
    try:
        return dry_run(text, None, settings.max_atoms, options, settings.pubchem_url)
    except InputError as error:
        if only_shown or not left_to_model(settings, options, error):
            raise
        return None


def _watch(service: Client, run: str, as_json: bool) -> None:
    from orchestrator.cli.follow import follow

    with _detaching(run):
        view = follow(service, run)
    _print_end(view, as_json)
    if view.run.state == "NEEDS_PERSON":
        raise typer.Exit(NEEDS_PERSON_CODE)
    if view.run.state != "SUCCEEDED":
        raise typer.Exit(1)


def _print_end(view: RunView, as_json: bool) -> None:
    if as_json:
        print_json(view)
        return
    if view.run.error:
        note(f"run {view.run.id} {view.run.state.value}: {view.run.error}")
    _print_answer(view)
    print_asked(view)


def _print_answer(view: RunView) -> None:
    """Print the answer with its table, and the paths of report and files, the decisive ones first."""
    files = _files(view)
    text = view.run.answer or (view.state.answer if view.state else "")
    # The answer names files relative to the workspace; here they are named so that they can be opened.
    lines = [line for line in text.splitlines() if not any(line.endswith(f": {path}") for _, path in files)]
    if text:
        answer("\n".join(lines).rstrip() + "\n")
    for role, path in files[:_MOST_FILES]:
        answer(f"{role + ':':<10} {view.workspace}/{path}")
    if len(files) > _MOST_FILES:
        note(f"and {len(files) - _MOST_FILES} more files: simrelay run show {view.run.id} --json")


def _files(view: RunView) -> list[tuple[str, str]]:
    """Give all files of a run with what they are, each once: report and figures first."""
    if not view.state:
        return []
    found = [view.state.report, *view.state.figures, *(a for f in view.state.findings for a in f.artifacts)]
    roles = {a.path: a.role or "file" for a in found if a}
    first = ("report", "figure", "plan")
    paths = sorted(roles, key=lambda path: first.index(roles[path]) if roles[path] in first else len(first))
    return [(roles[path], path) for path in paths]


def _print_plan(planned: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(planned)
        return
    decision, cost = planned["decision"], planned["estimated_cost"]
    print_pairs((("plan", planned["plan"]), ("decided by", f"{decision['rule']}: {decision['reason']}")))
    if not planned["steps"]:
        question = planned["question"]
        answer(planned["answer"] or f"it would be asked: {question['text']}")
        for candidate in question["candidates"] if question else ():
            answer(f"  {candidate['value']}: {candidate['text']}")
        return
    rows = [
        (s["number"], s["agent"], s["description"], ", ".join(map(str, s["depends_on"])), len(s["jobs"]), s["protocol"])
        for s in planned["steps"]
    ]
    print_table(("step", "agent", "what", "after", "jobs", "level"), rows, right=("step", "jobs"))
    print_pairs((("cost", f"{cost['jobs']} jobs, about {cost['core_hours']} core hours ({cost['note']})"),))
    note("nothing was queued")


@app.command("list")
def list_runs(
    owner_name: Annotated[str, typer.Option("--owner", help="Only of this user.")] = "",
    state: Annotated[str, typer.Option(help="Only in this state, such as WAITING.")] = "",
    cursor: Annotated[str, typer.Option(help="Where the page before ended.")] = "",
    count: Annotated[int, typer.Option(min=1, max=1000, help="Rows of one page.")] = 50,
    as_json: Json = False,
) -> None:
    """List runs, newest first."""
    with client() as service:
        page = service.runs(owner=owner_name, state=state.upper(), cursor=cursor, count=count)
    if as_json:
        print_json(page)
        return
    rows = ((run.id, run.state, run.owner, run.request, ago(run.created)) for run in page.runs)
    print_table(("run", "state", "owner", "request", "submitted"), rows)
    more(page.cursor, "runs")


@app.command()
def show(
    run: RunId,
    events: Annotated[bool, typer.Option("--events", help="Show what happened to it, in order.")] = False,
    as_json: Json = False,
) -> None:
    """Show a run: its plan, its jobs, and its answer if it has one."""
    from orchestrator.cli.follow import elapsed, progress

    with client() as service:
        view = service.run(run)
    if as_json:
        print_json(view)
        return
    if events:
        _print_events(view)
        return
    record = view.run
    print_pairs(
        (
            ("run", record.id),
            ("state", record.state.value + (" (cancel was asked for)" if record.cancel_requested else "")),
            ("request", record.request),
            ("owner", record.owner),
            ("takes up", record.retry_of),
            ("submitted", moment(record.created)),
            ("ended", moment(record.ended)),
            ("error", record.error),
            ("model", view.state.usage.in_words if view.state else ""),
        )
    )
    if view.state and view.state.plan.steps:
        steps = ((s.number, s.agent, s.description, s.status.value, s.error) for s in view.state.plan.steps)
        print_table(("step", "agent", "what", "status", "error"), steps)
    if view.jobs:
        jobs = ((j.id, j.label, f"{j.engine} {j.task}", j.state, progress(j), elapsed(j)) for j in view.jobs)
        print_table(("job", "label", "task", "state", "progress", "elapsed"), jobs)
    if view.more_jobs:
        note(f"there are more jobs: simrelay job list --run {run}")
    if view.state and view.state.recoveries:
        tried = ((r.step, r.error_class, r.action, r.source, r.status, r.report) for r in view.state.recoveries)
        print_table(("step", "failure", "recovery", "chosen by", "status", "what came of it"), tried)
    _print_answer(view)
    print_asked(view)


def _print_events(view: RunView) -> None:
    """Print what happened to a run: with its moment where the store keeps one, then its own account."""
    run = view.run
    rows = [(run.created, "submitted"), (run.ended, f"ended {run.state.value}{run.error and f': {run.error}'}")]
    for batch in view.batches:
        counts = f"{batch.succeeded} succeeded, {batch.failed} failed, {batch.cancelled} cancelled"
        rows += [
            (batch.created, f"batch {batch.id}: {batch.count} jobs"),
            (batch.complete, f"batch {batch.id}: {counts}"),
        ]
    for job in view.jobs:
        rows += [(job.started, f"job {job.id}, {job.label}: started"), (job.ended, f"job {job.id}: {job.state.value}")]
    timed = sorted(((when, text) for when, text in rows if when), key=lambda row: row[0])
    print_table(("when", "what"), ((moment(when), text) for when, text in timed))
    if view.state and view.state.history:
        print_table(("the run's own account",), ((line,) for line in view.state.history))


@app.command("events")
def list_events(
    run: RunId,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the run has ended.")] = False,
    after: Annotated[int, typer.Option(min=0, help="Only what follows this number.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print each event as one line of JSON.")] = False,
) -> None:
    """Print what happened to a run, in order: its plan, steps, jobs, approvals and end."""
    from orchestrator.cli.events import print_events

    with _detaching(run):
        print_events(run, after, follow, as_json)


@app.command()
def attach(run: RunId, as_json: Json = False) -> None:
    """Watch a run until it ends, and print its answer."""
    with client(patience_seconds=60) as service:
        service.run(run)
        _watch(service, run, as_json)


@app.command()
def approve(run: RunId, gate: GateId = "", as_json: Json = False) -> None:
    """Approve what a run waits for: its plan, the cost of a step, or its results."""
    say_verdict(run, gate, "approve", "", 0, as_json)


@app.command()
def reject(run: RunId, gate: GateId = "", why: Why = "", as_json: Json = False) -> None:
    """Reject what a run waits for: a plan or results end it, a cost fails its step."""
    say_verdict(run, gate, "reject", why, 0, as_json)


@app.command()
def revise(
    run: RunId,
    feedback: Annotated[str, typer.Argument(help="What is to be different, such as 'PBE0/def2-TZVP in methanol'.")],
    gate: Annotated[str, typer.Option(help="Id of the gate, if several are open.")] = "",
    step: Annotated[int, typer.Option(min=0, help="The step to begin at; what it does not touch is kept.")] = 0,
    as_json: Json = False,
) -> None:
    """Have a plan changed, or done anew from a step on; it then has to be approved again."""
    say_verdict(run, gate, "revise", feedback, step, as_json)


@app.command("answer")
def answer_question(
    run: RunId,
    text: Annotated[str, typer.Argument(help="The answer: a candidate, its number, or words.")],
    question: Annotated[str, typer.Option(help="Id of the question, if several are open.")] = "",
    as_json: Json = False,
) -> None:
    """Answer what a run asks."""
    say_answer(run, question, text, as_json)


@app.command()
def retry(
    run: RunId,
    detach: Annotated[bool, typer.Option("--detach", help="Do not wait for the end.")] = False,
    run_id: Annotated[str, typer.Option("--id", help="Id of the new run: sending it twice makes one run.")] = "",
    as_json: Json = False,
) -> None:
    """Take up a run that failed or was cancelled: a new run that keeps what the old one has done."""
    run_id = run_id or new_id()
    with client(patience_seconds=60) as service:
        created = service.retry_run(run, {"id": run_id, "owner": owner()})
        if created.answer == "attached":
            note(f"attached to the unfinished run {created.run} of the same request")
        if detach:
            print_json(created) if as_json else answer(created.run)
            return
        _watch(service, created.run, as_json)


@app.command()
def cancel(run: RunId, as_json: Json = False) -> None:
    """End a run, and cancel its jobs."""
    with client() as service:
        ended = service.cancel_run(run)
    if as_json:
        print_json(ended)
        return
    answer({"ok": "it was asked to end", "same": "it was asked before", "ended": "it had ended"}[ended.answer])
