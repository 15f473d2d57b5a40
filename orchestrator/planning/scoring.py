"""What the words of a text weigh for each agent, and which words they are.

Quotations, pasted output, SMILES and levels of theory are no words; negated words count against their agent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from orchestrator.planning.lexicon import HINT, PHRASE, TOOL, TOPIC
from orchestrator.planning.plain import plain
from orchestrator.planning.vocabulary import AT_LEVEL, DOING, FIELDS, LOOKING, VERIFYING

#: what the leader must be ahead of the next
MARGIN = 1.0
#: agents that find out what others have found
SOURCES = frozenset({"rag_agent", "web_search_agent"})


@dataclass(frozen=True)
class Scores:
    """What the words of a text weigh, by agent, and which they are."""

    weights: dict[str, float]
    words: dict[str, tuple[str, ...]]
    #: the agents whose tool or source is named outright
    named: frozenset[str] = frozenset()

    @property
    def leaders(self) -> tuple[str, ...]:
        """The agents in front, the heaviest first; one if it is clearly ahead, none without words."""
        best = max(self.weights.values(), default=0.0)
        if best <= 0:
            return ()
        near = [agent for agent, weight in self.weights.items() if weight > best - MARGIN]
        return tuple(sorted(near, key=lambda agent: -self.weights[agent]))


@lru_cache(maxsize=512)
def score(text: str) -> Scores:
    """Weigh the words of a text for every agent."""
    read = plain(text)
    found = {agent: _found(one.words, read.words) for agent, one in FIELDS.items()}
    weights: dict[str, float] = {}
    words: dict[str, tuple[str, ...]] = {}
    named: set[str] = set()
    for agent, one in FIELDS.items():
        mine = [find for find in found[agent] if not _within_heavier(find, agent, found)]
        # "No DFT" speaks against quantum chemistry; "without optimisation" only says how.
        against = sum(find.weight for find in _found(one.words, read.negated) if find.weight >= TOOL)
        weight = sum(find.weight for find in mine) - against
        if agent == "qm_agent" and read.level:
            weight += _of_level(read.words)
        if agent in SOURCES and any(find.weight >= PHRASE for find in mine) and not DOING.search(read.words):
            # What a source says comes from the source, whatever it is about.
            weight += PHRASE + TOPIC
        if agent in SOURCES and DOING.search(read.words) and not any(find.weight >= TOOL for find in mine):
            # "Run the thing from the paper" asks no paper.
            weight = min(weight, TOPIC)
        if weight > 0:
            weights[agent] = weight
            if any(find.weight >= TOOL for find in mine):
                named.add(agent)
            words[agent] = tuple(dict.fromkeys(" ".join(find.text.split()) for find in mine)) or ("level of theory",)
    for agent in SOURCES & named:
        if LOOKING.search(read.words) and not DOING.search(read.words):
            others = max((weight for name, weight in weights.items() if name not in SOURCES), default=0.0)
            weights[agent] = max(weights[agent], others + PHRASE)
    return Scores(weights, words, frozenset(named))


def _of_level(words: str) -> float:
    """Give what naming a level of theory says for quantum chemistry."""
    if VERIFYING.search(words):
        return PHRASE + TOPIC
    return PHRASE if DOING.search(words) or AT_LEVEL.search(words) else HINT


@dataclass(frozen=True)
class _Find:
    weight: float
    start: int
    end: int
    text: str


def _found(words: Sequence[tuple[float, re.Pattern[str]]], text: str) -> list[_Find]:
    """Give what is found of an agent's words, each pattern once, heaviest first; no part of a text counts twice."""
    found: list[_Find] = []
    for weight, pattern in sorted(words, key=lambda one: -one[0]):
        for match in pattern.finditer(text):
            if not any(one.start < match.end() and match.start() < one.end for one in found):
                found.append(_Find(weight, match.start(), match.end(), match[0]))
                break
    return found


def _within_heavier(find: _Find, agent: str, found: dict[str, list[_Find]]) -> bool:
    """Tell whether a find is only a part of what points to another agent more strongly."""
    return any(
        other.weight > find.weight
        and other.start <= find.start
        and find.end <= other.end
        and other.end - other.start > find.end - find.start
        for name, others in found.items()
        if name != agent
        for other in others
    )
