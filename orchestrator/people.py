"""What people say to a run: answers, approvals, rejections, revisions; each becomes a change of its state.

All functions are pure. An entry that fits nothing (decided before, another gate, too late) changes nothing but the
run's own account, so that late and double entries are harmless.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from orchestrator.asking import Gate, GateKind, GateStatus, Question
from orchestrator.recovery.record import RecoveryStatus
from orchestrator.state import Finding, Plan, RunState, Species, Step, StepStatus
from tasks.records import InboxEntry
from tasks.results import Artifact

#: how the id of a question begins whose answer says what is to be changed in the plan
FEEDBACK = "feedback-"
#: what each verdict makes of a gate
DECIDED = {"approve": GateStatus.APPROVED, "reject": GateStatus.REJECTED, "revise": GateStatus.REVISED}


def hear(state: RunState, entries: Sequence[InboxEntry], now: datetime) -> RunState:
    """Give the state after some entries of the run's inbox, in their order."""
    for entry in entries:
        if entry.kind == "answer":
            state = _answer(state, entry)
        elif entry.kind in DECIDED:
            state = _decide(state, entry, now)
    return state


def open_questions(state: RunState) -> list[Question]:
    """Give the questions that wait for a person."""
    return [question for question in state.questions if question.open]


def _answer(state: RunState, entry: InboxEntry) -> RunState:
    question = next((q for q in state.questions if q.id == entry.about and q.open), None)
    if question is None:
        return _told(state, f"an answer of {entry.by} to {entry.about} came too late")
    answered = question.model_copy(update={"answer": entry.text, "by": entry.by})
    questions = tuple(answered if q.id == question.id else q for q in state.questions)
    changes: dict[str, object] = {"questions": questions}
    if question.id.startswith(FEEDBACK):
        changes["feedback"] = entry.text
    return _told(state.model_copy(update=changes), f"{entry.by} answered {question.id}: {entry.text}")


def _decide(state: RunState, entry: InboxEntry, now: datetime) -> RunState:
    gate = next((g for g in state.gates if g.id == entry.about and g.open), None)
    if gate is None:
        return _told(state, f"{entry.kind} of {entry.about} by {entry.by} came too late: it is closed")
    if entry.kind == "revise" and state.iteration >= state.options.max_iterations:
        return _told(state, f"{entry.by} wanted a revision, but this was the last of {state.iteration} iterations")
    if now > gate.expires:
        state = _closed(state, gate, GateStatus.EXPIRED, entry)
        return _told(state, f"{entry.kind} of {gate.id} by {entry.by} came after its expiry; it is asked for anew")
    state = _closed(state, gate, DECIDED[entry.kind], entry)
    said = f": {entry.text}" if entry.text else ""
    state = _told(state, f"{entry.by} {DECIDED[entry.kind].value} {gate.id}{said}")
    if entry.kind == "reject":
        return _rejected(state, gate, entry)
    if entry.kind == "revise":
        # Other steps may run beside one whose cost is asked about; in front of the other gates nothing runs.
        first = gate.steps[0] if gate.kind is GateKind.COST or not entry.step else entry.step
        return revise(state, first, entry.text)
    return state


def _closed(state: RunState, gate: Gate, status: GateStatus, entry: InboxEntry) -> RunState:
    closed = gate.model_copy(update={"status": status, "by": entry.by, "feedback": entry.text})
    return state.model_copy(update={"gates": tuple(closed if g.id == gate.id else g for g in state.gates)})


def _rejected(state: RunState, gate: Gate, entry: InboxEntry) -> RunState:
    why = f": {entry.text}" if entry.text else ""
    if gate.kind is not GateKind.COST:
        what = "plan" if gate.kind is GateKind.PLAN else "results"
        return state.model_copy(update={"stopped": f"{entry.by} rejected the {what}{why}"})
    plan = state.plan
    for number in gate.steps:
        step = plan.step(number)
        if step.batches[-1].repairs:
            state = _without_repair(state, step)
            plan = state.plan
            continue
        # Its frozen batch was never sent, and nothing of it ever will be.
        changes = {
            "status": StepStatus.FAILED,
            "error": f"{entry.by} rejected its cost{why}",
            "batches": step.batches[:-1],
        }
        plan = plan.replace(step.model_copy(update=changes))
    return state.model_copy(update={"plan": plan.with_hopeless_skipped()})


def _without_repair(state: RunState, step: Step) -> RunState:
    """Give the state in which a step goes on with what it has, since nobody wants to pay for the repair of the rest."""
    kept = step.batches[-2].model_copy(update={"trouble": "settled"})
    refused = step.batches[-1].round
    recoveries = tuple(
        r.model_copy(update={"status": RecoveryStatus.REJECTED}) if (r.step, r.round) == (step.number, refused) else r
        for r in state.recoveries
    )
    plan = state.plan.replace(step.model_copy(update={"batches": (*step.batches[:-2], kept)}))
    return state.model_copy(update={"plan": plan, "recoveries": recoveries})


def touched(plan: Plan, first: int) -> frozenset[int]:
    """Give the steps that have to be done anew from a step on: itself, and all that depends on it."""
    found = {first}
    for step in plan.steps:  # a step depends on earlier ones only
        if found & set(step.depends_on):
            found.add(step.number)
    return frozenset(found)


def revise(state: RunState, first: int, feedback: str) -> RunState:
    """Give the state in which the plan is done anew from a step on, once somebody has approved it again.

    What the other steps found out stays, with their artifacts; the rounds of a step go on counting, so that no batch
    of before is mistaken for one of now.
    """
    redone, iteration = touched(state.plan, first), state.iteration + 1
    again = {"status": StepStatus.PENDING, "error": "", "iteration": iteration, "trouble": ""}
    steps = tuple(_anew(s, again) if s.number in redone else s for s in state.plan.steps)
    kept = tuple(f for f in state.findings if f.step not in redone)
    return state.model_copy(
        update={
            "plan": state.plan.model_copy(update={"steps": steps}),
            "findings": kept,
            "species": tuple(as_before(one, kept, redone) for one in state.species),
            "iteration": iteration,
            "feedback": feedback,
        }
    )


def _anew(step: Step, changes: dict[str, object]) -> Step:
    # A frozen batch that was never sent is not waited for.
    batches = step.batches if not step.batches or step.batches[-1].sent else step.batches[:-1]
    return step.model_copy(update={**changes, "batches": batches})


def as_before(species: Species, kept: Sequence[Finding], redone: frozenset[int]) -> Species:
    """Give a molecule as it was before the steps that are done anew: not failed by them, at its earlier geometry."""
    changes: dict[str, object] = {}
    if any(species.error.startswith(f"step {number}:") for number in redone):
        changes["error"] = ""
    if species.geometry and any(species.geometry.path.endswith(f"-step{number}.xyz") for number in redone):
        stem = species.geometry.path.rpartition("-step")[0]
        changes["geometry"] = _newest_geometry(stem, kept)
        changes["geometry_level"] = ""  # which no finding says
    return species.model_copy(update=changes) if changes else species


def _newest_geometry(stem: str, kept: Sequence[Finding]) -> Artifact | None:
    for finding in reversed(kept):
        for artifact in finding.artifacts:
            if artifact.role == "geometry" and artifact.path.removesuffix(".xyz").rpartition("-step")[0] == stem:
                return artifact
            if artifact.role == "geometry" and artifact.path == f"{stem}.xyz":
                return artifact
    return None


def _told(state: RunState, line: str) -> RunState:
    return state.model_copy(update={"history": [*state.history, line]})
