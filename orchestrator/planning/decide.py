"""What to do with a request: the decision order, first hit wins, and nothing is guessed.

A greeting is answered at once, whoever may be used. Otherwise: 1. an agent is named, by the caller or by an answer;
2. only one agent may be used; 3. a plan is active: its next step; 4. the request is complex: a plan of several agents;
5. its words point to one agent; 6. a person is asked which, or the request is refused with what would be right.
"""

from __future__ import annotations

from dataclasses import replace

from orchestrator.asking import Candidate, Question
from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS
from orchestrator.planning.asked import Asked, Planned
from orchestrator.planning.complexity import assess
from orchestrator.planning.compound import plan_compound, plan_one, refuse_too_many
from orchestrator.planning.introduction import introduction
from orchestrator.planning.lookups import with_names
from orchestrator.planning.manners import forbidden, is_only_polite
from orchestrator.planning.molecules import find_molecules, to_species
from orchestrator.planning.notations import with_smiles
from orchestrator.planning.plain import plain
from orchestrator.planning.planners import OFFER, Abstained, refuse_others
from orchestrator.planning.request import EXAMPLE, check_length
from orchestrator.planning.router import Route, route
from orchestrator.planning.vocabulary import FIELDS
from orchestrator.planning.words import COMPARE
from orchestrator.state import Decision, Plan, Species

#: the answer to a question that none of its candidates is right
NOBODY = "none"
_MOST_CANDIDATES = 4
#: what is offered for a molecule of which nothing is asked
_USUAL = ("chemistry_agent", "qm_agent", "md_agent", "rag_agent")


def plan_request(asked: Asked) -> Planned:
    """Decide what to do with a request, and plan it; nothing is written or queued.

    Names that nobody knows are looked up where ``asked.pubchem_url`` says; this blocks until there is an answer.

    Raises
    ------
    Abstained
        If nothing may be started for it, or no rule makes anything of it.
    InputError
        If something in the request cannot be used as it is.
    """
    check_length(asked.text)
    return with_names(_plan, replace(asked, text=with_smiles(asked.text, asked.max_atoms)))


def _plan(asked: Asked) -> Planned:
    allowed = asked.options.agents
    if asked.agent == NOBODY:
        decision = Decision(rule="answer", reason="none of the agents was wanted")
        return Planned(decision=decision, answer=f"Nothing was started. {OFFER}")
    chosen = bool(asked.agent) or len(allowed) == 1
    if not chosen and asked.active is not None and (ready := asked.active.ready()):
        reason = f"step {ready[0].number} of the active plan is next"
        return Planned(decision=Decision(rule="active_plan", agent=ready[0].agent, reason=reason), plan=asked.active)
    if why := forbidden(asked.text):
        raise Abstained(asked.text, why, f"Nothing was started. {OFFER}")
    if is_only_polite(asked.text):
        reason = "a greeting, thanks, or a question about Simrelay"
        return Planned(decision=Decision(rule="respond", reason=reason), answer=introduction(asked.text))
    if chosen:
        return _by_choice(asked)
    found = route(asked.text)
    if found.kind == "ask":
        return _undecided(asked, found)
    if found.kind == "plan":
        plan, species = plan_compound(asked, found.clauses)
        decision = Decision(rule="complexity", reason=f"several agents, each by its words ({found.reason})")
    else:
        plan, species = plan_one(found.agents[0], asked)
        decision = _of_one(asked, found.agents[0], found.reason, plan, species)
    if allowed:
        refuse_others(plan, allowed, asked.text)
    refuse_too_many(plan, asked.text)
    return Planned(decision=decision, plan=plan, species=species)


def make_plan(
    request_text: str, max_atoms: int = DEFAULT_MAX_ATOMS, active: Plan | None = None
) -> tuple[Decision, Plan, tuple[Species, ...]]:
    """Plan a request without options.

    Raises
    ------
    Abstained
        Also where a person would be asked.
    InputError
        As ``plan_request``.
    """
    planned = plan_request(Asked(text=request_text, max_atoms=max_atoms, active=active))
    if planned.question:
        names = ", ".join(candidate.value for candidate in planned.question.candidates)
        raise Abstained(request_text, planned.decision.reason, f"Name one: {names}. {OFFER}")
    return planned.decision, planned.plan, planned.species


def _by_choice(asked: Asked) -> Planned:
    """Plan with the agent that was named, or the only one that may be used: there is nothing to decide."""
    agent = asked.agent or asked.options.agents[0]
    answered = any(q.answer == agent and q.id.startswith("route") for q in asked.answers)
    # Who was asked about one part of a request chose for that part only; the others are done too.
    asked_about = asked.agent and asked.agent != asked.options.agent
    found = route(asked.text, agent) if asked_about else Route("agent", (agent,))
    several = found.kind == "plan" and agent in found.agents
    plan, species = plan_compound(asked, found.clauses) if several else plan_one(agent, asked)
    if asked.options.agents or not several:
        refuse_others(plan, asked.options.agents if several else (agent,), asked.text)
    refuse_too_many(plan, asked.text)
    if not asked.agent:
        decision = Decision(rule="single_agent", agent=agent, reason="no other agent may be used")
    elif answered:
        decision = Decision(rule="answer", agent=agent, reason="a person chose it")
    else:
        decision = Decision(rule="named", agent=agent, reason="the caller named it")
    return Planned(decision=decision, plan=plan, species=species)


def _of_one(asked: Asked, agent: str, reason: str, plan: Plan, species: tuple[Species, ...]) -> Decision:
    agents = {step.agent for step in plan.steps}
    if agent in ("chemistry_agent", "qm_agent", "multiwfn_agent"):
        complexity = assess(plain(asked.text).words, len(species))
        if complexity.is_complex and "multiwfn_agent" not in agents:
            return Decision(rule="complexity", reason=complexity.reason)
        # What the planner has read says more than the words that led to it.
        agent = next((one for one in ("multiwfn_agent", "qm_agent") if one in agents), "chemistry_agent")
    return Decision(rule="keyword_route", agent=agent, reason=reason)


def _undecided(asked: Asked, found: Route) -> Planned:
    """Ask which agent is meant, or refuse where no words point to any."""
    species = to_species(find_molecules(asked.text, asked.max_atoms)[0], asked.max_atoms)
    if not found.agents and species and COMPARE.search(plain(asked.text).words):
        plan, species = plan_one("qm_agent", asked)
        return Planned(decision=_of_one(asked, "qm_agent", "compare", plan, species), plan=plan, species=species)
    allowed = asked.options.agents
    candidates = [agent for agent in found.agents or (_USUAL if species else ()) if not allowed or agent in allowed]
    if not candidates:
        problem = "holds no chemistry that Simrelay knows" if not species else "does not say what to do"
        raise Abstained(asked.text, problem, f"{EXAMPLE} {OFFER}")
    what = f"with {', '.join(one.name for one in species)}" if species else "with this request"
    question = Question(
        id="route-1",
        text=f"What shall be done {what}? The request {found.reason.removeprefix('its words ')}.",
        candidates=(
            *(Candidate(value=agent, text=FIELDS[agent].does) for agent in candidates[:_MOST_CANDIDATES]),
            Candidate(value=NOBODY, text="none of these: nothing is started"),
        ),
    )
    return Planned(decision=Decision(rule="abstain", reason=found.reason), question=question, species=species)
