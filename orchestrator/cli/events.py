"""``simrelay run events``: what a run told, in order; one line an event, for people or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.cli.connect import client
from orchestrator.cli.output import answer, moment, note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.client import Client
    from orchestrator.views import EventView


def print_events(run: str, after: int, follow: bool, as_json: bool) -> None:
    """Print the events of a run that follow a number; with ``follow`` until it has ended."""
    with client(patience_seconds=60 if follow else 10) as service:
        for event in service.events(run, after=after) if follow else _pages(service, run, after):
            if event.kind == "lost":
                data = event.data
                note(f"{data['lost']} older events are kept no longer; the first that is kept is {data['first']}")
            elif as_json:
                answer(event.model_dump_json())
            else:
                answer(f"{event.sequence:>5}  {moment(event.time)}  {event.kind:<11}  {in_words(event)}".rstrip())


def _pages(service: Client, run: str, after: int) -> Iterator[EventView]:
    from orchestrator.views import EventView

    while True:
        page = service.event_page(run, after=after)
        if page.lost:
            yield EventView(run=run, kind="lost", data={"lost": page.lost, "first": page.first})
        if not page.events:
            return
        yield from page.events
        after = page.after


def in_words(event: EventView) -> str:
    """Say what an event holds, in one line."""
    data = event.data
    match event.kind:
        case "plan":
            steps = "; ".join(f"{s['step']}. {s['description']} ({s['status']})" for s in data.get("steps", ()))
            again = f", iteration {data['iteration']}" if data.get("iteration") else ""
            return _line(f"{data.get('title', '')}{again}: {steps}")
        case "agent_start":
            return _line(f"step {data.get('step')}, {data.get('agent')}: {data.get('description', '')}")
        case "agent_end":
            said = data.get("error") or data.get("summary") or ""
            return _line(f"step {data.get('step')}, {data.get('agent')}: {data.get('status')}{said and f': {said}'}")
        case "action":
            return _action(data)
        case "job":
            return _line(f"{_job(data)}: {data.get('state')}")
        case "progress":
            return _line(f"{_job(data)}: {data.get('progress', {}).get('text', '')}")
        case "approval":
            by = f" by {data['by']}" if data.get("by") else ""
            return _line(f"{data.get('gate')} {data.get('status')}{by}: {data.get('text', '')}")
        case "cue_user":
            reply = (
                f" answered by {data['by']}: {data['answer']}" if data.get("answer") else f": {data.get('text', '')}"
            )
            return _line(f"{data.get('question')}{reply}")
        case "done":
            said = data.get("error") or data.get("answer") or ""
            return _line(f"{data.get('state')}{said and f': {said}'}")
    return _line(str(data.get("text", "")))


def _job(data: dict[str, Any]) -> str:
    label = f", {data['label']}" if data.get("label") else ""
    attempt = f", attempt {data['attempt']}" if data.get("attempt", 0) > 1 else ""
    return f"{data.get('job')}{label}{attempt}"


def _action(data: dict[str, Any]) -> str:
    if data.get("proposed"):
        who = f"step {data.get('step')}, {data.get('agent')}"
        return _line(f"{who}: a language model proposes {data.get('name')}; nothing is started")
    if "batch" not in data:
        return _line(str(data.get("name", "")))
    seconds = data.get("core_seconds")
    cost = "" if seconds is None else f", about {seconds / 3600:.2g} core hours"
    return f"step {data.get('step')}, {data.get('agent')}: {data.get('jobs')} jobs as {data['batch']}{cost}"


def _line(text: str) -> str:
    return " ".join(text.split())
