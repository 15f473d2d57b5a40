"""The agents of the kept runs: a first step that counts in five jobs, a second that counts in one with more memory."""

from __future__ import annotations

from typing import ClassVar

from orchestrator.agents.base import Agent, Context, Work
from orchestrator.planning.asked import Asked, Planned
from orchestrator.state import SUMMARY, Decision, Goal, Plan, Step
from tasks.specs import parse_spec
from tests.counting import CountingAgent, CountingSummary

#: what the second step's job asks for
MEMORY_MB = 3072
COUNT = {"program": "countdown", "parameters": {"steps": 80, "pause": 0.1}}


def plan_two_steps(asked: Asked) -> Planned:
    """Plan both steps, whatever is asked."""
    steps = (
        Step(number=1, agent="counting_agent", description="five in 1 round: 0 0 0 1"),
        Step(
            number=2,
            agent="counting_agent",
            description="one in 1 round: 0 0 0 1",
            depends_on=(1,),
            goal=Goal(cores=1, memory_mb=MEMORY_MB),
        ),
        Step(number=3, agent=SUMMARY, description="sum up", depends_on=(1, 2)),
    )
    decision = Decision(rule="keyword_route", agent="counting_agent")
    return Planned(decision=decision, plan=Plan(title=asked.text, steps=steps))


class TwoSteps(CountingAgent):
    """Counts in five jobs in the first step, and in one with the memory of its goal in the second."""

    name: ClassVar[str] = "counting_agent"

    def plan_jobs(self, step: Step, context: Context) -> Work:
        if step.number == 1:
            return Work(specs=tuple(parse_spec(spec) for spec in ({"program": "nothing"}, COUNT, COUNT, COUNT, COUNT)))
        resources = {"memory_mb": step.goal.memory_mb} if step.goal.memory_mb else {}
        return Work(specs=(parse_spec({"program": "nothing", "resources": resources}),))


AGENTS: dict[str, Agent] = {agent.name: agent for agent in (TwoSteps(), CountingSummary())}
