"""What the planner is given, and what it gives: plain values, since it works in a process of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

from orchestrator.asking import Options, Question
from orchestrator.state import Decision, LookedUp, Plan, Species


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request with what its caller chose, and what people have answered since.

    Attributes
    ----------
    max_atoms
        The largest molecule that is accepted (``Settings.max_atoms``).
    agent
        The agent that was named, by the caller, by an answer or by a language model; empty: the rules decide.
    answers
        Answered questions of the run, the oldest first.
    active
        The plan that the run has already; while steps are left in it, it goes on unchanged.
    relaxed
        Of a part of a request: the level at which a part before it optimises its molecules; empty: none does.
    history
        What was said before, bounded, for a language model that reads the request; the rules do not look at it.
    pubchem_url
        Where names are looked up that the table does not have (``Settings.pubchem_url``); empty: nowhere.
    looked_up
        What was looked up before for this request.
    """

    text: str
    max_atoms: int = 400
    options: Options = field(default_factory=Options)
    agent: str = ""
    answers: tuple[Question, ...] = ()
    active: Plan | None = None
    relaxed: str = ""
    history: str = ""
    pubchem_url: str = ""
    looked_up: tuple[LookedUp, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Planned:
    """What became of a request: a plan, a question that only a person can answer, or an answer at once.

    Attributes
    ----------
    answer
        Of a request that needs no agent, such as a greeting; the plan is then empty.
    looked_up
        Molecules whose names were looked up; they stay in the run's state.
    """

    decision: Decision
    plan: Plan = field(default_factory=Plan)
    species: tuple[Species, ...] = ()
    question: Question | None = None
    answer: str = ""
    looked_up: tuple[LookedUp, ...] = ()
