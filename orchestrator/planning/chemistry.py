"""Requests to check SMILES and reactions: these need not be right, and are not refused for being wrong."""

from __future__ import annotations

import re

from orchestrator.planning.asked import Asked
from orchestrator.planning.words import OPERATIONS
from orchestrator.state import SUMMARY, Goal, Plan, Step

_QUOTED = re.compile(r"`([^`\s]+)`|\"([^\"\s]+)\"|“([^”\s]+)”|(?<!\w)'([^'\s]+)'(?!\w)")
#: a token that can only be meant as a SMILES, right or wrong
_MEANT = re.compile(
    r"\(?(?=\S*(?:[A-Za-z\])][\[(=#]|\[|[+\-]\(|[cCnNoO]\d|[cCNOS]{3}))[A-Za-z0-9@+\-\[\]()=#$:/\\.%*]+"
)
_REACTION = re.compile(r"(?<![^\s'\"`(:])[^\s'\"`>]*>[^\s'\"`>]*>[^\s'\"`>?,;]*")
_WORD = re.compile(r"[A-Za-z]*[a-z]{4,}[A-Za-z]*|[A-Za-z]+-[A-Za-z]+")


def read_smiles(text: str) -> tuple[str, ...]:
    """Give the SMILES, right or wrong, that a request wants to have checked; empty: it asks for no such thing."""
    if not OPERATIONS["validity"].search(text):
        return ()
    quoted = [next(filter(None, match.groups())) for match in _QUOTED.finditer(text)]
    if quoted:
        return tuple(dict.fromkeys(quoted))
    meant = []
    for token in re.split(r"[\s,;]+", text):
        bare = token.strip("'\"`").rstrip(".?!:")
        if bare and _MEANT.fullmatch(bare) and not _WORD.search(bare):
            meant.append(bare)
    return tuple(dict.fromkeys(meant))


def read_reactions(text: str) -> tuple[str, ...]:
    """Give the reaction SMILES of a request that wants their balance; empty: it asks for no such thing."""
    if not re.search(r"\bbalanced?\b|\bstoichiometr", text, re.IGNORECASE):
        return ()
    return tuple(dict.fromkeys(match[0].rstrip(".") for match in _REACTION.finditer(text)))


def plan_checking(asked: Asked, smiles: tuple[str, ...], operation: str = "validity") -> Plan:
    """Give the plan of a request that wants nothing but SMILES (``balance``: reactions) to be checked."""
    words = " and ".join(smiles) if len(smiles) <= 2 else f"{len(smiles)} SMILES"
    goal = Goal(operations=(operation,), query=" ".join(smiles))
    steps = (
        Step(
            number=1,
            agent="chemistry_agent",
            description=f"Check whether {words} is {'valid' if operation == 'validity' else 'balanced'}"[:200],
            goal=goal,
        ),
        Step(number=2, agent=SUMMARY, description="Write the report", depends_on=(1,)),
    )
    title = " ".join(asked.text.split())
    return Plan(title=title if len(title) <= 120 else f"{title[:119]}…", steps=steps)
