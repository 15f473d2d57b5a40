"""Requests to check SMILES, which need not be valid: they are checked, and not refused for being wrong."""

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


def plan_checking(asked: Asked, smiles: tuple[str, ...]) -> Plan:
    """Give the plan of a request that wants nothing but SMILES to be checked."""
    words = " and ".join(smiles) if len(smiles) <= 2 else f"{len(smiles)} SMILES"
    goal = Goal(operations=("validity",), query=" ".join(smiles))
    steps = (
        Step(number=1, agent="chemistry_agent", description=f"Check whether {words} is valid"[:200], goal=goal),
        Step(number=2, agent=SUMMARY, description="Write the report", depends_on=(1,)),
    )
    title = " ".join(asked.text.split())
    return Plan(title=title if len(title) <= 120 else f"{title[:119]}…", steps=steps)
