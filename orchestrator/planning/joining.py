"""The plans of a request's parts, joined into one graph of steps.

One step identifies all named molecules, and one summary waits for everything. Steps that two parts have in common are
done once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from orchestrator.chemistry.molecules import identify
from orchestrator.chemistry.names import find_names
from orchestrator.planning.asked import Asked
from orchestrator.planning.dynamics import at_structures
from orchestrator.planning.plan import EARLIER
from orchestrator.planning.scoring import SOURCES
from orchestrator.state import SUMMARY, Goal, Plan, Species, Step
from tasks.dynamics import Cluster
from tasks.errors import InputError

CHEMISTRY, DESIGN, QUANTUM, DYNAMICS, ANALYSIS = (
    "chemistry_agent",
    "hem_agent",
    "qm_agent",
    "md_agent",
    "multiwfn_agent",
)


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one planner plans: its clauses' text, and their agents."""

    agents: tuple[str, ...]
    text: str
    #: its own molecules, or those of the part that it speaks of
    species: tuple[Species, ...] = ()
    #: the part whose candidates it works on
    candidates_of: int | None = None
    #: the parts whose results it goes on with
    after: tuple[int, ...] = ()
    #: the quantum part at whose optimised structures its quantum steps and its simulations begin
    structures_of: int | None = None
    #: of a simulation: what the request says is to be taken out of it
    taking: str = ""
    #: the simulation out of whose last frame its molecules are taken, and which they are
    cluster_of: int | None = None
    cluster: Cluster | None = None
    plan: Plan = field(default_factory=Plan)


def _same(before: Species, now: Species) -> Species:
    """Give a molecule of two parts of a request: in the spin state that one of them states, if only one does.

    Raises
    ------
    InputError
        If they state two different ones.
    """
    if before.multiplicity == now.multiplicity:
        return now
    usual = identify(now.smiles, max_atoms=max(now.atoms, 1)).multiplicity
    stated = [one for one in (before, now) if one.multiplicity != usual]
    if len(stated) > 1:
        states = f"{before.multiplicity} and {now.multiplicity}"
        raise InputError("multiplicity", states, f"are both asked for of {now.name}", "Ask for one in one request.")
    return stated[0]


def join(asked: Asked, parts: Sequence[Part]) -> tuple[Plan, tuple[Species, ...]]:
    """Join the plans of all parts."""
    named: dict[str, Species] = {}
    identified: dict[str, None] = {}
    prepared: dict[str, Species] = {}
    for part in parts:
        if part.agents[0] not in SOURCES and part.candidates_of is None and part.cluster_of is None:
            for one in part.species:
                named[one.smiles] = _same(named.get(one.smiles, one), one)
        for step in part.plan.steps:
            if _prepares(step, part):
                identified |= dict.fromkeys(step.goal.properties)
                prepared |= {one.smiles: one for one in part.species}
    steps: list[Step] = []
    species = tuple(named.values())
    if identified:
        names = names_of(tuple(prepared.values())) if len(prepared) <= 4 else f"{len(prepared)} molecules"
        only = tuple(prepared) if prepared.keys() != named.keys() else ()
        goal = Goal(properties=tuple(identified), molecules=only)
        steps.append(Step(number=1, agent=CHEMISTRY, description=f"Identify {names}", goal=goal))
    numbers: list[dict[int, int]] = []
    summaries: list[Goal] = []
    for part in parts:
        mapped: dict[int, int] = {}
        if part.structures_of is not None and (source := optimises(parts[part.structures_of].plan)):
            mapped[EARLIER] = numbers[part.structures_of][source]
        if part.cluster_of is not None:
            (mapped[EARLIER],) = (n for n in numbers[part.cluster_of].values() if steps[n - 1].agent == DYNAMICS)
        for step in part.plan.steps:
            if step.agent == SUMMARY:
                summaries.append(step.goal)
            elif _prepares(step, part):
                mapped[step.number] = 1
            else:
                mapped[step.number] = len(steps) + 1
                made = _renumbered(step, parts, mapped, numbers, species)
                # What two parts have in common, such as an optimisation before two single points, is done once.
                same = next((one for one in steps if _alike(one, made)), None)
                mapped[step.number] = same.number if same else made.number
                steps += [] if same else [made]
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


def _prepares(step: Step, part: Part) -> bool:
    """Tell whether a step only identifies molecules for the steps after it."""
    asked_for = part.agents == (CHEMISTRY,) or bool(step.goal.operations)
    return step.agent == CHEMISTRY and not step.depends_on and not asked_for and part.candidates_of is None


def _renumbered(
    step: Step,
    parts: Sequence[Part],
    mapped: dict[int, int],
    numbers: Sequence[dict[int, int]],
    species: tuple[Species, ...],
) -> Step:
    part = parts[len(numbers)]
    goal = step.goal
    changes: dict[str, object] = {}
    if goal.geometry_step is not None:
        changes["geometry_step"] = mapped[goal.geometry_step]
    needed = (*step.depends_on, *(() if goal.geometry_step is None else (goal.geometry_step,)))
    depends = {mapped[number] for number in needed}
    if part.candidates_of is not None:
        swarm = numbers[part.candidates_of][1]
        depends |= {swarm}
        changes["molecules_step"] = swarm
    elif part.cluster_of is not None:
        depends |= {mapped[EARLIER]}
        changes["molecules_step"] = mapped[EARLIER]
    elif DESIGN in part.agents and goal.swarm is None:
        changes["molecules_step"] = mapped[1]
    elif part.species and part.agents[0] not in SOURCES and part.species != species:
        changes["molecules"] = tuple(one.smiles for one in part.species)
    description = re.sub(r"\bstep (\d+)", lambda m: f"step {mapped[int(m[1])]}", step.description)
    if step.agent == DYNAMICS:
        changes["query"] = part.text
    if step.agent == DYNAMICS and EARLIER in mapped:
        changes["geometry_step"] = mapped[EARLIER]
        depends |= {mapped[EARLIER]}
        description += at_structures(mapped[EARLIER])
    return step.model_copy(
        update={
            "number": mapped[step.number],
            "description": description,
            "depends_on": tuple(sorted(depends)),
            "goal": goal.model_copy(update=changes),
        }
    )


def _alike(one: Step, other: Step) -> bool:
    """Tell whether two quantum steps are the same jobs."""
    return one.agent == other.agent == QUANTUM and one.model_copy(update={"number": other.number}) == other


def _after(
    steps: list[Step], part: Part, numbers: Sequence[dict[int, int]], index: int, identification: int
) -> list[Step]:
    """Let the first steps of a part wait for the last ones of the parts that it goes on with."""
    mine = set(numbers[index].values()) - {identification}
    for other in part.after:
        theirs = set(numbers[other].values()) - {identification} or {identification}
        needed = {n for s in steps if s.number in theirs for n in s.depends_on}
        first = [s for s in steps if s.number in mine - theirs and not set(s.depends_on) & mine]
        for step in first:
            depends = tuple(sorted({*step.depends_on, *(theirs - needed)} - {step.number}))
            steps = [s.model_copy(update={"depends_on": depends}) if s.number == step.number else s for s in steps]
    return steps


def optimises(plan: Plan) -> int | None:
    """Give the last step of a plan that optimises geometries; None: it has none."""
    found = [s.number for s in plan.steps if s.agent == QUANTUM and s.goal.task.startswith("optimisation")]
    return found[-1] if found else None


def names_of(species: Sequence[Species]) -> str:
    """Give the names of molecules as a request can have them."""
    named = [one.name if one.name != one.smiles and find_names(one.name) else f"'{one.smiles}'" for one in species]
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
