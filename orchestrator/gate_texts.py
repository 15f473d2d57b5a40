"""What a gate asks a person, in words: what would be done or was found, and its estimated cost."""

from __future__ import annotations

from orchestrator.agents.text import counted
from orchestrator.state import RunState, Step, StepStatus

#: below this an estimate says no more than that it is little
_LITTLE_CORE_HOURS = 0.01


def plan_text(state: RunState, jobs: int, core_seconds: float | None) -> str:
    """Ask about a plan: each step, how many jobs, and what they cost together."""
    lines = [f"{s.number}. {s.description} ({s.agent})" for s in state.plan.steps]
    head = f"plan of {counted(len(lines), 'step')}, {counted(jobs, 'job')}, {_hours(core_seconds)}: {state.plan.title}"
    return "\n".join([head, *lines])


def cost_text(step: Step) -> str:
    """Ask about the newest frozen batch of a step."""
    batch = step.batches[-1]
    jobs = counted(batch.manifest.count, "job")
    return f"step {step.number}, {step.description}: {jobs}, {_hours(batch.core_seconds)}"


def review_text(state: RunState) -> str:
    """Ask about results: what each step found out, and what failed."""
    lines = [f"{f.step}. {f.summary}" for f in state.findings]
    lines += [f"{s.number}. failed: {s.error}" for s in state.plan.steps if s.status is StepStatus.FAILED]
    after = f" after {counted(state.iteration, 'revision')}" if state.iteration else ""
    return "\n".join([f"results{after}, before the report", *lines])


def _hours(core_seconds: float | None) -> str:
    if core_seconds is None:
        return "at a cost that is not known"
    hours = core_seconds / 3600
    return (
        f"about {hours:.2g} core hours" if hours >= _LITTLE_CORE_HOURS else f"less than {_LITTLE_CORE_HOURS} core hours"
    )
