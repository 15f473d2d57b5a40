"""Plans of several agents: each part of a request planned by its agent, and the parts joined into one graph of steps.

A part depends on another only where it needs what that one gives: orbitals, geometries, the best candidates of a swarm.
All others run side by side. Molecules that a part does not name are those of the part that it speaks of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from orchestrator.chemistry.names import find_names
from orchestrator.inputs import NAMED_JOB, named_job
from orchestrator.planning.asked import Asked
from orchestrator.planning.chemistry import operations_on
from orchestrator.planning.design import usual_candidate
from orchestrator.planning.dynamics import plan_dynamics
from orchestrator.planning.levels import take_solvent
from orchestrator.planning.molecules import Found, find_molecules, to_species
from orchestrator.planning.planners import Abstained, plan_for
from orchestrator.planning.router import SOURCES, Clause
from orchestrator.state import SUMMARY, Goal, Plan, Species, Step
from tasks.errors import InputError

#: the most steps of a plan
MAX_STEPS = 30
CHEMISTRY, DESIGN, QUANTUM, DYNAMICS, ANALYSIS = (
    "chemistry_agent",
    "hem_agent",
    "qm_agent",
    "md_agent",
    "multiwfn_agent",
)
#: a part that goes on with what another one gave, not only with its molecules
_RESULT = re.compile(
    r"\b(?:with|from|at|in|of|on|using|for)\s+(?:that|this|the|its|their|these|those)\s+(?:\w+\s+)?(?:structures?"
    r"|geometr(?:y|ies)|results?|values?"
    r"|configurations?|coordinates|minim(?:um|a)|conformers?)\b|\b(?:reproduce|optimi[sz]ed|relaxed)\b",
    re.IGNORECASE,
)
_FRAME = re.compile(
    r"\b(?:snapshots?|frames?|clusters?\s+from|from\s+(?:it|the\s+(?:trajectory|box"
    r"|simulation)))\b",
    re.IGNORECASE,
)
_BEST = re.compile(r"\b(?:best|top|first)\s+(\d+|two|three|four|five)\b", re.IGNORECASE)
_IT = re.compile(r"\b(?:it|its|them|their|those|these)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class _Part:
    """What one planner plans: its clauses' text, and their agents."""

    agents: tuple[str, ...]
    text: str
    #: its own molecules, or those of the part that it speaks of
    species: tuple[Species, ...] = ()
    #: the part whose candidates it works on
    candidates_of: int | None = None
    #: the parts whose results it goes on with
    after: tuple[int, ...] = ()
    plan: Plan = field(default_factory=Plan)


def plan_compound(asked: Asked, clauses: Sequence[Clause]) -> tuple[Plan, tuple[Species, ...]]:
    """Plan a request of several agents.

    Raises
    ------
    InputError
        As the planners of its parts; if a part needs what no other gives; if there are too many steps.
    """
    grouped = _grouped(clauses)
    if len(grouped) == 1:
        # One planner reads it all, in the words in which it was written.
        return plan_for(_planner(grouped[0]), asked)
    parts: list[_Part] = []
    for part in grouped:
        parts.append(_planned(_linked(part, parts, asked), parts, asked))
    plan, species = _joined(asked, parts)
    refuse_too_many(plan, asked.text)
    return plan, species


def refuse_too_many(plan: Plan, request: str) -> None:
    """Raise InputError for a plan of more than ``MAX_STEPS`` steps."""
    if len(plan.steps) > MAX_STEPS:
        problem = f"needs {len(plan.steps)} steps, and a plan has at most {MAX_STEPS}"
        raise InputError("request", request, problem, "Ask for its parts one by one.")


def _grouped(clauses: Sequence[Clause]) -> list[_Part]:
    """Join clauses that one planner reads together: quantum steps and their analysis, a design and its verification."""
    parts: list[_Part] = []
    for clause in clauses:
        target = None
        if clause.agent in (QUANTUM, ANALYSIS) and not named_job(clause.text):
            own = _molecules(clause.text, clause.agent)
            designs = [i for i, part in enumerate(parts) if DESIGN in part.agents]
            if designs and not own:
                target = designs[-1]
            elif clause.agent == ANALYSIS and parts and QUANTUM in parts[-1].agents:
                theirs = _molecules(parts[-1].text, QUANTUM)
                if not own or not theirs or {one.smiles for one in own} & {one.smiles for one in theirs}:
                    target = len(parts) - 1
        if target is None:
            parts.append(_Part(agents=(clause.agent,), text=clause.text))
        else:
            old = parts[target]
            agents = tuple(dict.fromkeys((*old.agents, clause.agent)))
            parts[target] = replace(old, agents=agents, text=f"{old.text}, then {clause.text}")
    for i, part in enumerate(parts):
        later = " ".join(one.text for one in parts[i + 1 :])
        if DESIGN in part.agents and not _BEST.search(part.text) and (best := _BEST.search(later)):
            parts[i] = replace(part, text=f"{part.text}, {best[0]}")
    return parts


def _linked(part: _Part, before: Sequence[_Part], asked: Asked) -> _Part:
    """Give a part with the molecules that it speaks of, and what it goes on with."""
    last = len(before) - 1
    frames = before and DYNAMICS in before[-1].agents and QUANTUM in part.agents
    if frames and (_FRAME.search(part.text) or not _molecules(part.text, QUANTUM)):
        problem = "asks for a calculation on a structure out of a simulation, which no step hands over yet"
        raise Abstained(asked.text, problem, "Ask for the simulation alone, and name the molecule to be computed.")
    after = (last,) if before and _RESULT.search(part.text) else ()
    if named_job(part.text):
        return part
    if own := _molecules(part.text, part.agents[0]):
        return replace(part, species=own, after=after)
    if DESIGN in part.agents:
        return replace(part, after=after)
    for number in range(last, -1, -1):
        source = before[number]
        if DESIGN in source.agents and part.agents[0] not in SOURCES:
            return replace(part, candidates_of=number)
        if part.agents == (CHEMISTRY,) and (job := NAMED_JOB.search(source.text)):
            return replace(part, text=f"{part.text} of {job[0]}")
        if source.species and source.candidates_of is None:
            if part.agents[0] in SOURCES:
                speaks = bool(_IT.search(part.text))
                return replace(part, text=f"{part.text} ({_names(source.species)})") if speaks else part
            text = f"{part.text} of {_names(source.species)}"
            return replace(part, text=text, species=source.species, after=after)
    return replace(part, after=after)


def _planner(part: _Part) -> str:
    return DESIGN if DESIGN in part.agents else part.agents[-1]


def _planned(part: _Part, before: Sequence[_Part], asked: Asked) -> _Part:
    """Let the planner of a part read it."""
    if part.candidates_of is not None:
        return replace(part, plan=_on_candidates(part, before[part.candidates_of].plan, asked))
    plan, species = plan_for(_planner(part), replace(asked, text=part.text))
    own = species or (part.species if part.agents[0] in SOURCES else ())
    return replace(part, plan=plan, species=own)


def _on_candidates(part: _Part, design: Plan, asked: Asked) -> Plan:
    """Plan a part whose molecules a swarm will find."""
    if part.agents == (CHEMISTRY,):
        operations_on(part.text, next(s.goal.candidates for s in design.steps if s.goal.swarm is not None))
        # Two, so that they can be compared; which they are is not known before the swarm is at its end.
        two = "CCCC[N+](C)(C)C", "C[N+](C)(C)C"
        text = f"{part.text} of '{two[0]}' and '{two[1]}'"
        stand_in = plan_for(CHEMISTRY, replace(asked, text=text))[0]
        description = stand_in.steps[0].description.replace(" and ".join(two), "the best candidates")
        first = stand_in.steps[0].model_copy(update={"description": description})
        return stand_in.model_copy(update={"steps": (first, *stand_in.steps[1:])})
    if part.agents == (DYNAMICS,):
        middle = usual_candidate(next(s.goal.swarm for s in design.steps if s.goal.swarm is not None))
        plan = plan_dynamics(part.text, asked.max_atoms, (middle,))[0]
        # The design identifies its candidates itself.
        return plan.model_copy(
            update={"steps": tuple(s.model_copy(update={"depends_on": ()}) for s in plan.steps if s.agent != CHEMISTRY)}
        )
    remedy = "Ask for their verification by quantum chemistry, their descriptors, or a simulation of them."
    raise Abstained(asked.text, f"asks {part.agents[0]} to work on the candidates of a swarm", remedy)


def _joined(asked: Asked, parts: Sequence[_Part]) -> tuple[Plan, tuple[Species, ...]]:
    """Join the plans of all parts: one step identifies all named molecules, one summary waits for everything."""
    named: dict[str, Species] = {}
    identified: dict[str, None] = {}
    prepared: dict[str, Species] = {}
    for part in parts:
        if part.agents[0] not in SOURCES and part.candidates_of is None:
            named |= {one.smiles: one for one in part.species}
        for step in part.plan.steps:
            if _prepares(step, part):
                identified |= dict.fromkeys(step.goal.properties)
                prepared |= {one.smiles: one for one in part.species}
    steps: list[Step] = []
    species = tuple(named.values())
    if identified:
        names = _names(tuple(prepared.values())) if len(prepared) <= 4 else f"{len(prepared)} molecules"
        only = tuple(prepared) if prepared.keys() != named.keys() else ()
        goal = Goal(properties=tuple(identified), molecules=only)
        steps.append(Step(number=1, agent=CHEMISTRY, description=f"Identify {names}", goal=goal))
    numbers: list[dict[int, int]] = []
    summaries: list[Goal] = []
    for part in parts:
        mapped: dict[int, int] = {}
        for step in part.plan.steps:
            if step.agent == SUMMARY:
                summaries.append(step.goal)
            elif _prepares(step, part):
                mapped[step.number] = 1
            else:
                mapped[step.number] = len(steps) + 1
                steps.append(_renumbered(step, part, mapped, numbers, species))
        numbers.append(mapped)
    for i, part in enumerate(parts):
        steps = _after(steps, part, numbers, i, 1 if identified else 0)
    properties = tuple(dict.fromkeys(p for goal in summaries for p in goal.properties))
    protocols = dict.fromkeys(goal.protocol for goal in summaries if goal.protocol)
    summary = Step(
        number=len(steps) + 1,
        agent=SUMMARY,
        description="Write the report",
        depends_on=tuple(step.number for step in steps),
        goal=Goal(properties=properties, compare=any(g.compare for g in summaries), protocol="; ".join(protocols)),
    )
    title = " ".join(asked.text.split())
    return Plan(title=title if len(title) <= 120 else f"{title[:119]}…", steps=(*steps, summary)), species


def _prepares(step: Step, part: _Part) -> bool:
    """Tell whether a step only identifies molecules for the steps after it."""
    asked_for = part.agents == (CHEMISTRY,) or bool(step.goal.operations)
    return step.agent == CHEMISTRY and not step.depends_on and not asked_for and part.candidates_of is None


def _renumbered(
    step: Step, part: _Part, mapped: dict[int, int], numbers: Sequence[dict[int, int]], species: tuple[Species, ...]
) -> Step:
    goal = step.goal
    changes: dict[str, object] = {}
    if goal.geometry_step is not None:
        changes["geometry_step"] = mapped[goal.geometry_step]
    depends = {mapped[number] for number in step.depends_on}
    if part.candidates_of is not None:
        swarm = numbers[part.candidates_of][1]
        depends |= {swarm}
        changes["molecules_step"] = swarm
    elif DESIGN in part.agents and goal.swarm is None:
        changes["molecules_step"] = mapped[1]
    elif part.species and part.agents[0] not in SOURCES and part.species != species:
        changes["molecules"] = tuple(one.smiles for one in part.species)
    if step.agent == DYNAMICS:
        changes["query"] = part.text
    return step.model_copy(
        update={
            "number": mapped[step.number],
            "description": re.sub(r"\bstep (\d+)", lambda m: f"step {mapped[int(m[1])]}", step.description),
            "depends_on": tuple(sorted(depends)),
            "goal": goal.model_copy(update=changes),
        }
    )


def _after(
    steps: list[Step], part: _Part, numbers: Sequence[dict[int, int]], index: int, identification: int
) -> list[Step]:
    """Let the first steps of a part wait for the last ones of the parts that it goes on with."""
    mine = set(numbers[index].values()) - {identification}
    for other in part.after:
        theirs = set(numbers[other].values()) - {identification} or {identification}
        needed = {n for s in steps if s.number in theirs for n in s.depends_on}
        first = [s for s in steps if s.number in mine and not set(s.depends_on) & mine]
        for step in first:
            depends = tuple(sorted({*step.depends_on, *(theirs - needed)} - {step.number}))
            steps = [s.model_copy(update={"depends_on": depends}) if s.number == step.number else s for s in steps]
    return steps


def _molecules(text: str, agent: str) -> tuple[Species, ...]:
    """Give the molecules that a part names; solvents, counter-ions and what cannot be read are none."""
    _, rest = take_solvent(text)
    try:
        found, _ = find_molecules(rest)
    except InputError:
        found = [Found(m.start, m.end, m.named.name, m.named.smiles, m.named.kind) for m in find_names(rest)]
    real = [one for one in found if not re.search(rf"\bin\s+{re.escape(rest[one.start : one.end])}$", rest[: one.end])]
    if agent == DYNAMICS or any(one.kind == "cation" for one in real):
        real = [one for one in real if one.kind != "anion"]
    if agent == DYNAMICS:
        real = [one for one in real if one.name != "water"]
    return to_species(real)


def _names(species: Sequence[Species]) -> str:
    named = [one.name if one.name != one.smiles and find_names(one.name) else f"'{one.smiles}'" for one in species]
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
