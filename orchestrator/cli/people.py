"""What people say to a run on the command line, and what a run asks of them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.connect import client, owner
from orchestrator.cli.output import answer, moment, note, print_json
from tasks.errors import InputError

if TYPE_CHECKING:
    from orchestrator.asking import Gate
    from orchestrator.state import RunState
    from orchestrator.views import RunView

GateId = Annotated[str, typer.Argument(metavar="[GATE]", help="Id of the gate, if several are open.")]
Why = Annotated[str, typer.Option("--why", help="The reason, for the run's record.")]


#: what a gate asks, and what a rejection does, by its kind
_ASKED = {
    "plan": ("Shall this plan be done?", "ends the run"),
    "cost": ("Shall these jobs be computed?", "the step fails, and the rest goes on"),
    "repair": ("Shall this be computed in place of what failed?", "the step goes on with what it has"),
    "review": ("Are these the results that you want?", "ends the run without a report"),
}


def print_asked(view: RunView) -> None:
    """Print what a run asks of people, each with the commands that answer it."""
    if view.state is None or view.run.state.ended:
        return
    run, state = view.run.id, view.state
    questions, gates = [q for q in state.questions if q.open], [g for g in state.gates if g.open]
    for question in questions:
        note(f"\nrun {run} asks you, and waits:\n{question.id}: {question.text}")
        for number, candidate in enumerate(question.candidates, 1):
            note(f"  {number}. {candidate.value}: {candidate.text}")
        example = question.candidates[0].value if question.candidates else "…"
        which = f" --question {question.id}" if len(questions) > 1 else ""
        own = "" if question.closed else "   (or words of your own)"
        note(f"answer: simrelay run answer {run} {shlex.quote(example)}{which}{own}")
    for gate in gates:
        asked, rejected = _ASKED[_kind(gate, state)]
        note(f"\nrun {run} waits for you until {moment(gate.expires)}; after that it asks anew.")
        note(f"{gate.id}: {asked}\n{gate.text}")
        note(f"approve: simrelay run approve {run} {gate.id}")
        note(f"reject:  simrelay run reject {run} {gate.id} --why '…'   ({rejected})")
        if state.iteration < state.options.max_iterations:
            step = "" if gate.kind.value == "cost" else " --step N"
            what = "what is to be different, as 'in methanol' or 'again'; the new plan is asked about"
            note(f"revise:  simrelay run revise {run} '…' --gate {gate.id}{step}   ({what})")


def _kind(gate: Gate, state: RunState) -> str:
    """Give what kind of gate it is to people: the cost of a repair is another question than that of a step."""
    if gate.kind.value == "cost" and (batches := state.plan.step(gate.steps[0]).batches if gate.steps else ()):
        return "repair" if batches[-1].repairs else "cost"
    return gate.kind.value


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
