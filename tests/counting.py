"""An agent for tests: its step counts with the declared program `countdown` or `nothing`, in as many jobs as asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from orchestrator.agents.base import Agent, Context, JobResult, Work
from orchestrator.asking import Candidate, Question
from orchestrator.planning.asked import Asked, Planned
from orchestrator.state import SUMMARY, Decision, Finding, Plan, Step
from tasks.errors import InputError
from tasks.specs import parse_spec
from tasks.workspace import write_artifact


def plan_counting(asked: Asked) -> Planned:
    """Plan `count JOBS times to STEPS pausing SECONDS, ROUNDS rounds`, several of them apart by a semicolon.

    `count after a question` asks first. `stumble JOBS times to STEPS …` fails until it was started so often; of several
    jobs only the first does. `late 1 times to SECONDS …` has a walltime of 12 s, and no checkpoint. `refused count …`
    is refused as long as there is no file `right` in the run's folder.
    """
    text = asked.text
    if "question" in text and not asked.agent:
        candidate = Candidate(value="counting_agent", text="counts")
        question = Question(id="route-1", text="Which agent shall count?", candidates=(candidate,))
        return Planned(decision=Decision(reason="nobody knows"), question=question)
    counts = text.split(";")
    steps = tuple(Step(number=n, agent="counting_agent", description=one) for n, one in enumerate(counts, 1))
    before = tuple(step.number for step in steps)
    last = Step(number=len(steps) + 1, agent=SUMMARY, description="sum up", depends_on=before)
    decision = Decision(rule="keyword_route", agent="counting_agent")
    return Planned(decision=decision, plan=Plan(title=text, steps=(*steps, last)))


class CountingAgent(Agent):
    """Counts, in one or more rounds of jobs."""

    name: ClassVar[str] = "counting_agent"
    description: ClassVar[str] = "counts"

    def plan_jobs(self, step: Step, context: Context) -> Work:
        if step.description.strip().startswith("refused") and not (context.folder / "right").exists():
            raise InputError("right", "", "is not there", "Put it there.")
        jobs, steps, pause = (float(x) for x in re.findall(r"[\d.]+", step.description)[:3])
        spec = {"program": "countdown", "parameters": {"steps": int(steps), "pause": pause}}
        if steps == 0:
            spec = {"program": "nothing"}
        specs = [spec] * int(jobs)
        if step.description.strip().startswith("stumble"):
            specs[0] = {"program": "stumble", "parameters": {"steps": int(steps)}}
        if step.description.strip().startswith("late"):
            specs[0] = {"program": "rest", "parameters": {"seconds": steps}, "resources": {"walltime_seconds": 12}}
        return Work(specs=tuple(parse_spec(spec) for spec in specs))

    def interpret(self, step: Step, context: Context, results: Sequence[JobResult]) -> Work:
        rounds = int(re.findall(r"[\d.]+", step.description)[3])
        if len(step.batches) < rounds:
            return self.plan_jobs(step, context)
        states = [result.state for result in results]
        counts = ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states)))
        return Work(finding=Finding(step=step.number, agent=self.name, summary=counts))


class CountingSummary(Agent):
    """Writes the findings down."""

    name: ClassVar[str] = SUMMARY
    description: ClassVar[str] = "sums up"

    def plan_jobs(self, step: Step, context: Context) -> Work:
        text = "; ".join(finding.summary for finding in context.findings)
        report = write_artifact(context.folder / "report.md", text, context.workspace, "report")
        return Work(finding=Finding(step=step.number, agent=self.name, summary=text, artifacts=(report,)))

    def interpret(self, step: Step, context: Context, results: Sequence[JobResult]) -> Work:
        return self.plan_jobs(step, context)


COUNTING: dict[str, Agent] = {agent.name: agent for agent in (CountingAgent(), CountingSummary())}
