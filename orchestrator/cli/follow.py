"""Watching a run until it ends: live on a terminal, as plain lines elsewhere, always on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from orchestrator.cli.output import note
from tasks.units import clock

if TYPE_CHECKING:
    from rich.console import Group

    from orchestrator.client import Client
    from orchestrator.views import JobView, RunView

_POLL_SECONDS = 0.4
#: the same job's progress is said again at most so often where lines cannot be overwritten
_SAY_AGAIN_SECONDS = 5.0
_MOST_SHOWN_JOBS = 20
_MARKS = {"pending": "·", "running": "▸", "done": "✓", "failed": "✗", "skipped": "–"}


def progress(job: JobView) -> str:
    """Say how far a running job is."""
    if job.state.ended or not job.progress:
        return ""
    of = f" of {job.progress.total}" if job.progress.total else ""
    step = f"{job.progress.stage} {job.progress.step}{of}" if job.progress.step is not None else ""
    return job.progress.text or step


def elapsed(job: JobView) -> str:
    """Give how long a job has been running, or ran."""
    from datetime import UTC, datetime

    if not job.started:
        return ""
    return clock(((job.ended or datetime.now(UTC)) - job.started).total_seconds())


def asked(view: RunView) -> list[tuple[str, str]]:
    """Give what a run asks of people while it goes on, each with its id."""
    if view.state is None or view.run.state.ended:
        return []
    questions = [(q.id, f"{q.id} is asked: {q.text}") for q in view.state.questions if q.open]
    return questions + [(g.id, f"{g.id} waits for an approval: {g.text}") for g in view.state.gates if g.open]


def follow(service: Client, run: str) -> RunView:
    """Watch a run until it ends, and give it as it ended."""
    if sys.stderr.isatty():
        return _live(service, run)
    return _lines(service, run)


def _until_end(service: Client, run: str, show: Callable[[RunView], None]) -> RunView:
    while True:
        view = service.run(run)
        show(view)
        if view.run.state.ended or view.run.state == "NEEDS_PERSON":
            return view
        time.sleep(_POLL_SECONDS)


# ---- on a terminal


def _live(service: Client, run: str) -> RunView:
    from rich.console import Console
    from rich.live import Live

    started = time.monotonic()
    console = Console(stderr=True)
    with Live(console=console, refresh_per_second=4, transient=False) as live:
        return _until_end(service, run, lambda view: live.update(_picture(view, time.monotonic() - started)))


def _picture(view: RunView, seconds: float) -> Group:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    head = Text.assemble(
        ("run ", "dim"), view.run.id, "  ", (view.run.state.value, "bold"), ("  " + clock(seconds), "dim")
    )
    steps = Table.grid(padding=(0, 1))
    for step in view.state.plan.steps if view.state else ():
        mark = _MARKS.get(step.status, "?")
        steps.add_row(mark, f"{step.number}.", Text(step.description), Text(step.agent, style="dim"), step.status.value)
    jobs = Table.grid(padding=(0, 2))
    for job in view.jobs[-_MOST_SHOWN_JOBS:]:
        what = job.task if job.engine == "program" else f"{job.engine} {job.task}"
        jobs.add_row(
            Text(f"  {job.id}", style="dim"),
            Text(job.label),
            Text(what),
            job.state.value,
            Text(progress(job)),
            elapsed(job),
        )
    hidden = sum(batch.count for batch in view.batches) - min(len(view.jobs), _MOST_SHOWN_JOBS)
    more = [Text(f"  and {hidden} more jobs", style="dim")] if hidden > 0 else []
    waits = [Text(text.splitlines()[0], style="bold yellow") for _, text in asked(view)]
    if waits:
        waits.append(Text(f"answer it from another terminal: simrelay run show {view.run.id}", style="dim"))
    if view.run.error and not view.run.state.ended:
        waits.append(Text(view.run.error, style="yellow"))
    title = [Text(view.state.plan.title, style="italic")] if view.state and view.state.plan.title else []
    return Group(head, *title, steps, jobs, *more, *waits)


# ---- elsewhere


class _Teller:
    """Says what is new since the last look, one line each."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._said: dict[str, str] = {}
        self._when: dict[str, float] = {}

    def _say(self, key: str, text: str) -> None:
        if self._said.get(key) != text:
            self._said[key] = text
            note(f"[{clock(time.monotonic() - self._started)}] {text}")

    def show(self, view: RunView) -> None:
        """Say what is new."""
        why = f": {view.run.error}" if view.run.error and not view.run.state.ended else ""
        self._say("run", f"run {view.run.id}: {view.run.state.value}{why}")
        for name, text in asked(view):
            self._say(name, f"{text.splitlines()[0]} (see `simrelay run show {view.run.id}`)")
        if view.state and view.state.plan.steps:
            self._say("plan", f"plan: {view.state.plan.title}")
            for step in view.state.plan.steps:
                error = f": {step.error}" if step.error else ""
                text = f"step {step.number}, {step.agent}: {step.description}: {step.status.value}{error}"
                self._say(f"step {step.number}", text)
        for job in view.jobs:
            self._job(job)

    def _job(self, job: JobView) -> None:
        what = job.task if job.engine == "program" else f"{job.engine} {job.task}"
        name = f"job {job.id}, {job.label}, {what}"
        took = f" after {elapsed(job)}" if job.state.ended and job.started else ""
        self._say(f"job {job.id}", f"{name}: {job.state.value}{took}")
        far, key = progress(job), f"progress {job.id}"
        now = time.monotonic()
        if far and self._said.get(key) != f"{name}: {far}" and now - self._when.get(key, 0.0) > _SAY_AGAIN_SECONDS:
            self._when[key] = now
            self._say(key, f"{name}: {far}")


def _lines(service: Client, run: str) -> RunView:
    teller = _Teller()
    return _until_end(service, run, teller.show)
