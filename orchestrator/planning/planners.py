"""How each agent's part of a request becomes steps: the registry of planners, one entry an agent."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from orchestrator.chemistry.validity import check
from orchestrator.inputs import named_job
from orchestrator.planning.analysis import OFFER as ANALYSES
from orchestrator.planning.analysis import plan_analysis, read_wish
from orchestrator.planning.asked import Asked
from orchestrator.planning.changed import refuse_other_orbitals
from orchestrator.planning.chemistry import beside_dynamics, plan_checking, plan_on_job, read_reactions, read_smiles
from orchestrator.planning.design import plan_design
from orchestrator.planning.dynamics import plan_dynamics
from orchestrator.planning.looking import only_looks
from orchestrator.planning.molecules import Unknown
from orchestrator.planning.plan import DEFAULT_PROPERTIES, build_plan
from orchestrator.planning.request import EXAMPLE, Request, is_ordinary, read_request
from orchestrator.planning.research import LIBRARY, WEB, plan_research
from orchestrator.planning.vocabulary import COSTLY
from orchestrator.state import SUMMARY, Decision, Plan, Species
from tasks.errors import InputError

#: what is found out of a molecule where only the agent was chosen
_SINGLE_POINT = re.compile(r"\bsingle[- ]points?\b", re.IGNORECASE)
_USUAL_IDENTITY = ("formula", "mass", "charge")
_QUOTED = re.compile(r"`([^`\n]{3,200})`|\"([^\"\n]{3,200})\"|“([^”\n]{3,200})”|(?<!\w)'([^'\n]{3,200})'(?!\w)")
_A_NAME = r"(?:the\s+)?(?:(?:molecule|compound|drug|cation|anion)\s+)?([A-Za-z\d\[(][\w\-,()\[\]']*[\w)\]])"
#: where a molecule is named; after "my" or "this" stands no name
_NAMED = (
    re.compile(rf"\b(?:of|for)\s+{_A_NAME}", re.IGNORECASE),
    re.compile(
        rf"\b(?:in|is|are|does|has|draw|depict|render|optimi[sz]e|identify|convert|about|between|compare)\s+{_A_NAME}",
        re.IGNORECASE,
    ),
)
Planner = Callable[[Asked], tuple[Plan, tuple[Species, ...]]]
OFFER = (
    "What can be computed now: HOMO, LUMO, gap, energy, dipole moment, Mulliken charges, optimised geometries,"
    " frequencies, enthalpies, entropies and Gibbs energies; formula, mass, charge and 3D structures; validity,"
    " functional groups, similarity, SELFIES, InChI, IUPAC names and CAS numbers, descriptors, alerts and 2D pictures;"
    f" the design of cations for a backbone by a swarm; molecular dynamics of cations in water. {ANALYSES}"
)
#: whose steps the plan of an agent may hold besides its own: they prepare its work, or follow from it
_HELPERS = {"multiwfn_agent": ("qm_agent",), "hem_agent": ("qm_agent", "multiwfn_agent")}


class Abstained(InputError):
    """The rules cannot say what a request asks for, and nothing is guessed."""

    def __init__(self, request: str, problem: str, remedy: str, unknown: Unknown | None = None) -> None:
        super().__init__("request", request, problem, remedy)
        #: the name that is not known, if that alone is why
        self.unknown = unknown
        #: the decision, for a run's record
        self.decision = Decision(rule="abstain", reason=f"{problem}. {remedy}")


def plan_for(agent: str, asked: Asked) -> tuple[Plan, tuple[Species, ...]]:
    """Let an agent's planner read a request.

    Raises
    ------
    Abstained
        If the request only wants to see or stop something that the agent's jobs are about.
    InputError
        If there is no such agent, or it cannot use the request as it is.
    """
    if agent not in PLANNERS:
        raise InputError("agent", agent, "is no agent that can be asked", f"Known are {', '.join(PLANNERS)}.")
    if agent in COSTLY and (looked := only_looks(asked.text)):
        wish, remedy = looked
        raise Abstained(asked.text, f"wants to {wish}, for which nothing is started", remedy)
    return PLANNERS[agent](asked)


def refuse_others(plan: Plan, agents: tuple[str, ...], request: str) -> None:
    """Raise InputError if a plan needs agents that were not chosen."""
    allowed = {"chemistry_agent", SUMMARY, *agents, *(helper for agent in agents for helper in _HELPERS.get(agent, ()))}
    others = tuple(dict.fromkeys(step.agent for step in plan.steps if step.agent not in allowed))
    if others:
        remedy = f"Allow {' and '.join(others)} too, or ask only for what {' and '.join(agents)} can do."
        raise InputError("request", request, f"needs {' and '.join(others)}, which this run may not use", remedy)


def _quantum(asked: Asked) -> tuple[Plan, tuple[Species, ...]]:
    """Plan what molecules are, what is computed of them, and what is analysed of their orbitals."""
    if wish := read_wish(asked.text):
        plan, species, request = plan_analysis(asked.text, wish, asked.max_atoms, asked.relaxed)
        if request is not None:
            refuse_impossible(request)
        return plan, species
    request = read_request(asked.text, asked.max_atoms)
    refuse_other_orbitals(request.rest)
    if request.species and not request.electronic and not request.identity and not request.operations:
        if _SINGLE_POINT.search(request.rest):
            request = replace(request, electronic=("energy",))
        # Whoever chose the agent for a molecule alone wants what it usually gives.
        elif asked.agent == "chemistry_agent":
            request = replace(request, identity=_USUAL_IDENTITY)
        elif asked.agent == "qm_agent":
            request = replace(request, electronic=DEFAULT_PROPERTIES)
    refuse_impossible(request)
    return build_plan(request, asked.relaxed), request.species


def _chemistry(asked: Asked) -> tuple[Plan, tuple[Species, ...]]:
    if reactions := read_reactions(asked.text):
        return plan_checking(asked, reactions, "balance"), ()
    if (job := named_job(asked.text)) and not read_wish(asked.text):
        return plan_on_job(asked, job), ()
    # What shall be checked need not be valid, which the reading of molecules would refuse.
    smiles = read_smiles(asked.text)
    if smiles and not all(check(one, asked.max_atoms).valid for one in smiles):
        return plan_checking(asked, smiles), ()
    return _quantum(asked)


def _analysis(asked: Asked) -> tuple[Plan, tuple[Species, ...]]:
    if not read_wish(asked.text):
        # "Draw the molecule of the last job" is about no orbitals.
        if job := named_job(asked.text):
            return plan_on_job(asked, job), ()
        problem = "asks for an analysis that no agent does yet, or does not say which"
        raise Abstained(asked.text, problem, ANALYSES)
    return _quantum(asked)


def _design(asked: Asked) -> tuple[Plan, tuple[Species, ...]]:
    return plan_design(asked.text), ()


def _dynamics(asked: Asked) -> tuple[Plan, tuple[Species, ...]]:
    plan, species = plan_dynamics(asked.text, asked.max_atoms)
    # The agent reads the request again, in the words that it was planned with.
    steps = tuple(
        step.model_copy(update={"goal": step.goal.model_copy(update={"query": asked.text})})
        if step.agent == "md_agent"
        else step
        for step in plan.steps
    )
    plan = beside_dynamics(plan.model_copy(update={"steps": steps}), asked.text, len(species))
    return plan, species


def _literature(asked: Asked) -> tuple[Plan, tuple[Species, ...]]:
    return plan_research(asked.text, LIBRARY), ()


def _web(asked: Asked) -> tuple[Plan, tuple[Species, ...]]:
    return plan_research(asked.text, WEB), ()


#: agent -> what reads its requests; a new agent needs an entry here and its words in ``vocabulary``
PLANNERS: dict[str, Planner] = {
    "chemistry_agent": _chemistry,
    "hem_agent": _design,
    "qm_agent": _quantum,
    "md_agent": _dynamics,
    "multiwfn_agent": _analysis,
    "rag_agent": _literature,
    "web_search_agent": _web,
}


def refuse_impossible(request: Request) -> None:
    """Raise Abstained where no quantum plan can give what was asked, or only a part of it."""
    asked = request.electronic or request.identity or request.operations
    if not request.species and not asked and not request.not_computed:
        raise Abstained(request.text, "holds no chemistry that Simrelay knows", f"{EXAMPLE} {OFFER}")
    if request.not_computed:
        problem = f"asks for {' and '.join(request.not_computed)}, which no agent computes yet"
        raise Abstained(request.text, problem, f"{OFFER} Leave the rest out.")
    if not request.species:
        unknown = _unknown_name(request.rest)
        known = f" ({unknown.name!r} is not in the table of names)" if unknown else ""
        remedy = "Name it, or give its SMILES in quotes, for example 'C[N+](C)(C)C'."
        raise Abstained(request.text, f"names no molecule that Simrelay knows{known}", remedy, unknown)
    if "similarity" in request.operations and len(request.species) < 2:
        problem = f"asks for similarity, but names only one molecule that is known ({request.species[0].name})"
        raise Abstained(request.text, problem, "Name at least two.")
    several = len(request.operations) + len(request.electronic) + len(request.identity) > 1
    if request.compare and len(request.species) < 2 and not several:
        name = request.species[0].name
        raise Abstained(
            request.text, f"compares, but names only one molecule that is known ({name})", "Name at least two."
        )
    if not asked and not request.compare:
        names = ", ".join(one.name for one in request.species)
        raise Abstained(request.text, f"names {names}, but not what to find out", OFFER)


def _unknown_name(rest: str) -> Unknown | None:
    """Give what stands where a molecule would: in quotes, or after "of", "for" or a verb; None: only ordinary words."""
    for pattern in (_QUOTED, *_NAMED):
        for match in pattern.finditer(rest):
            group = next(number for number, value in enumerate(match.groups(), 1) if value)
            # "Caffeine's dipole moment"
            word = match[group].removesuffix("'s")
            if pattern is _QUOTED or not is_ordinary(word):
                end = match.start(group) + len(word)
                return Unknown(word, rest[: match.start(group)], rest[end:], whole=pattern is _QUOTED)
    return None
