"""What people say to a run on the command line, and what a run asks of them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.connect import client, owner
from orchestrator.cli.output import answer, moment, note, print_json
from tasks.errors import InputError

if TYPE_CHECKING:
    from orchestrator.state import RunState
    from orchestrator.views import RunView

GateId = Annotated[str, typer.Argument(metavar="[GATE]", help="Id of the gate, if several are open.")]
Why = Annotated[str, typer.Option("--why", help="The reason, for the run's record.")]


def print_asked(view: RunView) -> None:
    """Print what a run asks of people, each with the command that answers it."""
    if view.state is None or view.run.state.ended:
        return
    run = view.run.id
    for question in (q for q in view.state.questions if q.open):
        note(f"\n{question.id}: {question.text}")
        for number, candidate in enumerate(question.candidates, 1):
            note(f"  {number}. {candidate.value}: {candidate.text}")
        example = question.candidates[0].value if question.candidates else "…"
        note(f"answer: simrelay run answer {run} {shlex.quote(example)}")
    for gate in (g for g in view.state.gates if g.open):
        note(f"\n{gate.id} (until {moment(gate.expires)}): {gate.text}")
        note(f"approve: simrelay run approve {run} {gate.id}")
        note(f"reject:  simrelay run reject {run} {gate.id} --why '…'")
        note(f"revise:  simrelay run revise {run} '…' --gate {gate.id} --step N")


def say_verdict(run: str, gate: str, verdict: str, text: str, step: int, as_json: bool) -> None:
    """Send a verdict on a gate; without an id on the only one that is open."""
    with client() as service:
        gate = gate or _only("gate", run, [g.id for g in _state(service.run(run)).gates if g.open])
        body = {"gate": gate, "verdict": verdict, "by": owner(), "text": text, "step": step}
        said = service.decide_gate(run, body)
    if as_json:
        print_json(said)
        return
    words = {"approve": "approved", "reject": "rejected", "revise": "to be revised"}
    answer(f"{gate} {words[verdict]}" if said.answer == "ok" else f"{gate} was decided before")


def say_answer(run: str, question: str, text: str, as_json: bool) -> None:
    """Send the answer to a question; without an id to the only one that is open."""
    with client() as service:
        question = question or _only("question", run, [q.id for q in _state(service.run(run)).questions if q.open])
        said = service.answer_question(run, {"question": question, "text": text, "by": owner()})
    if as_json:
        print_json(said)
        return
    answer(f"{question} answered" if said.answer == "ok" else f"{question} was answered before")


def _state(view: RunView) -> RunState:
    if view.state is None:
        raise InputError("run", view.run.id, "asks nothing yet", f"Look with `simrelay run show {view.run.id}`.")
    return view.state


def _only(what: str, run: str, open_ids: list[str]) -> str:
    if len(open_ids) == 1:
        return open_ids[0]
    if not open_ids:
        raise InputError(what, run, "has none open", f"Look with `simrelay run show {run}`.")
    raise InputError(what, run, f"has several open: {', '.join(open_ids)}", "Name one.")
