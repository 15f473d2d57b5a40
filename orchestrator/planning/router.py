"""Which agents a request is for, by its words alone: scored, with the words that were found; nothing on a tie.

A compound request is routed clause by clause. What would start jobs needs more than the others: words enough, no other
agent nearly as strong, and a sentence that asks.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from orchestrator.chemistry.names import find_names
from orchestrator.planning import manners
from orchestrator.planning.clauses import is_bare_verb, phrases, split
from orchestrator.planning.lexicon import PHRASE, TOOL, TOPIC
from orchestrator.planning.molecules import looks_like_smiles
from orchestrator.planning.scoring import SOURCES, Scores, score
from orchestrator.planning.sentences import only_tells
from orchestrator.planning.vocabulary import COSTLY, DOING, LOOKING

#: what the words of a clause must weigh to be a part of a plan
ENOUGH = 2.0
#: whose work the plan of an agent begins with, so that its words say nothing against that agent
_HELPERS = {"qm_agent": ("chemistry_agent",), "multiwfn_agent": ("chemistry_agent", "qm_agent")}
_ORDER = ("web_search_agent", "rag_agent", "chemistry_agent", "hem_agent", "qm_agent", "md_agent", "multiwfn_agent")
#: which agent's work may follow whose within one clause
_GOES_ON = frozenset(
    {(one, other) for one, other in itertools.combinations(_ORDER, 2) if (one, other) != ("md_agent", "multiwfn_agent")}
    | {(one, source) for one in _ORDER for source in SOURCES if one != source}
    | {("hem_agent", "chemistry_agent")}
)
#: what a design is judged by
_OBJECTIVE = re.compile(
    r"(?:ion(?:ic)? )?conductivit\w+|water uptake|swell\w*|stabilit\w+|mobilit\w+|transport|diffus\w+", re.IGNORECASE
)
_JUDGED = r"molar\s+mass(?:es)?|molecular\s+weights?|mw|lumos?|gaps?|barriers?|log\s?p|kcal(?:/mol)?|ev"
_PROGRAM = re.compile(
    r"orca|x-?tb|pyscf|psi4|nwchem|gaussian|gromacs|gmx|lammps|openmm|multiwfn|dft|md|pso", re.IGNORECASE
)
#: words of other agents that say nothing against one
_POLYMER = re.compile(
    r"\w{2,4}_bb\w*|backbones?|membranes?|ionomers?|[ah]ems?|(?:anion|hydroxide)[- ]exchange|poly\w+", re.IGNORECASE
)
_SHARED = {
    "md_agent": _POLYMER,
    "hem_agent": re.compile(rf"{_OBJECTIVE.pattern}|{_JUDGED}|(?:re)?optimi[sz]\w*", re.IGNORECASE),
    "rag_agent": _PROGRAM,
    "web_search_agent": _PROGRAM,
}
#: a wish for a value is no request to compute it
_BOUND = re.compile(
    r"[<>≤≥]|\b(?:below|above|under|over|at\s+(?:least|most)|between|less\s+than|more\s+than|greater|high\w*|low\w*|maxim\w+"
    r"|minim[ai]\w*)\b",
    re.IGNORECASE,
)
#: what is asked of something that was said elsewhere
_OF_IT = re.compile(
    r"\b(?:of|for|on|with)\s+(?:it|this|that|them|these|those|both)\W*$|^\W*(?:and\s+)?(?:what|how)\s+about\s+(?:the\s+)?\w+\W*$",
    re.IGNORECASE,
)
#: "look it up online": where to find what was asked before
_WHERE = re.compile(
    r"^\W*(?:please\s+|just\s+|only\s+|for\s+now\s+)*(?:look|google|search|check|use|consult|ask)\b(?!.*\b(?:compar\w+|whether|if"
    r"|what|which|for\s+\w+)\b)(?:\W+\w+){1,6}\W*$",
    re.IGNORECASE,
)
#: said of the whole request
_RUNS_NOTHING = re.compile(
    r"\bnothing\s+(?:(?:is|has|needs)\s+)?(?:to\s+be|should\s+be|shall\s+be|must\s+be)\s+"
    r"(?:run|started|computed|calculated|simulated|submitted|queued)\b"
    r"|\b(?:run|start|compute|calculate|simulate|submit|queue)\s+nothing\b"
    r"|\b(?:no|without\s+(?:any|running(?:\s+any)?))\s+(?:new\s+|actual\s+)?(?:calculations?|simulations?|computations?|jobs)\b"
    r"(?!\s+(?:of|on|with|at|yet|so\s+far))",
    re.IGNORECASE,
)
Kind = Literal["agent", "plan", "respond", "refuse", "ask"]


@dataclass(frozen=True)
class Clause:
    """A part of a request, and the agent whose work it is."""

    text: str
    agent: str
    scores: Scores


@dataclass(frozen=True)
class Route:
    """Where the words of a request point.

    Attributes
    ----------
    kind
        ``agent``: one agent's work; ``plan``: several agents'; ``respond``: answered at once; ``refuse``: nothing is
        started; ``ask``: the words do not decide.
    agents
        In the order of the work; of ``ask`` the candidates.
    reason
        Which words decided, or why nothing did.
    clauses
        Of a plan.
    """

    kind: Kind
    agents: tuple[str, ...] = ()
    reason: str = ""
    scores: Scores = field(default_factory=lambda: Scores({}, {}))
    clauses: tuple[Clause, ...] = ()


def route(text: str, preferred: str = "") -> Route:
    """Say which agents a request is for, without reading its molecules or parameters.

    Parameters
    ----------
    preferred
        The agent that a person chose where the words left several: it wins ties.
    """
    found = _route(text, preferred)
    if not COSTLY & set(found.agents) or found.kind not in ("agent", "plan") or not _RUNS_NOTHING.search(text):
        return found
    weights = {agent: weight for agent, weight in found.scores.weights.items() if agent not in COSTLY}
    scores = Scores(weights, found.scores.words, found.scores.named - COSTLY)
    if len(scores.leaders) == 1 and weights[scores.leaders[0]] >= ENOUGH:
        said = ", ".join(scores.words[scores.leaders[0]])
        return Route("agent", scores.leaders, f"nothing is to be run; words of {scores.leaders[0]}: {said}", scores)
    return Route("ask", _candidates(scores), "says that nothing is to be run", scores)


def _route(text: str, preferred: str) -> Route:
    if why := manners.forbidden(text):
        return Route("refuse", reason=why)
    text = manners.tidied(text)
    if manners.is_only_polite(text):
        return Route("respond", reason="a greeting, thanks, or a question about Simrelay")
    if manners.beyond(text):
        return Route("ask", reason="asks for work that no agent does")
    text = manners.without_manners(text)
    clauses = _clauses(text)
    parts, undecided = _parts(clauses, preferred)
    if undecided is not None:
        return Route("ask", undecided.leaders, _alike(undecided), score(text))
    agents = tuple(dict.fromkeys(part.agent for part in parts))
    if len(agents) > 1:
        reason = "; ".join(f"{part.agent}: {', '.join(part.scores.words[part.agent])}" for part in parts)
        return Route("plan", agents, reason, score(text), parts)
    whole = _merged([score(clause) for clause in clauses])
    leaders = _settled(whole, preferred)
    if not leaders:
        return Route("ask", reason="does not say what to do", scores=whole)
    if leaders == (preferred,):
        return Route("agent", leaders, f"a person chose {preferred}", whole)
    if len(leaders) > 1 or _opposed(whole, leaders[0]):
        return Route("ask", _candidates(whole)[: max(2, len(leaders))], _alike(whole), whole)
    words = ", ".join(whole.words[leaders[0]])
    cheap = leaders == ("chemistry_agent",) and _names_molecule(text)
    if whole.weights[leaders[0]] < ENOUGH and not cheap:
        return Route("ask", _candidates(whole), f"hardly says what to do ({words})", whole)
    if leaders[0] in COSTLY and (is_bare_verb(text) or (whole.weights[leaders[0]] <= PHRASE and _OF_IT.search(text))):
        return Route("ask", leaders, f"does not say to what ({words})", whole)
    if all(map(only_tells, clauses)):
        return Route("ask", leaders, f"tells something ({words}), and asks for nothing", whole)
    return Route("agent", leaders, f"words of {leaders[0]}: {words}", whole)


def _names_molecule(text: str) -> bool:
    return bool(find_names(text)) or any(
        looks_like_smiles(word.strip("().:?!'\"")) for word in re.split(r"[\s,;]+", text)
    )


def _opposed(scores: Scores, leader: str) -> bool:
    """Tell whether another agent's words are so strong that the leader's lead is no decision."""
    rival = max((scores.weights[agent] for agent in _against(scores, leader)), default=0.0)
    lead = scores.weights[leader] - rival
    if leader in SOURCES and leader in scores.named:
        return False
    return (rival >= TOOL and lead < PHRASE) or (leader in COSTLY and rival >= PHRASE and lead <= TOPIC)


def _against(scores: Scores, leader: str) -> list[str]:
    """Give the other agents whose words are more than what the leader's own requests hold too."""
    shared = _SHARED.get(leader)
    others = [agent for agent in scores.weights if agent != leader and agent not in _HELPERS.get(leader, ())]
    return [one for one in others if shared is None or not all(map(shared.fullmatch, scores.words[one]))]


def _alike(scores: Scores) -> str:
    shown = _candidates(scores)[: max(2, len(scores.leaders))]
    said = "; ".join(f"{agent}: {', '.join(scores.words[agent])}" for agent in shown)
    return f"its words fit several agents alike ({said})"


def _candidates(scores: Scores) -> tuple[str, ...]:
    return tuple(sorted(scores.weights, key=lambda agent: -scores.weights[agent]))


def _clauses(text: str) -> list[str]:
    """Give the clauses that ask for something; all, if what asks says nothing by itself ("Calculate it")."""
    clauses = split(text)
    asking = [one for one in clauses if not only_tells(one)]
    if any(_settled(score(one)) for one in asking):
        return asking
    if any(map(DOING.search, asking)):
        # What a paper says is no source for who wants it computed.
        return [one for one in clauses if one in asking or not SOURCES & set(_settled(score(one)))]
    return clauses


def _settled(scores: Scores, preferred: str = "") -> tuple[str, ...]:
    leaders = scores.leaders
    if preferred in leaders:
        return (preferred,)
    settled = [one for one in _SHARED if scores.weights.get(one, 0) >= PHRASE and not _against(scores, one)]
    if len(settled) == 1 and set(leaders) != SOURCES:
        return (settled[0],)
    computed = {"chemistry_agent", "qm_agent", "multiwfn_agent"}
    if "multiwfn_agent" in leaders and scores.weights["multiwfn_agent"] >= PHRASE and set(leaders) <= computed:
        # The plan of an analysis begins with the quantum steps that it needs.
        return ("multiwfn_agent",)
    if scores.weights.get("qm_agent", 0) >= PHRASE and set(leaders) <= {"chemistry_agent", "qm_agent"}:
        only = scores.words.get("chemistry_agent", ())
        # The plan of a quantum request identifies its molecules, whichever has more words.
        if leaders != ("chemistry_agent",) or not only or scores.weights["chemistry_agent"] < 2 * PHRASE:
            return ("qm_agent",)
    return leaders


def _merged(several: Sequence[Scores]) -> Scores:
    weights: dict[str, float] = {}
    words: dict[str, tuple[str, ...]] = {}
    for scores in several:
        for agent, weight in scores.weights.items():
            weights[agent] = weights.get(agent, 0) + weight
            words[agent] = tuple(dict.fromkeys((*words.get(agent, ()), *scores.words[agent])))
    return Scores(weights, words, frozenset().union(*(scores.named for scores in several)))


def _needed(parts: Sequence[Clause], agent: str, scores: Scores) -> float:
    """Give what a clause must weigh to be a part after those before it."""
    if not parts:
        return ENOUGH if agent in COSTLY else TOPIC
    # "Rank them by water uptake" is still the design, "relax the box" still the simulation.
    if (parts[-1].agent, agent) == ("hem_agent", "md_agent") and all(map(_OBJECTIVE.search, scores.words[agent])):
        return float("inf")
    return ENOUGH + TOPIC if (parts[-1].agent, agent) == ("md_agent", "qm_agent") else ENOUGH


def _unlike(clause: str) -> list[str]:
    """Cut a clause into phrases that name different agents outright, one to go on after the other; or leave it."""
    if LOOKING.search(clause) and SOURCES & score(clause).named:
        return [clause]
    found: list[tuple[int, int, str]] = []
    end = 0
    for phrase in phrases(clause):
        start = clause.index(phrase, end)
        end = start + len(phrase)
        if found and not found[-1][2]:
            start = found.pop()[0]
        scores = score(clause[start:end])
        leaders = _settled(scores)
        strong = not _BOUND.search(phrase) and len(leaders) == 1 and scores.weights[leaders[0]] >= TOOL
        agent = leaders[0] if strong and not _opposed(scores, leaders[0]) else ""
        if found and agent in ("", found[-1][2]):
            found[-1] = (found[-1][0], end, found[-1][2])
        else:
            found.append((start, end, agent))
    pairs = list(itertools.pairwise(agent for _, _, agent in found))
    return [clause[i:j] for i, j, _ in found] if pairs and all(pair in _GOES_ON for pair in pairs) else [clause]


def _parts(clauses: Sequence[str], preferred: str) -> tuple[tuple[Clause, ...], Scores | None]:
    """Route the clauses one by one; what is too weak goes with the clause before it.

    Returns
    -------
    parts
        Neighbours of the same agent are one.
    undecided
        What a clause beside others weighs that says enough, and fits several agents alike.
    """
    undecided: Scores | None = None
    parts: list[Clause] = []
    waiting = ""
    for text in (phrase for clause in clauses for phrase in _unlike(clause)):
        scores = score(text)
        leaders = _settled(scores, preferred)
        if len(leaders) != 1 or scores.weights[leaders[0]] < _needed(parts, leaders[0], scores):
            weak = len(leaders) < 2 or scores.weights[leaders[0]] < ENOUGH
            if not weak and not (parts and parts[-1].agent in leaders):
                undecided = scores
            if parts:
                parts[-1] = Clause(f"{parts[-1].text}, {text}", parts[-1].agent, parts[-1].scores)
            else:
                waiting = f"{waiting}{text}, "
            continue
        agent = leaders[0]
        if agent in SOURCES and parts and _WHERE.search(text) and not any(DOING.search(part.text) for part in parts):
            merged = _merged([scores, *(part.scores for part in parts)])
            parts = [Clause(", ".join([*(part.text for part in parts), text]), agent, merged)]
            continue
        if parts and parts[-1].agent == agent:
            parts[-1] = Clause(f"{parts[-1].text}, then {text}", agent, _merged([parts[-1].scores, scores]))
        else:
            parts.append(Clause(f"{waiting}{text}", agent, scores))
            waiting = ""
    return tuple(parts), undecided if len(parts) > 0 else None
