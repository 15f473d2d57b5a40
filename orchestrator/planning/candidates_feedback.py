"""Feedback that wants another number of a swarm's candidates: of those to come, or of those that were found."""

from __future__ import annotations

import re

from orchestrator.planning.design import the_best
from orchestrator.state import Plan, Species, Step, StepStatus
from tasks.errors import InputError

_THE_BEST = re.compile(r"\bthe best (?:\d+ candidates|candidate)\b")


def fewer(plan: Plan, species: tuple[Species, ...], candidates: int, iteration: int) -> Plan:
    """Give the plan in which the pending steps of an iteration are about so many of a swarm's candidates.

    Raises
    ------
    InputError
        If the plan has no swarm, or its swarm is not run anew and has handed on fewer.
    """
    swarm = next((step for step in plan.steps if step.goal.swarm is not None), None)
    if swarm is None:
        remedy = "Name the molecules in a run of its own."
        raise InputError("feedback", candidates, "candidates are wanted of a plan without a swarm", remedy)
    found = sum(one.found_by == swarm.number for one in species)
    runs_anew = swarm.status is StepStatus.PENDING
    if not runs_anew and candidates > found:
        remedy = f"Ask for {found} or fewer, or revise step {swarm.number}, which searches them."
        raise InputError("candidates", candidates, f"are more than the {found} that the swarm handed on", remedy)
    for step in plan.steps:
        if step.status is not StepStatus.PENDING or step.iteration != iteration or not _is_about(step, swarm, plan):
            continue
        goal = step.goal.model_copy(update={"candidates": candidates, "best": None if step is swarm else candidates})
        description = _THE_BEST.sub(the_best(candidates), step.description)
        plan = plan.replace(step.model_copy(update={"goal": goal, "description": description}))
    return plan


def _is_about(step: Step, swarm: Step, plan: Plan) -> bool:
    """Tell whether a step works on what a swarm finds: it says so, or it depends on it in a plan that has only it."""
    if step.goal.molecules:
        return False
    reached = {swarm.number}
    for one in plan.steps:
        reached |= {one.number} if reached & set(one.depends_on) else set()
    return step.number in reached and step.agent not in ("summary_agent", "rag_agent", "web_search_agent")
