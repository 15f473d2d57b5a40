"""States of runs at the points where people come in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from orchestrator.asking import Gate, GateKind, GateStatus, Options, Pipeline
from orchestrator.state import SUMMARY, Dispatched, Finding, Manifest, Plan, RunState, Species, Step, StepStatus
from tasks.results import Artifact

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def artifact(path: str, role: str = "") -> Artifact:
    """Give a reference to a file that nobody reads."""
    return Artifact(path=path, size_bytes=1, sha256="0" * 64, role=role)


def batch(step: int, digest: str = "m", *, core_seconds: float | None = 1.0, sent: bool = False) -> Dispatched:
    """Give the first round of a step."""
    manifest = Manifest(artifact=artifact(f"step-{step}.json"), hash=digest, count=2)
    return Dispatched(batch_id=f"r1-s{step}-r1", round=1, manifest=manifest, core_seconds=core_seconds, sent=sent)


def gate(kind: GateKind = GateKind.PLAN, digest: str = "h", **more: object) -> Gate:
    """Give an open gate that has an hour left."""
    values = {"id": f"{kind.value}-1", "kind": kind, "hash": digest, "text": "?", "expires": NOW + timedelta(hours=1)}
    return Gate.model_validate({**values, **more})


def finding(step: int, *artifacts: Artifact) -> Finding:
    """Give what a step found out."""
    return Finding(step=step, agent="qm_agent", summary=f"of step {step}", artifacts=artifacts)


def run_state(pipeline: Pipeline = Pipeline.LOOPED, **more: object) -> RunState:
    """Give a run of three steps in a row and the report; nothing has begun."""
    steps = (
        Step(number=1, agent="chemistry_agent", description="identify"),
        Step(number=2, agent="qm_agent", description="optimise", depends_on=(1,)),
        Step(number=3, agent="qm_agent", description="energies", depends_on=(2,)),
        Step(number=4, agent="qm_agent", description="something else"),
        Step(number=5, agent=SUMMARY, description="report", depends_on=(1, 2, 3, 4)),
    )
    species = (Species(name="water", smiles="O"),)
    values = {"run_id": "r1", "plan": Plan(steps=steps), "species": species, "options": Options(pipeline=pipeline)}
    return RunState(**{**values, **more})  # type: ignore[arg-type]


def with_steps(state: RunState, numbers: tuple[int, ...], **changes: object) -> RunState:
    """Give the state with some steps changed."""
    steps = (s.model_copy(update=changes) if s.number in numbers else s for s in state.plan.steps)
    return state.model_copy(update={"plan": state.plan.model_copy(update={"steps": tuple(steps)})})


def all_done(state: RunState) -> RunState:
    """Give the state in which only the report is left."""
    return with_steps(state, (1, 2, 3, 4), status=StepStatus.DONE).model_copy(
        update={"findings": tuple(finding(number) for number in (1, 2, 3, 4))}
    )


def approved(state: RunState, kind: GateKind, digest: str, **more: object) -> RunState:
    """Give the state with a gate approved."""
    new = gate(kind, digest, **{"status": GateStatus.APPROVED, "iteration": state.iteration, **more})
    return state.model_copy(update={"gates": (*state.gates, new)})
