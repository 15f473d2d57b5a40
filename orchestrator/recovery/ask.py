"""What recovery tells people: what it asks when it is at its end, and what it says in findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from orchestrator.agents.base import Work
from orchestrator.asking import Candidate, Question
from orchestrator.recovery.classify import FailureEvent
from orchestrator.recovery.record import Action, Recovery, RecoveryStatus
from orchestrator.state import Step

GIVE_UP, AGAIN = "give_up", "again"
#: failed jobs and lines of evidence that a question shows
_MOST_SHOWN = 5

_MEANING: Mapping[Action, str] = {
    Action.RESUME: "go on from the last restart point",
    Action.ENGINE: "compute exactly the same with another program",
    Action.GEOMETRY: "optimise from another conformer",
    Action.RESOURCES: "give it twice the memory or walltime",
    Action.COARSER: "take a smaller basis set or a coarser method; the numbers then mean something else",
}


def question(number: int, step: Step, events: Sequence[FailureEvent], tried: Sequence[Recovery], left: Sequence[Action],
             whole: int) -> Question:  # fmt: skip
    """Give the question about a step whose failure nothing could repair.

    Parameters
    ----------
    tried
        What was done about it.
    left
        Allowed actions that fit, and were not tried.
    whole
        Jobs of the round altogether.
    """
    count = sum(len(event.failed) for event in events)
    lines = [f"step {step.number}, {step.description}: {count} of {whole} jobs failed. What is to be done?"]
    for event in events:
        labels = ", ".join(one.spec.label or one.root for one in event.failed[:_MOST_SHOWN])
        lines.append(f"{labels}: {event.message.rstrip('.')} [{event.error_class}]")
        lines += [f"  {line}" for line in event.failed[0].failure.evidence[:_MOST_SHOWN]]
        lines.append(f"  evidence: job {event.failed[0].job}, attempt {event.failed[0].attempt}")
    lines += [f"tried: {told(recovery)}" for recovery in tried]
    candidates = [Candidate(value=action.value, text=_MEANING[action]) for action in left]
    candidates.append(Candidate(value=Action.SKIP.value, text="go on without what failed"))
    candidates.append(Candidate(value=GIVE_UP, text="let the step fail"))
    return Question(
        id=f"recovery-{number}",
        text="\n".join(lines),
        candidates=tuple(candidates),
        asked_by="recovery",
        step=step.number,
    )


def told(recovery: Recovery) -> str:
    """Say in a line what was done, and what came of it."""
    action = recovery.action.replace("_", " ")
    given = ", ".join(f"{name} {value}" for name, value in recovery.parameters.items())
    by = {"memory": f"remembered from {recovery.chosen_by}", "policy": f"by the policy, {recovery.chosen_by}",
          "person": f"chosen by {recovery.chosen_by}"}.get(recovery.source, "by diagnosis")  # fmt: skip
    what = f"{action}{given and f' ({given})'}, {by}, after {recovery.error_class}"
    if recovery.status is RecoveryStatus.OPEN:
        return f"{what}: not ended"
    return f"{what}: {recovery.status.value}{recovery.report and f' ({recovery.report})'}"


def notes(recoveries: Sequence[Recovery], step: Step) -> tuple[str, ...]:
    """Give what a finding of a step says about its recoveries: what was repaired and how, and what it means."""
    lines = []
    for one in _mine(recoveries, step):
        if one.status in (RecoveryStatus.REPAIRED, RecoveryStatus.FAILED, RecoveryStatus.REJECTED):
            lines.append(f"Recovery of {_jobs(one)}: {told(one)}.")
        if one.status is RecoveryStatus.SHADOW:
            lines.append(f"Recovery (shadow) would have tried {one.action.replace('_', ' ')} on {_jobs(one)}.")
        if one.action is Action.SKIP and one.status is RecoveryStatus.ESCALATED:
            lines.append(f"{one.chosen_by} chose to go on without {_jobs(one)}.")
    return tuple(lines)


def consequences(recoveries: Sequence[Recovery], step: Step) -> tuple[str, ...]:
    """Give sentences on what repaired results mean, for the summary of a finding."""
    mine = [r for r in _mine(recoveries, step) if r.consequence and _gave_results(r)]
    return tuple(f"After a failure {_jobs(r)} {_was(r)} {r.consequence}." for r in mine)


def with_recoveries(work: Work, recoveries: Sequence[Recovery], step: Step) -> Work:
    """Give what an agent made of a round, with what recovery did about it: in the finding, or in the error."""
    lines = notes(recoveries, step)
    if work.finding and lines:
        meant = consequences(recoveries, step)
        deviates = any(r.action is Action.COARSER and _gave_results(r) for r in _mine(recoveries, step))
        summary = work.finding.summary
        if deviates and (asked := step.goal.protocol):
            summary = summary.replace(f"({asked})", f"(asked for at {asked})", 1)
        changes = {
            "notes": (*work.finding.notes, *lines),
            "summary": " ".join((summary, *meant)),
            "deviates": deviates,
        }
        finding = work.finding.model_copy(update=changes)
        return replace(work, finding=finding)
    if work.error and lines:
        return replace(work, error=" ".join((f"{work.error.rstrip('.')}.", *lines)))
    return work


def _mine(recoveries: Sequence[Recovery], step: Step) -> list[Recovery]:
    return [r for r in recoveries if (r.step, r.iteration) == (step.number, step.iteration)]


def _gave_results(recovery: Recovery) -> bool:
    return any(check.name == "succeeded" and check.passed for check in recovery.checks)


def _was(recovery: Recovery) -> str:
    return "were" if recovery.count > 1 else "was"


def _jobs(recovery: Recovery) -> str:
    return recovery.labels[0] if recovery.count == 1 and recovery.labels else f"{recovery.count} jobs"
