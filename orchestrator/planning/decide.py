"""What to do with a request: the decision order, first hit wins, and nothing is guessed.

1. a plan is active: its next step; 2. the request is complex: a plan of several agents; 3. its keywords name an agent;
4. abstain, saying why and what would be right.
"""

from __future__ import annotations

import re

from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS
from orchestrator.planning.analysis import OFFER as ANALYSES
from orchestrator.planning.analysis import plan_analysis, read_wish
from orchestrator.planning.asked import Asked, Planned
from orchestrator.planning.complexity import assess
from orchestrator.planning.design import decide_design, is_design
from orchestrator.planning.dynamics import is_dynamics, plan_dynamics
from orchestrator.planning.plan import build_plan
from orchestrator.planning.request import EXAMPLE, Request, is_ordinary, read_request
from orchestrator.planning.routing import TARGETS, absent, route
from orchestrator.state import Decision, Plan, Species
from tasks.errors import InputError

_OFFER = (
    "What can be computed now: HOMO, LUMO, gap, energy, dipole moment, Mulliken charges, optimised geometries,"
    " frequencies, enthalpies, entropies and Gibbs energies; formula, mass, charge and 3D structures; the design of"
    f" cations for a backbone by a swarm; molecular dynamics of cations in water. {ANALYSES}"
)


class Abstained(InputError):
    """The rules cannot say what a request asks for, and nothing is guessed."""

    def __init__(self, request: str, problem: str, remedy: str) -> None:
        super().__init__("request", request, problem, remedy)
        #: the decision, for a run's record
        self.decision = Decision(rule="abstain", reason=f"{problem}. {remedy}")


def plan_request(asked: Asked) -> Planned:
    """Decide what to do with a request, and plan it; raises InputError as ``make_plan`` does."""
    decision, plan, species = make_plan(asked.text, asked.max_atoms)
    return Planned(decision=decision, plan=plan, species=species)


def make_plan(
    request_text: str, max_atoms: int = DEFAULT_MAX_ATOMS, active: Plan | None = None
) -> tuple[Decision, Plan, tuple[Species, ...]]:
    """Decide what to do with a request, and plan it; nothing is written or queued.

    Parameters
    ----------
    request_text
        The request in words.
    max_atoms
        The largest molecule that is accepted (``Settings.max_atoms``).
    active
        The plan that the run has already; while steps are left in it, it goes on unchanged.

    Returns
    -------
    decision, plan, species
        Species are named, canonical and checked; their structures are made by the plan's first step.

    Raises
    ------
    Abstained
        If the rules cannot decide.
    InputError
        If something in the request cannot be used as it is.
    """
    if active is not None and (ready := active.ready()):
        agent, number = ready[0].agent, ready[0].number
        decision = Decision(rule="active_plan", agent=agent, reason=f"step {number} of the active plan is next")
        return decision, active, ()
    if is_design(request_text):
        return decide_design(request_text)
    if is_dynamics(request_text):
        return plan_dynamics(request_text, max_atoms)
    if wish := read_wish(request_text):
        decision, plan, species, request = plan_analysis(request_text, wish, max_atoms)
        if request is not None:
            _refuse_impossible(request, absent(route(request.rest)))
        return decision, plan, species
    request = read_request(request_text, max_atoms)
    return decide(request)


def decide(request: Request) -> tuple[Decision, Plan, tuple[Species, ...]]:
    """Decide what to do with a request that was read; raises as ``make_plan``."""
    found = route(request.rest)
    _refuse_impossible(request, absent(found))
    complexity = assess(request.rest, len(request.species))
    if complexity.is_complex:
        decision = Decision(rule="complexity", reason=complexity.reason)
    elif found.agent or request.compare or request.electronic or request.identity:
        # The plan of a quantum request begins with the chemistry step: it gives both, whichever has more words.
        agent = "chemistry_agent" if request.identity and not request.electronic else "qm_agent"
        words = ", ".join(found.words.get(agent, ()))
        decision = Decision(
            rule="keyword_route", agent=agent, reason=f"keywords of {TARGETS[agent][0]}: {words or 'compare'}"
        )
    else:
        raise Abstained(request.text, "does not say what to do", _OFFER)
    return decision, build_plan(request), request.species


def _refuse_impossible(request: Request, missing: list[str]) -> None:
    """Raise Abstained where no plan can give what was asked, or only a part of it."""
    asked = request.electronic or request.identity
    if not request.species and not asked and not missing and not request.not_computed:
        raise Abstained(request.text, "holds no chemistry that Simrelay knows", f"{EXAMPLE} {_OFFER}")
    if missing:
        problem = f"asks for {' and '.join(missing)}, and there is no agent for this yet"
        raise Abstained(request.text, problem, f"{_OFFER} Leave the rest out.")
    if request.not_computed:
        problem = f"asks for {' and '.join(request.not_computed)}, which no agent computes yet"
        raise Abstained(request.text, problem, f"{_OFFER} Leave the rest out.")
    if not request.species:
        word = re.search(r"\b(?:of|for)\s+(?:the\s+|an?\s+)?([A-Za-z][\w\-]*)", request.rest)
        unknown = word is not None and not is_ordinary(word[1])
        known = f" ({word[1]!r} is not in the table of names)" if word and unknown else ""
        remedy = "Name it, or give its SMILES in quotes, for example 'C[N+](C)(C)C'."
        raise Abstained(request.text, f"names no molecule that Simrelay knows{known}", remedy)
    several = len(request.electronic) + len(request.identity) > 1
    if request.compare and len(request.species) < 2 and not several:
        name = request.species[0].name
        raise Abstained(
            request.text, f"compares, but names only one molecule that is known ({name})", "Name at least two."
        )
    if not asked and not request.compare:
        names = ", ".join(one.name for one in request.species)
        raise Abstained(request.text, f"names {names}, but not what to find out", _OFFER)
