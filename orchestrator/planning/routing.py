"""Which agent a request is for, by its words alone: whole words, all lists scored, nothing on a tie."""

from __future__ import annotations

import re
from dataclasses import dataclass

from orchestrator.planning.words import ELECTRONIC, IDENTITY


@dataclass(frozen=True)
class Route:
    """Where the words of a request point.

    Attributes
    ----------
    agent
        The agent with the most hits; empty on a tie, and without hits.
    scores
        Hits of every agent that has any, a phrase counting as many as it has words.
    words
        The words found, by agent.
    """

    agent: str
    scores: dict[str, int]
    words: dict[str, tuple[str, ...]]


def _phrases(*phrases: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(rf"(?<![\w-])(?:{phrase})(?!\w)", re.IGNORECASE) for phrase in phrases)


#: agent -> what it does in words, and its keywords
TARGETS: dict[str, tuple[str, tuple[re.Pattern[str], ...]]] = {
    "chemistry_agent": (
        "identity and structure of molecules",
        (*IDENTITY.values(), *_phrases("functional groups?", "smiles")),
    ),
    "qm_agent": (
        "quantum chemistry",
        (
            *ELECTRONIC.values(),
            *_phrases("dft", "single[- ]points?", "quantum(?:[- ](?:chemistry|mechanics|chemical))?", "orbitals?",
                      "electronic (?:structure|properties)", "scf"),
        ),
    ),
    "hem_agent": (
        "design of cations and membranes",
        _phrases("design(?:s|ed|ing)? \\w*", "pso", "particle swarms?", "swarms?", "backbones?",
                 "(?:pbf|pp|px|pai|pf|ppo)_bb\\w*", "optimi[sz]e hems?"),
    ),
    "md_agent": (
        "molecular dynamics",
        _phrases("molecular dynamics", "md", "md simulations?", "gromacs", "lammps", "diffusion(?: coefficients?)?",
                 "conductivit(?:y|ies)", "water uptake", "trajector(?:y|ies)", "force[- ]field simulations?",
                 "swelling", "rdf", "radial distributions?", "npt", "nvt", "simulate[sd]?"),
    ),
    "multiwfn_agent": (
        "wavefunction analysis",
        _phrases("wave ?functions?", "electron densit(?:y|ies)", "multiwfn", "bond orders?", "aromaticity", "cubes?",
                 "electrostatic potentials?", "hirshfeld", "natural bond orbitals?", "nbo", "critical points?", "elf"),
    ),
    "rag_agent": (
        "literature",
        _phrases("papers?", "literature", "publications?", "articles?", "citations?", "cite",
                 "references? on", "studies"),
    ),
    "web_search_agent": (
        "searching the web",
        _phrases("latest", "news", "web", "internet", "what's new", "google", "today's"),
    ),
}  # fmt: skip
#: the agents of that list that exist
PRESENT = frozenset({"chemistry_agent", "hem_agent", "qm_agent", "md_agent", "multiwfn_agent"})


def route(text: str) -> Route:
    """Score all agents by the words of a request (without its molecules and its level of theory)."""
    words: dict[str, tuple[str, ...]] = {}
    for agent, (_, patterns) in TARGETS.items():
        hits = [" ".join(match[0].split()) for pattern in patterns if (match := pattern.search(text))]
        # Longer phrases count their shorter parts only once.
        unique = {h for h in hits if not any(h != other and h.lower() in other.lower() for other in hits)}
        if unique:
            words[agent] = tuple(sorted(unique))
    scores = {agent: sum(len(hit.split()) for hit in hits) for agent, hits in words.items()}
    best = max(scores.values(), default=0)
    leaders = [agent for agent, score in scores.items() if score == best]
    if set(leaders) == {"chemistry_agent", "qm_agent"}:
        # No ambiguity: the plan of a quantum request begins with the chemistry step.
        leaders = ["qm_agent"]
    return Route(leaders[0] if len(leaders) == 1 else "", scores, words)


def absent(found: Route) -> list[str]:
    """Say which parts of a request belong to agents that do not exist yet, in words, with what gave it away."""
    return [
        f"{TARGETS[agent][0]} ({', '.join(repr(word) for word in found.words[agent])})"
        for agent in found.words
        if agent not in PRESENT
    ]
