"""What a gate asks a person, in words: what would be done or was found, and its estimated cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.phrases import counted
from orchestrator.pricing import Priced, job_words
from orchestrator.state import RunState, Step, StepStatus

#: below this an estimate says no more than that it is little
_LITTLE_CORE_HOURS = 0.01
#: jobs of one step that are shown one by one
_MOST_SHOWN = 20


def plan_text(state: RunState, shown: Sequence[Mapping[str, Any]], cost: Mapping[str, Any]) -> str:
    """Ask about a plan: each step with its jobs, and what they cost together.

    Parameters
    ----------
    shown, cost
        The steps and the total, as ``planning.preview.preview_plan`` gives them.
    """
    lines = []
    for step, row in zip(state.plan.steps, shown, strict=True):
        line, own = f"{step.number}. {step.description} ({step.agent})", row["estimated_cost"]
        lines.append(f"{line}: {_counted_cost(own)}" if own["jobs"] else line)
        jobs = [
            Priced(words=job_words(job["spec"]), core_seconds=job["estimated_cost"]["core_seconds"])
            for job in row["jobs"]
        ]
        lines += _job_lines(jobs) if len(jobs) > 1 else []
    head = f"plan of {counted(len(state.plan.steps), 'step')}, {_counted_cost(cost)}: {state.plan.title}"
    return "\n".join([head, *lines])


def cost_text(step: Step, jobs: Sequence[Priced], limit_core_hours: float) -> str:
    """Ask about the newest frozen batch of a step: each job with its cost, what they cost together, and why it asks."""
    batch = step.batches[-1]
    what = "to repair what failed, " if batch.repairs else ""
    cost = {
        "jobs": batch.manifest.count,
        "core_seconds": sum(job.core_seconds or 0.0 for job in jobs),
        "unknown": sum(job.core_seconds is None for job in jobs),
    }
    why = "a cost that is not known" if cost["unknown"] else f"more than {limit_core_hours:g} core hours"
    head = f"step {step.number}, {step.description}: {what}{_counted_cost(cost)}"
    return "\n".join([head, *_job_lines(jobs), f"It needs an approval: {why}, beyond what was approved so far."])


def review_text(state: RunState) -> str:
    """Ask about results: what each step found out, and what failed."""
    lines = [f"{f.step}. {f.summary}" for f in state.findings]
    lines += [f"{s.number}. failed: {s.error}" for s in state.plan.steps if s.status is StepStatus.FAILED]
    after = f" after {counted(state.iteration, 'revision')}" if state.iteration else ""
    return "\n".join([f"results{after}, before the report", *lines])


def _job_lines(jobs: Sequence[Priced]) -> list[str]:
    lines = [f"   {job.words}: {_hours(job.core_seconds)}" for job in jobs[:_MOST_SHOWN]]
    if left := jobs[_MOST_SHOWN:]:
        known = sum(job.core_seconds or 0.0 for job in left)
        unknown = sum(job.core_seconds is None for job in left)
        lines.append(f"   and {_counted_cost({'jobs': len(left), 'core_seconds': known, 'unknown': unknown}, ' more')}")
    return lines


def _counted_cost(cost: Mapping[str, Any], more: str = "") -> str:
    """Say how many jobs there are and what they cost: what is not known is not passed over."""
    jobs, unknown = cost["jobs"], cost["unknown"]
    number = f"{jobs}{more} {'job' if jobs == 1 else 'jobs'}"
    if unknown == jobs and jobs:
        return f"{number} at a cost that is not known"
    total = f"{number}, {_hours(cost['core_seconds'])}"
    return f"{total} and {counted(unknown, 'job')} among them at a cost that is not known" if unknown else total


def _hours(core_seconds: float | None) -> str:
    if core_seconds is None:
        return "at a cost that is not known"
    hours = core_seconds / 3600
    return (
        f"about {hours:.2g} core hours" if hours >= _LITTLE_CORE_HOURS else f"less than {_LITTLE_CORE_HOURS} core hours"
    )
