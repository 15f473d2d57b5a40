"""Plans of several agents: each part of a request planned by its agent, and the parts joined into one graph of steps.

A part depends on another only where it needs what that one gives: orbitals, geometries, the best candidates of a swarm.
All others run side by side. Molecules that a part does not name are those of the part that it speaks of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from orchestrator.chemistry.names import find_names
from orchestrator.inputs import NAMED_JOB, named_job
from orchestrator.planning.asked import Asked
from orchestrator.planning.chemistry import operations_on
from orchestrator.planning.clusters import (
    TAKES,
    cluster_species,
    names_cluster,
    read_cluster,
    split_taking,
    without_cluster,
)
from orchestrator.planning.design import BEST, usual_candidate
from orchestrator.planning.dynamics import plan_dynamics, read_dynamics
from orchestrator.planning.joining import (
    ANALYSIS,
    CHEMISTRY,
    DESIGN,
    DYNAMICS,
    QUANTUM,
    Part,
    join,
    names_of,
    optimises,
)
from orchestrator.planning.levels import take_solvent
from orchestrator.planning.molecules import Found, find_molecules, to_species
from orchestrator.planning.plan import EARLIER
from orchestrator.planning.planners import Abstained, plan_for
from orchestrator.planning.router import Clause
from orchestrator.planning.scoring import SOURCES, Scores
from orchestrator.planning.several_levels import parts_by_level
from orchestrator.planning.words import NO_OPTIMISATION, OPTIMISE
from orchestrator.state import Plan, Species
from tasks.errors import InputError

#: the most steps of a plan
MAX_STEPS = 30
#: is planned in place of a molecule that only a simulation finds
_STAND_IN = "'C[N+](C)(C)C'"
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
_BEST = re.compile(BEST, re.IGNORECASE)
_COUNTED = re.compile(r"\b(\d+)\s+of\s+(?:it|them|these|those)\b", re.IGNORECASE)
_IT = re.compile(r"\b(?:it|its|them|their|those|these)\b", re.IGNORECASE)


def plan_one(agent: str, asked: Asked) -> tuple[Plan, tuple[Species, ...]]:
    """Plan a request of one agent; raises as ``plan_compound``.

    Where it names several levels of theory, it has a part for each.
    """
    parts = _by_level(Clause(asked.text, agent, Scores({}, {})), asked)
    return plan_compound(asked, parts) if len(parts) > 1 else plan_for(agent, asked)


def plan_compound(asked: Asked, clauses: Sequence[Clause]) -> tuple[Plan, tuple[Species, ...]]:
    """Plan a request of several agents.

    Raises
    ------
    InputError
        As the planners of its parts; if a part needs what no other gives.
    """
    grouped = _grouped([part for clause in clauses for part in _by_level(clause, asked)])
    if len(grouped) == 1:
        # One planner reads it all, in the words in which it was written.
        return plan_for(_planner(grouped[0]), asked)
    parts: list[Part] = []
    for part in grouped:
        parts.append(_planned(_linked(part, parts, asked), parts, asked))
        if (source := parts[-1].cluster_of) is not None:
            parts[source] = _taken_from(parts[source], parts[-1])
    return join(asked, parts)


def _by_level(clause: Clause, asked: Asked) -> list[Clause]:
    if clause.agent not in (QUANTUM, ANALYSIS) or named_job(clause.text):
        return [clause]
    return [replace(clause, text=text) for text in parts_by_level(clause.text, asked.max_atoms)]


def refuse_too_many(plan: Plan, request: str) -> None:
    """Raise InputError for a plan of more than ``MAX_STEPS`` steps."""
    if len(plan.steps) > MAX_STEPS:
        problem = f"needs {len(plan.steps)} steps, and a plan has at most {MAX_STEPS}"
        raise InputError("request", request, problem, "Ask for its parts one by one.")


def _grouped(clauses: Sequence[Clause]) -> list[Part]:
    """Join clauses that one planner reads together: quantum steps and their analysis, a design and its verification."""
    parts: list[Part] = []
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
            parts.append(Part(agents=(clause.agent,), text=clause.text))
        else:
            old = parts[target]
            agents = tuple(dict.fromkeys((*old.agents, clause.agent)))
            parts[target] = replace(old, agents=agents, text=f"{old.text}, then {clause.text}")
    for i, part in enumerate(parts):
        later = " ".join(one.text for one in parts[i + 1 :])
        if DESIGN in part.agents and not _BEST.search(part.text) and (best := _BEST.search(later)):
            parts[i] = replace(part, text=f"{part.text}, {best[0]}")
        if DYNAMICS in part.agents:
            text, taking = split_taking(part.text)
            parts[i] = replace(part, text=text, taking=taking)
    return parts


def _linked(part: Part, before: Sequence[Part], asked: Asked) -> Part:
    """Give a part with the molecules that it speaks of, and what it goes on with."""
    last = len(before) - 1
    if (simulation := _simulation_before(part, before)) is not None:
        of_a_frame = _FRAME.search(part.text) or names_cluster(part.text)
        if of_a_frame or not _molecules(part.text, QUANTUM):
            return _on_frame(part, before[simulation], simulation, asked)
    after = (last,) if before and _RESULT.search(part.text) else ()
    if named_job(part.text):
        return part
    if own := _molecules(part.text, part.agents[0]):
        linked = replace(part, species=own, after=after)
        # A simulation that names its molecules itself makes their structures, unless it asks for those of before.
        return linked if DYNAMICS in part.agents and not after else _at_structures(linked, before)
    if DESIGN in part.agents:
        return replace(part, after=after)
    for number in range(last, -1, -1):
        source = before[number]
        if DESIGN in source.agents and part.agents[0] not in SOURCES:
            return replace(part, candidates_of=number)
        if part.agents == (CHEMISTRY,) and (job := NAMED_JOB.search(source.text)):
            return replace(part, text=f"{part.text} of {job[0]}")
        if source.species and source.candidates_of is None and source.cluster_of is None:
            if part.agents[0] in SOURCES:
                speaks = bool(_IT.search(part.text))
                return replace(part, text=f"{part.text} ({names_of(source.species)})") if speaks else part
            text = _named(part, source.species)
            return _at_structures(replace(part, text=text, species=source.species, after=after), before)
    return replace(part, after=after)


def _simulation_before(part: Part, before: Sequence[Part]) -> int | None:
    """Give the simulation that a quantum part can take its molecules from: the part before, or that one's own."""
    if not before or part.agents[0] not in (QUANTUM, ANALYSIS):
        return None
    return len(before) - 1 if DYNAMICS in before[-1].agents else before[-1].cluster_of


def _on_frame(part: Part, source: Part, number: int, asked: Asked) -> Part:
    """Let a part work on molecules that are taken out of the last frame of a simulation.

    Raises
    ------
    InputError
        If it is not said which, or there is more than one simulation.
    """
    specs = read_dynamics(source.text, asked.max_atoms).specs
    if len(specs) > 1:
        problem = f"asks for a structure out of a simulation, and there are {len(specs)} of them"
        raise Abstained(asked.text, problem, "Ask for one box at one temperature.")
    cluster = read_cluster(f"{source.taking}. {part.text}", specs[0], asked.text)
    taken = next((s.goal.cluster for s in source.plan.steps if s.goal.cluster), cluster)
    if taken != cluster:
        raise Abstained(asked.text, "asks for two clusters out of one simulation", "Ask for them in two requests.")
    return replace(part, cluster=cluster, cluster_of=number, species=(cluster_species(cluster, specs[0]),))


def _taken_from(source: Part, part: Part) -> Part:
    """Give a simulation that takes out of its last frame what a part works on."""
    names = " and ".join(one.name for one in part.species)
    steps = tuple(
        step.model_copy(
            update={
                "description": f"{step.description}{TAKES}{names} out of its last frame",
                "goal": step.goal.model_copy(update={"cluster": part.cluster}),
            }
        )
        if step.agent == DYNAMICS and step.goal.cluster is None
        else step
        for step in source.plan.steps
    )
    return replace(source, plan=source.plan.model_copy(update={"steps": steps}))


def _named(part: Part, species: Sequence[Species]) -> str:
    """Give the text of a part with the molecules that it speaks of."""
    if DYNAMICS in part.agents and len(species) == 1 and _COUNTED.search(part.text):
        return _COUNTED.sub(lambda match: f"{match[1]} {names_of(species)}", part.text, count=1)
    return f"{part.text} of {names_of(species)}"


def _at_structures(part: Part, before: Sequence[Part]) -> Part:
    """Let a part begin at the structures to which the newest part before it has optimised its molecules.

    A simulation takes those of any quantum part; a quantum part only those that were asked for, and none if it is to
    optimise them itself or says at which geometry it is to be done.
    """
    mine = {one.smiles for one in part.species}
    quantum = DYNAMICS not in part.agents
    if quantum and (part.agents[-1] not in (QUANTUM, ANALYSIS) or _asks_to_optimise(part.text) or "//" in part.text):
        return part
    for number in range(len(before) - 1, -1, -1):
        source = before[number]
        asked = not quantum or _asks_to_optimise(source.text)
        if asked and optimises(source.plan) and mine <= {one.smiles for one in source.species}:
            # It waits for that step alone, not for what else the part computes.
            after = tuple(other for other in part.after if other != number) if quantum else part.after
            return replace(part, structures_of=number, after=after)
    return part


def _asks_to_optimise(text: str) -> bool:
    """Tell whether a text asks for an optimisation; "at the optimised geometry" does not."""
    without = re.sub(
        r"\b(?:optimi[sz]ed|relaxed|minimi[sz]ed)\b", " ", NO_OPTIMISATION.sub(" ", text), flags=re.IGNORECASE
    )
    return bool(OPTIMISE.search(without))


def _planner(part: Part) -> str:
    return DESIGN if DESIGN in part.agents else part.agents[-1]


def _planned(part: Part, before: Sequence[Part], asked: Asked) -> Part:
    """Let the planner of a part read it."""
    if part.cluster_of is not None:
        return replace(part, plan=_on_cluster(part, asked))
    if part.candidates_of is not None:
        return replace(part, plan=_on_candidates(part, before[part.candidates_of].plan, asked))
    relaxed = _level_of(before[part.structures_of].plan) if part.structures_of is not None else ""
    plan, species = plan_for(_planner(part), replace(asked, text=part.text, relaxed=relaxed))
    own = species or (part.species if part.agents[0] in SOURCES else ())
    return replace(part, plan=plan, species=own)


def _on_cluster(part: Part, asked: Asked) -> Plan:
    """Plan a part whose molecule is taken out of a simulation: the first step begins at it as it was there."""
    (one,) = part.species
    text = f"{without_cluster(part.text)} of {_STAND_IN}"
    relaxed = "" if _asks_to_optimise(part.text) else "frame of the MD"
    plan, stand_in = plan_for(_planner(part), replace(asked, text=text, relaxed=relaxed))
    steps = []
    for step in plan.steps:
        description = step.description.replace(stand_in[0].name, one.name)
        description = description.replace("at the geometries of step", "as in the last frame of step")
        goal = step.goal
        if step.agent == QUANTUM and goal.geometry_step is None:
            goal = goal.model_copy(update={"geometry_step": EARLIER})
            description += f", from the last frame of step {EARLIER}"
        depends = tuple(number for number in step.depends_on if plan.step(number).agent != CHEMISTRY)
        if step.agent != CHEMISTRY:
            steps.append(step.model_copy(update={"description": description, "goal": goal, "depends_on": depends}))
    return plan.model_copy(update={"steps": tuple(steps)})


def _level_of(plan: Plan) -> str:
    """Give the level at which a plan optimises last."""
    return next(step.goal.protocol for step in plan.steps if step.number == optimises(plan)).partition(" in ")[0]


def _on_candidates(part: Part, design: Plan, asked: Asked) -> Plan:
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
