"""The events of a run, derived from its state before and after a node.

They are told in the transaction that writes the node's checkpoint, so a node that was killed has told nothing of these,
and one whose checkpoint is there has told everything, once. Among them stand the ``job`` and ``progress`` events, which
the scripts tell that change jobs, and what a language model writes, told while it writes it (``live``). This is the
order that holds for every run, whatever is killed:

- ``thinking`` (how it was decided) before the first ``plan``, and a ``plan`` before each ``agent_start`` of it; after a
  revision the new plan before the steps that are done anew;
- ``agent_start`` of a step before its ``action``, an ``action`` (a frozen batch: what will be submitted) before each
  ``job`` of its batch, and that before its ``progress``;
- ``agent_end`` of a step after all of these; a step that is withdrawn by a revision ends ``withdrawn``, and one that
  can never start is ``skipped`` in a new ``plan``, and neither starts nor ends;
- ``approval`` and ``cue_user`` when a gate or question is opened, and again when it is decided or answered;
- ``text_delta`` of a step (what a language model says of its findings) after its ``agent_start`` and before its
  ``agent_end``, and then the ``action`` that the model proposes (``proposed``; nothing is started by it) or an
  ``error`` of what it may not or what cannot be read; of a gate (why the plan is so) before its ``approval``;
- ``text_delta`` of the answer while it is written, between ``agent_start`` and ``agent_end`` of the summary, and once
  more with what is left of it after all steps, as ``error`` is; without a model that is the whole of it. Each says the
  text's ``id`` and from which ``offset`` on it reads so: offset 0 of a known text begins it again;
- ``done`` last and once: the script that ends the run tells
  it, also when the run was cancelled or failed with steps under way, which then have no ``agent_end``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from orchestrator.asking import Gate, Question
from orchestrator.state import SUMMARY, Dispatched, Event, Finding, Plan, RunState, Step, StepStatus

Kind = Literal["thinking", "plan", "agent_start", "text_delta", "action", "approval", "cue_user", "error", "agent_end"]
Told = tuple[Kind, str, dict[str, Any]]

#: longest text of an event; the whole of it stands in the run's state
LONGEST_TEXT = 4000
_BEGUN = (StepStatus.RUNNING, StepStatus.DONE, StepStatus.FAILED)
_OVER = (StepStatus.DONE, StepStatus.FAILED)


def events_of(before: RunState, after: RunState) -> tuple[Event, ...]:
    """Give what is to be told of a change of the state, in order.

    The keys number all events that states of the run have told (``RunState.told``), so no two are alike, and the same
    change has the same keys however often it is made.
    """
    told = (*_begin(before, after), *_steps(before, after), *_waits(before, after), *_end(before, after))
    return tuple(
        start_event(after.plan.step(int(about)), before.told)
        if kind == "agent_start"
        else Event(key=f"{number}:{kind}:{about}", kind=kind, data=data)
        for number, (kind, about, data) in enumerate(told, before.told + 1)
    )


def start_event(step: Step, told: int) -> Event:
    """Give the start of a step that begins in the change after ``told`` events: the same, whoever tells it first."""
    data = {**_who(step), "description": step.description}
    return Event(key=f"{told}:start:{step.number}", kind="agent_start", data=data)


def answer_id(state: RunState) -> str:
    """Give the identity of the answer among the run's texts."""
    return f"answer-{state.iteration}"


def _begin(before: RunState, after: RunState) -> Iterator[Told]:
    """Give what comes before the steps: what was decided by people or rules, and the plan that follows from it."""
    if after.decision != before.decision:
        decision = after.decision
        data = {"text": _short(decision.reason), "rule": decision.rule, "agent": decision.agent}
        yield "thinking", "supervisor", data
    yield from (_approval(gate) for gate in _changed_gates(before, after) if not gate.open)
    yield from (_cue(question) for question in _changed_questions(before, after) if not question.open)
    for old in before.plan.steps:
        new = _step(after.plan, old.number)
        withdrawn = old.status is StepStatus.RUNNING and (new is None or new.status is StepStatus.PENDING)
        if withdrawn:
            yield _agent_end(old, "withdrawn", None)
    # A run that begins with the plan of another one, or of an older version, has not told it yet.
    if after.plan.steps and (not before.told or _outline(before) != _outline(after)):
        yield "plan", str(after.iteration), _plan(after)


def _steps(before: RunState, after: RunState) -> Iterator[Told]:
    """Give the starts, actions and ends of the steps, in the order of their numbers."""
    for step in after.plan.steps:
        old = _step(before.plan, step.number) or Step(number=step.number, agent=step.agent, description="")
        known = {batch.batch_id for batch in old.batches}
        starts = step.status in _BEGUN and old.status not in (StepStatus.RUNNING, step.status)
        if starts:
            yield "agent_start", str(step.number), {}
        for batch in step.batches:
            if batch.batch_id not in known:
                yield "action", batch.batch_id, _action(step, batch)
        if step.status in _OVER and (starts or old.status is StepStatus.RUNNING):
            yield _agent_end(step, step.status.value, _finding(after, step.number))


def _waits(before: RunState, after: RunState) -> Iterator[Told]:
    yield from (_approval(gate) for gate in _changed_gates(before, after) if gate.open)
    yield from (_cue(question) for question in _changed_questions(before, after) if question.open)


def _end(before: RunState, after: RunState) -> Iterator[Told]:
    if after.error and after.error != before.error:
        yield "error", "run", {"text": _short(after.error)}
    if after.answer and after.answer != before.answer:
        # What a model worded was told while it was written.
        summary = next((finding for finding in reversed(after.findings) if finding.agent == SUMMARY), None)
        known = summary.prose if summary and after.answer.startswith(summary.prose) else ""
        data = {"of": "answer", "id": answer_id(after), "offset": len(known), "text": after.answer[len(known) :]}
        yield "text_delta", "answer", data


def _step(plan: Plan, number: int) -> Step | None:
    return next((step for step in plan.steps if step.number == number), None)


def _finding(state: RunState, number: int) -> Finding | None:
    return next((finding for finding in reversed(state.findings) if finding.step == number), None)


def _outline(state: RunState) -> list[Any]:
    """Give what makes a plan another one: its steps, its iteration, and what will never be done."""
    what = {"number", "agent", "description", "depends_on", "goal"}
    steps = [
        (step.model_dump(mode="json", include=what), step.status is StepStatus.SKIPPED) for step in state.plan.steps
    ]
    return [state.iteration, state.plan.title, steps]


def _plan(state: RunState) -> dict[str, Any]:
    steps = [
        {
            "step": step.number,
            "agent": step.agent,
            "description": step.description,
            "depends_on": list(step.depends_on),
            "status": step.status.value,
        }
        for step in state.plan.steps
    ]
    return {"title": state.plan.title, "iteration": state.iteration, "steps": steps}


def _who(step: Step) -> dict[str, Any]:
    return {"step": step.number, "agent": step.agent, "iteration": step.iteration}


def _action(step: Step, batch: Dispatched) -> dict[str, Any]:
    return {
        **_who(step),
        "batch": batch.batch_id,
        "round": batch.round,
        "jobs": batch.manifest.count,
        "core_seconds": batch.core_seconds,
        "manifest": batch.manifest.artifact.path,
        "hash": batch.manifest.hash,
    }


def _agent_end(step: Step, status: str, finding: Finding | None) -> Told:
    data = {**_who(step), "status": status, "summary": _short(finding.summary) if finding else ""}
    if finding and finding.stage:
        data["stage"] = finding.stage
    return "agent_end", str(step.number), {**data, "error": _short(step.error)}


def _changed_gates(before: RunState, after: RunState) -> list[Gate]:
    known = {gate.id: gate.status for gate in before.gates}
    return [gate for gate in after.gates if known.get(gate.id) is not gate.status]


def _changed_questions(before: RunState, after: RunState) -> list[Question]:
    known = {question.id: question.open for question in before.questions}
    return [question for question in after.questions if known.get(question.id) is not question.open]


def _approval(gate: Gate) -> Told:
    data = gate.model_dump(mode="json", include={"kind", "hash", "steps", "iteration", "core_seconds", "expires"})
    data |= {"gate": gate.id, "status": gate.status.value, "text": _short(gate.text)}
    return "approval", gate.id, {**data, "by": gate.by, "feedback": _short(gate.feedback)}


def _cue(question: Question) -> Told:
    data = question.model_dump(mode="json", include={"candidates", "closed", "step", "asked_by"})
    said = {"answer": _short(question.answer), "by": question.by, "open": question.open}
    return "cue_user", question.id, {**data, "question": question.id, "text": _short(question.text), **said}


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"
