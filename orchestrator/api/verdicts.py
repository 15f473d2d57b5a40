"""Whether what a person says to a run fits it: said at once, before it goes into the run's inbox."""

from __future__ import annotations

from datetime import datetime

from orchestrator.api.shapes import Answer, Verdict
from orchestrator.asking import Gate, GateKind, Question
from orchestrator.gates import open_gates
from orchestrator.people import DECIDED, open_questions
from orchestrator.state import RunState
from tasks.errors import Conflict, InputError, NotFound


def decidable(state: RunState, verdict: Verdict, now: datetime) -> Gate:
    """Give the gate that a verdict decides.

    Raises
    ------
    NotFound
        If the run never had such a gate.
    Conflict
        If it is decided already, or has expired.
    InputError
        If a revision does not fit: no feedback, a step that is not behind the gate, or too many iterations.
    """
    gate = next((g for g in state.gates if g.id == verdict.gate), None)
    waiting = ", ".join(g.id for g in open_gates(state)) or "none"
    if gate is None:
        raise NotFound(f"run {state.run_id} has no gate {verdict.gate}; open are: {waiting}")
    if not gate.open and (gate.by, gate.status) == (verdict.by, DECIDED[verdict.verdict]):
        return gate  # said again after a lost answer: the inbox knows it
    if not gate.open:
        by = f" by {gate.by}" if gate.by else ""
        raise Conflict(f"{gate.id} is closed: {gate.status.value}{by}; open are: {waiting}")
    # The run itself looks at the clock once more; an expired gate is opened anew as soon as somebody decides it.
    if verdict.verdict == "revise" and now <= gate.expires:
        _check_revision(state, gate, verdict)
    return gate


def _check_revision(state: RunState, gate: Gate, verdict: Verdict) -> None:
    if not verdict.text.strip():
        raise InputError("text", verdict.text, "does not say what is to be different", "Give it as feedback.")
    if state.iteration >= state.options.max_iterations:
        problem = f"cannot be made: the run has had its {state.iteration} revisions"
        raise InputError("revision", verdict.text, problem, "Approve or reject.")
    steps = [step.number for step in state.plan.steps]
    if gate.kind is GateKind.COST:
        steps = list(gate.steps)
    if verdict.step and verdict.step not in steps:
        known = ", ".join(map(str, steps))
        raise InputError("step", verdict.step, f"is none that {gate.id} can be revised from", f"Name one of {known}.")


def answerable(state: RunState, answer: Answer) -> tuple[Question, str]:
    """Give the question that an answer is for, and the answer as the run takes it.

    Raises
    ------
    NotFound
        If the run never asked this.
    Conflict
        If it was answered already.
    InputError
        If it is none of the candidates of a question that takes no other.
    """
    question = next((q for q in state.questions if q.id == answer.question), None)
    if question is None:
        waiting = ", ".join(q.id for q in open_questions(state)) or "none"
        raise NotFound(f"run {state.run_id} has no question {answer.question}; open are: {waiting}")
    text = answer.text.strip()
    if not text:
        raise InputError("text", answer.text, "answers nothing", "Say what is asked for in words.")
    values = {candidate.value.lower(): candidate.value for candidate in question.candidates}
    numbered = {str(n): candidate.value for n, candidate in enumerate(question.candidates, 1)}
    chosen = values.get(text.lower()) or numbered.get(text) or values.get(f"{text.lower()}_agent")
    if not question.open and (question.by, question.answer) == (answer.by, chosen or text):
        return question, question.answer  # said again after a lost answer
    if not question.open:
        raise Conflict(f"{question.id} was answered by {question.by}: {question.answer}")
    if question.closed and not chosen:
        remedy = f"Answer with one of {', '.join(c.value for c in question.candidates)}, or its number."
        raise InputError("answer", text, "is none of the candidates", remedy)
    return question, chosen or text
