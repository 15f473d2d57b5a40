"""Planners for tests of the model's part: they tie, refuse, or plan what the counting agent counts."""

from __future__ import annotations

from orchestrator.asking import Candidate, Question
from orchestrator.planning.asked import Asked, Planned
from orchestrator.state import Decision, Goal, Plan, Step
from tasks.errors import InputError
from tests.counting import plan_counting

TIED = "tie"
_COUNT = "count 1 times to 1 pausing 0 in 1 rounds"


def plan_tied(asked: Asked) -> Planned:
    """Plan what begins with ``count``; tie on ``tie``, refuse the rest. A named agent counts, whatever the text is."""
    if asked.agent == "md_agent":
        raise InputError("temperature", "0 K", "is too cold", "Take more.")
    if asked.agent:
        return plan_counting(Asked(text=_COUNT, agent=asked.agent))
    if asked.text.startswith("count"):
        return plan_counting(asked)
    if asked.text.startswith(TIED):
        candidates = (
            Candidate(value="counting_agent", text="counts"),
            Candidate(value="none", text="none of these"),
        )
        question = Question(id="route-1", text="Which agent is it for?", candidates=candidates)
        return Planned(decision=Decision(rule="abstain", reason="a tie"), question=question)
    if asked.text.startswith("basis"):
        raise InputError("basis", "def3", "is not known", "Known is def2-SVP.")
    raise InputError("request", asked.text, "names nothing to count", "Say `count 1 times …`.")


def plan_simulating(asked: Asked) -> Planned:
    """Plan one step of molecular dynamics, whatever is asked."""
    steps = (Step(number=1, agent="md_agent", description="simulate", goal=Goal()),)
    if asked.text.startswith("odd"):
        raise InputError("request", asked.text, "is odd", "Say it plainly.")
    return Planned(decision=Decision(rule="keyword_route", agent="md_agent"), plan=Plan(steps=steps))
