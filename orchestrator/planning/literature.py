"""Plans for questions to the library of documents: one step that searches, and the report."""

from __future__ import annotations

import re

from orchestrator.state import SUMMARY, Goal, Plan, Step
from tasks.errors import InputError

AGENT = "rag_agent"
#: what only says that the library is asked, and politely; the longest first
_FRAMES = (
    r"(?:hello|hi|hey|dear \w+)[\s,!.]+",
    r"(?:could|can|would|will)\s+you\s+(?:please\s+|kindly\s+)?",
    r"(?:please|kindly)[\s,]+",
    r"(?:i(?:'d| would)\s+like\s+(?:you\s+)?to\s+(?:know\s+)?|i\s+(?:want|need)\s+to\s+know\s+)",
    r"(?:tell|show|give)\s+me\s+",
    r"what\s+(?:do|does|did)\s+(?:the\s+|my\s+|our\s+)?(?:literature|papers?|library|documents?|publications?)\s+"
    r"(?:say|report|tell(?:\s+us)?)\s+(?:about|on)\s+",
    r"(?:search|look\s+(?:in|through)|check)\s+(?:the\s+|my\s+|our\s+)?(?:literature|papers?|library|documents?)\s+"
    r"(?:for|about|on)\s+",
)
_TAILS = (
    r"[\s,.;]*(?:please\s+)?(?:and\s+)?(?:cite|give|with|quote)\s+(?:me\s+)?(?:your\s+|the\s+|all\s+)?"
    r"(?:sources?|references?|citations?|dois?|page\s+numbers?)(?:\s+and\s+page\s+numbers?)?",
    r"[\s,.;]*(?:please|thanks|thank\s+you|many\s+thanks)",
)


def plan_literature(text: str) -> Plan:
    """Give the plan of a request that asks what documents say.

    Raises
    ------
    InputError
        If it says nothing to look for.
    """
    query = looked_for(text)
    if not re.search(r"\w", query):
        remedy = "Say it, for example 'What does the literature say about alkaline stability of imidazolium?'"
        raise InputError("request", text, "does not say what to look for", remedy)
    title = " ".join(text.split())
    shown = query if len(query) <= 80 else f"{query[:79]}…"
    steps = (
        Step(number=1, agent=AGENT, description=f"Search the library: {shown}", goal=Goal(query=query)),
        Step(number=2, agent=SUMMARY, description="Write the report", depends_on=(1,)),
    )
    return Plan(title=title if len(title) <= 120 else f"{title[:119]}…", steps=steps)


def looked_for(text: str) -> str:
    """Give what a request looks for, without politeness and without what only names the library."""
    query = " ".join(text.split())
    changed = True
    while changed:
        before = query
        for frame in _FRAMES:
            query = re.sub(rf"\A{frame}", "", query, flags=re.IGNORECASE)
        for tail in _TAILS:
            query = re.sub(rf"{tail}[\s.!?]*\Z", "", query, flags=re.IGNORECASE)
        changed = query != before
    return query.strip()
