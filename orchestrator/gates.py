"""Gates: what a person has to approve before it goes on, by the run's pipeline; and what may begin meanwhile.

A gate is bound to the hash of exactly what was shown. A plan of another hash, another iteration or another batch needs
another approval; an approval that comes after its expiry counts for nothing, and is asked for anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from orchestrator import steps
from orchestrator.asking import Gate, GateKind, GateStatus, Pipeline, next_number
from orchestrator.people import FEEDBACK
from orchestrator.state import SUMMARY, Dispatched, RunState, Step, StepStatus
from tasks.settings import Settings
from tasks.specs import spec_hash

#: what an approved plan may cost in the end: its estimate, and half as much again
_MARGIN = 1.5
#: what makes a molecule another one; its structure and name come and go
_EXACT = {"smiles", "charge", "multiplicity"}


def plan_hash(state: RunState) -> str:
    """Give the hash of what a plan is going to do: its steps with their goals, its molecules, its iteration."""
    what: list[Any] = [state.iteration, [s.model_dump(mode="json", include=_EXACT) for s in state.species]]
    for step in state.plan.steps:
        what.append([step.number, step.agent, list(step.depends_on), step.goal.model_dump(mode="json")])
    return spec_hash(what)


def plan_is_approved(state: RunState) -> bool:
    """Tell whether the plan may begin: nobody has to approve it, or somebody did."""
    if state.options.pipeline is Pipeline.SHORT:
        return True
    # What a step found out (molecules of a swarm) changes no plan that has begun.
    gate = _newest(state, GateKind.PLAN)
    begun = any(
        step.status is not StepStatus.PENDING and step.iteration == state.iteration for step in state.plan.steps
    )
    if gate is None or gate.status is not GateStatus.APPROVED or gate.iteration != state.iteration:
        return False
    return begun or gate.hash == plan_hash(state)


def review_is_done(state: RunState) -> bool:
    """Tell whether the report may be written."""
    if state.options.pipeline is not Pipeline.LOOPED or state.iteration >= state.options.max_iterations:
        return True
    gate = _newest(state, GateKind.REVIEW)
    return gate is not None and gate.status is GateStatus.APPROVED and gate.iteration == state.iteration


def startable(state: RunState) -> list[Step]:
    """Give the steps that can begin now: all that they need is there, and no gate is in front of them."""
    if not plan_is_approved(state):
        return []
    ready = state.plan.ready()
    return ready if review_is_done(state) else [step for step in ready if step.agent != SUMMARY]


def needs_approval(state: RunState, batch: Dispatched, settings: Settings) -> bool:
    """Tell whether a frozen batch must not be dispatched before somebody has approved its exact specs."""
    gated = state.options.pipeline is not Pipeline.SHORT or state.decision.rule == "model"
    limit = settings.approval_core_hours * 3600
    if not gated or (batch.core_seconds is not None and batch.core_seconds <= limit):
        return False
    if any(g.hash == batch.manifest.hash and g.status is GateStatus.APPROVED for g in state.gates):
        return False
    plan = _newest(state, GateKind.PLAN)
    if plan is None or plan.status is not GateStatus.APPROVED:
        return True
    if batch.core_seconds is None:
        return False  # the plan said that nothing is known about its cost
    if plan.core_seconds is None:
        return True
    spent = sum(b.core_seconds or 0.0 for s in state.plan.steps for b in s.batches if b.sent)
    return spent + batch.core_seconds > _MARGIN * plan.core_seconds


def held_back(state: RunState, settings: Settings) -> list[tuple[Step, Dispatched]]:
    """Give the frozen batches that wait for an approval."""
    return [(step, batch) for step, batch in steps.unsent(state.plan) if needs_approval(state, batch, settings)]


def dispatchable(state: RunState, settings: Settings) -> list[tuple[Step, Dispatched]]:
    """Give the frozen batches that may be dispatched."""
    return [(step, batch) for step, batch in steps.unsent(state.plan) if not needs_approval(state, batch, settings)]


def wanted(state: RunState, settings: Settings) -> list[tuple[GateKind, str, tuple[int, ...]]]:
    """Give the gates that the run comes to and that are not open yet: kind, hash, and the steps behind each."""
    opened = {(gate.kind, gate.hash) for gate in state.gates if gate.open}
    asked: list[tuple[GateKind, str, tuple[int, ...]]] = []
    if not state.plan.steps:
        return []
    # What is still to be changed about a plan is not offered for approval.
    settled = not any(q.open and q.id.startswith(FEEDBACK) for q in state.questions)
    if not plan_is_approved(state):
        if settled:
            asked.append((GateKind.PLAN, plan_hash(state), tuple(step.number for step in state.plan.steps)))
    elif not review_is_done(state) and _only_report_is_left(state):
        done = tuple(f.step for f in state.findings)
        digest = spec_hash([state.iteration, [f.model_dump(mode="json") for f in state.findings]])
        asked.append((GateKind.REVIEW, digest, done))
    asked += [(GateKind.COST, batch.manifest.hash, (step.number,)) for step, batch in held_back(state, settings)]
    return [one for one in asked if one[:2] not in opened]


def open_gate(
    state: RunState,
    kind: GateKind,
    digest: str,
    behind: Sequence[int],
    *,
    text: str,
    core_seconds: float | None,
    now: datetime,
    settings: Settings,
) -> RunState:
    """Give the state with a gate opened, and with an older one for another hash of the same kind closed."""
    gate = Gate(
        id=f"{kind.value}-{next_number(state.gates)}",
        kind=kind,
        hash=digest,
        text=text,
        steps=tuple(behind),
        iteration=state.iteration,
        core_seconds=core_seconds,
        expires=now + timedelta(hours=settings.approval_expires_hours),
    )
    older = tuple(
        g.model_copy(update={"status": GateStatus.EXPIRED}) if g.open and g.kind is kind and kind is not GateKind.COST
        else g
        for g in state.gates
    )  # fmt: skip
    return state.model_copy(update={"gates": (*older, gate)})


def open_gates(state: RunState) -> list[Gate]:
    """Give the gates that wait for a person."""
    return [gate for gate in state.gates if gate.open]


def _newest(state: RunState, kind: GateKind) -> Gate | None:
    return next((gate for gate in reversed(state.gates) if gate.kind is kind), None)


def _only_report_is_left(state: RunState) -> bool:
    others = [step for step in state.plan.steps if step.agent != SUMMARY]
    over = all(step.status not in (StepStatus.PENDING, StepStatus.RUNNING) for step in others)
    return over and bool(state.plan.ready())
