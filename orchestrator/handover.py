"""What a step takes over from the steps that it depends on: molecules without foreign failures, and their structures.

Steps run side by side, so what a molecule looks like by now, and whether it failed, is not the same for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestrator.state import Finding, Plan, Species, Step, molecules_of

_FAILED_IN = re.compile(r"step (\d+):")
_IDENTIFIES = "chemistry_agent"


def seen_by(step: Step, plan: Plan, species: tuple[Species, ...]) -> tuple[Species, ...]:
    """Give the molecules that a step is about, failed only where the step itself or one that it depends on failed."""
    before = {step.number, *needed_by(step, plan)}
    return tuple(
        one.model_copy(update={"error": ""})
        if (failed := _FAILED_IN.match(one.error)) and int(failed[1]) not in before
        else one
        for one in molecules_of(step, species)
    )


def needed_by(step: Step, plan: Plan) -> set[int]:
    """Give the numbers of all steps that a step depends on, directly or not."""
    steps = {one.number: one for one in plan.steps}
    needed: set[int] = set()
    new = set(step.depends_on)
    while new:
        needed |= new
        new = {number for one in new for number in steps[one].depends_on if one in steps} - needed
    return needed


def structure_for(one: Species, step: Step, findings: Sequence[Finding]) -> Species:
    """Give a molecule with the structure that a step begins at.

    That is the one which the step named by the goal made, else that of its identification; where neither made any, the
    one that the molecule has.
    """
    source = step.goal.geometry_step
    for finding in reversed(findings):
        if finding.step == source if source is not None else finding.agent == _IDENTIFIES:
            for made in finding.produced:
                if made.smiles == one.smiles and made.geometry is not None:
                    level = made.geometry_level or made.level
                    return one.model_copy(update={"geometry": made.geometry, "geometry_level": level})
    return one
