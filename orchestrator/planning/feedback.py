"""What a person wants changed in a plan, in words: other levels of theory, solvents, swarms, resources.

Only the steps that are done anew are changed, and each only in what the words name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from orchestrator.planning.candidates_feedback import fewer
from orchestrator.planning.clusters import TAKES
from orchestrator.planning.conditions import take_conditions
from orchestrator.planning.design import read_candidates, read_counts, usual_candidate, without_counts
from orchestrator.planning.dynamics import AT_STRUCTURES, at_structures, plan_dynamics
from orchestrator.planning.dynamics_feedback import reworded, unread_by_simulations, without_conditions
from orchestrator.planning.dynamics_refusals import refuse_wishes
from orchestrator.planning.feedback_unread import refuse_unread, refuse_unused
from orchestrator.planning.levels import Level, in_gas_phase, is_tight_binding, read_level, take_solvent
from orchestrator.planning.molecules import knowing_sources
from orchestrator.planning.specs import is_cluster, spec_for
from orchestrator.planning.unread import Unread
from orchestrator.state import SUMMARY, Goal, Plan, Species, Step, StepStatus, molecules_of
from tasks.errors import InputError
from tasks.methods import find_basis
from tasks.units import memory_mb

_REMEDY = (
    "Name what is to be different: a level ('PBE0/def2-TZVP'), a solvent ('in methanol'), a temperature, cores or"
    " memory, of a simulation its lengths of time, or of a swarm its particles, steps, seed or how many of its best"
    " candidates; or say 'again' to have it done anew as it was."
)
_AGAIN = re.compile(r"\b(?:again|anew|repeat|redo|rerun|once more)\b", re.IGNORECASE)
_CORES = re.compile(r"(?<![\w.])(\d+)[\s-]+(?:cpu\s+)?cores?\b", re.IGNORECASE)
_MEMORY = re.compile(r"\b\d+(?:\.\d+)?\s*[GMT]i?B\b", re.IGNORECASE)


def revise_plan(
    plan: Plan, species: tuple[Species, ...], feedback: str, iteration: int, request: str, max_atoms: int
) -> Plan:
    """Give the plan with the pending steps of an iteration changed as the feedback says.

    Raises
    ------
    InputError
        If it names nothing that can be changed, or what it names cannot be used.
    """
    pending = [one for one in plan.steps if one.status is StepStatus.PENDING and one.iteration == iteration]
    simulates = any(step.agent == "md_agent" for step in pending)
    thermal = any(step.goal.task.endswith("frequencies") for step in pending)
    if simulates:
        refuse_wishes(feedback)
    # Of a plan without thermochemistry all temperatures and pressures are the simulation's.
    conditions, rest = take_conditions(without_conditions(feedback) if simulates and not thermal else feedback)
    solvent, rest = take_solvent(rest)
    if in_gas_phase(rest):
        solvent = ""
    counts, candidates = read_counts(rest), read_candidates(rest)
    level, rest = read_level(rest)
    resources: dict[str, Any] = {}
    if cores := _CORES.search(rest):
        resources["cores"] = int(cores[1])
    if memory := _MEMORY.search(rest):
        resources["memory_mb"] = memory_mb(memory[0], "feedback")
    changed = plan if candidates is None else fewer(plan, species, candidates, iteration)
    for step in changed.steps:
        if step.status is not StepStatus.PENDING or step.iteration != iteration:
            continue
        if step.agent == "md_agent":
            changed = changed.replace(_simulation(step, species, request, feedback, max_atoms, plan))
            continue
        goal = _changed(step, level, solvent, counts)
        if step.agent in ("qm_agent", "multiwfn_agent"):
            goal = goal.model_copy(update=resources)
        if step.agent == "qm_agent":
            goal = _under(goal, conditions.temperature_kelvin, conditions.pressure_pascal, conditions.solvent_model)
        if goal != step.goal:
            if step.agent == "qm_agent":
                for one in molecules_of(step, species):
                    if not is_cluster(one):
                        spec_for(one, goal)  # so that a level that contradicts itself is refused here
            description = _described(step, goal)
            changed = changed.replace(step.model_copy(update={"goal": goal, "description": description}))
    changed = _with_protocols(plan, changed)
    _refuse_what_no_step_takes(feedback, [changed.step(one.number) for one in pending], species)
    if changed == plan and not _AGAIN.search(feedback):
        raise InputError("feedback", feedback, "names nothing that can be changed in these steps", _REMEDY)
    return changed


def _with_protocols(before: Plan, after: Plan) -> Plan:
    """Give a changed plan in which the steps and the report name the levels at which it is computed now."""
    goals = [(before.step(step.number).goal, step.goal) for step in after.steps if step.agent == "qm_agent"]
    words = {_level(old): _level(new) for old, new in goals if _level(old) != _level(new)}
    moved = any((old.solvent, old.solvent_model) != (new.solvent, new.solvent_model) for old, new in goals)
    last = goals[-1][1] if goals else Goal()
    model = f" ({last.solvent_model})" if last.solvent_model else ""
    where = f" in {last.solvent}{model}" if last.solvent else ""

    def reworded(protocol: str) -> str:
        levels, _, solvent = protocol.partition(" in ")
        levels = "//".join(words.get(part, part) for part in levels.split("//"))
        return levels + (where if moved else f" in {solvent}" if solvent else "")

    for step in after.steps:
        if step.status is StepStatus.PENDING and step.goal.protocol:
            parts = "; ".join(reworded(part) for part in step.goal.protocol.split("; "))
            after = after.replace(step.model_copy(update={"goal": step.goal.model_copy(update={"protocol": parts})}))
    return after


def _refuse_what_no_step_takes(feedback: str, steps: Sequence[Step], species: tuple[Species, ...]) -> None:
    """Raise InputError for what of a feedback is in none of the steps, which are those after the change."""
    agents = {step.agent for step in steps}
    unread = unread_by_simulations(feedback) if "md_agent" in agents else Unread(feedback)
    if "hem_agent" in agents or any(step.goal.best is not None for step in steps):
        unread = Unread(without_counts(unread.text), feedback)
    if agents & {"qm_agent", "multiwfn_agent"}:
        for pattern in (_CORES, _MEMORY):
            unread.take(pattern)
    if "qm_agent" in agents:
        conditions, rest = take_conditions(unread.text)
        solvent, rest = take_solvent(rest)
        level, rest = read_level(rest)
        asked: dict[str, object] = {
            "temperature_kelvin": conditions.temperature_kelvin,
            "pressure_pascal": conditions.pressure_pascal,
            "solvent_model": conditions.solvent_model,
            "solvent": solvent,
            "method": level.method,
            "basis": find_basis(level.basis) if level.basis else None,
            "dispersion": level.dispersion,
            "engine": None if level.engine == "auto" else level.engine,
        }
        refuse_unused(asked, steps, _REMEDY)
        refuse_unused({"method": level.geometry_method}, steps, _REMEDY)
        unread = Unread(rest, feedback)
    mine = {one.smiles: one for step in steps if step.agent != SUMMARY for one in molecules_of(step, species)}
    refuse_unread(unread, steps, tuple(mine.values()), _REMEDY)


def _simulation(
    step: Step, species: tuple[Species, ...], request: str, feedback: str, max_atoms: int, whole: Plan
) -> Step:
    """Give a step of molecular dynamics with its words changed; its specs are read from them."""
    before = step.goal.query or request
    query = reworded(before, feedback)
    if query == before:
        return step
    own = molecules_of(step, species)
    found: tuple[Species, ...] = ()
    if step.goal.molecules_step is not None:
        swarms = [one.goal.swarm for one in whole.steps if one.goal.swarm is not None]
        found = own = own or tuple(usual_candidate(swarm) for swarm in swarms)
    with knowing_sources(species):
        plan, named = plan_dynamics(query, max_atoms, found)
    if {one.smiles for one in named} != {one.smiles for one in own}:
        remedy = "Change its numbers only, or make a run of its own for other molecules."
        raise InputError("feedback", feedback, "names other molecules than the plan has", remedy)
    described = next(one.description for one in plan.steps if one.agent == "md_agent")
    if step.goal.cluster is not None:
        described += step.description[step.description.index(TAKES) :].partition(AT_STRUCTURES)[0]
    if step.goal.geometry_step is not None:
        described += at_structures(step.goal.geometry_step)
    return step.model_copy(update={"goal": step.goal.model_copy(update={"query": query}), "description": described})


def _changed(step: Step, level: Level, solvent: str | None, counts: dict[str, int]) -> Goal:
    goal = step.goal
    if goal.swarm is not None:
        return goal.model_copy(update={"swarm": goal.swarm.model_validate({**goal.swarm.model_dump(), **counts})})
    if step.agent != "qm_agent":
        return goal
    values: dict[str, Any] = {}
    tight = is_tight_binding(goal.method)
    # A step that only relaxes by tight binding goes on doing so, unless tight binding is what was named.
    if level.method and (not tight or is_tight_binding(level.method)):
        values["method"] = level.method
        values["basis"] = (
            None if is_tight_binding(level.method) else find_basis(level.basis or goal.basis or "def2-SVP")
        )
        values["dispersion"] = level.dispersion
        values["engine"] = level.engine
    elif level.basis and not tight:
        values["basis"] = find_basis(level.basis)
    if (level.dispersion or level.without_dispersion) and not tight:
        values["dispersion"] = level.dispersion
    if solvent is not None:
        values |= {"solvent": solvent} if solvent else {"solvent": None, "solvent_model": None}
    return goal.model_copy(update=values)


def _under(goal: Goal, temperature_kelvin: float | None, pressure_pascal: float | None, model: str | None) -> Goal:
    values: dict[str, Any] = {}
    if goal.task.endswith("frequencies"):
        values |= {"temperature_kelvin": temperature_kelvin} if temperature_kelvin is not None else {}
        values |= {"pressure_pascal": pressure_pascal} if pressure_pascal is not None else {}
    if model and is_tight_binding(goal.method) == (model == "ALPB"):
        values["solvent_model"] = model
    return goal.model_copy(update=values)


def _described(step: Step, goal: Goal) -> str:
    """Give the description with what is different now, so that whoever approves it reads it."""
    old, new = _level(step.goal), _level(goal)
    if old != new and old in step.description:
        text = step.description.replace(old, new)
    elif old != new:
        text = f"{step.description} ({new})"
    else:
        text = step.description
    if goal.swarm is not None and step.goal.swarm is not None and goal.swarm != step.goal.swarm:
        swarm, before = goal.swarm, step.goal.swarm
        text = text.replace(f"{before.particles} particles", f"{swarm.particles} particles")
        text = text.replace(f"{before.steps} steps", f"{swarm.steps} steps")
        text += f", seed {swarm.seed}" if swarm.seed != before.seed else ""
    if goal.solvent != step.goal.solvent:
        now = f" in {goal.solvent}" if goal.solvent else ""
        text = text.replace(f" in {step.goal.solvent}", now) if step.goal.solvent else f"{text}{now}"
    return text


def _level(goal: Goal) -> str:
    method = goal.method + {"D3BJ": "-D3(BJ)", "D4": "-D4"}.get(goal.dispersion or "", "")
    return f"{method}/{goal.basis}" if goal.basis else method
