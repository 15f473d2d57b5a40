"""Requests to look something up, in the documents of the installation or on the web: one step with its query."""

from __future__ import annotations

import re

from orchestrator.planning.manners import without_manners
from orchestrator.state import SUMMARY, Goal, Plan, Step
from tasks.errors import InputError

LIBRARY, WEB = "rag_agent", "web_search_agent"
_DOES = {LIBRARY: "Search the library", WEB: "Search the web for"}
#: what only asks, and politely, at the beginning
_LEADS = (
    r"(?:hello|hi|hey|dear \w+)[\s,!.]+",
    r"(?:please|kindly|first(?:ly)?|then|also|finally|now|just|for\s+me)\b[\s,]*",
    r"(?:could|can|would|will)\s+you\b\s*",
    r"(?:i|we)(?:'d|\s+would|\s+should)\s+(?:like\s+(?:you\s+)?to|be\s+grateful\s+if\s+you\s+could)\b\s*(?:know\b\s*)?",
    r"i\s+(?:want|need)\s+(?:you\s+to|to\s+know)\b\s*",
    r"(?:tell|show|give)\s+me\b\s*",
)
#: … and at the end
_TAILS = (
    r"[\s,.;]*\b(?:please|thanks|thank\s+you|many\s+thanks|if\s+(?:you\s+can|possible)|for\s+me)",
    r"[\s,.;]*(?:please\s+)?(?:and\s+)?(?:cite|give|with|quote)\s+(?:me\s+)?(?:your\s+|the\s+|all\s+)?"
    r"(?:sources?|references?|citations?|dois?|page\s+numbers?)(?:\s+and\s+page\s+numbers?)?",
)
#: what only says that the library is asked
_OF_THE_LIBRARY = (
    r"what\s+(?:do|does|did)\s+(?:the\s+|my\s+|our\s+)?(?:literature|papers?|library|documents?|publications?)\s+"
    r"(?:say|report|tell(?:\s+us)?)\s+(?:about|on)\s+",
    r"(?:search|look\s+(?:in|through)|check)\s+(?:the\s+|my\s+|our\s+)?(?:literature|papers?|library|documents?)\s+"
    r"(?:for|about|on)\s+",
)
#: what only says that the web is asked
_OF_THE_WEB = (
    r"(?:search|look(?:\s+(?:up|in|on|through))?|check|browse|scan|consult|use)\s+(?:the\s+)?(?:web|internet|net)\b"
    r"(?:\s+(?:for|about|on|to\s+(?:find|see)(?:\s+out)?)\b)?[\s,:]*",
    r"(?:do|run|make)\s+an?\s+(?:web|internet|online)\s+search\s+(?:for|on|about)\b[\s,:]*",
    r"(?:google|search\s+online\s+for|look\s+up\s+online)\b[\s,:]*",
)
_ON_THE_WEB = r"\s+(?:(?:on|from|in)\s+the\s+(?:web|internet)|online)(?=\W*\Z)"


def plan_research(text: str, agent: str) -> Plan:
    """Give the plan of a request that ``rag_agent`` or ``web_search_agent`` answers.

    Raises
    ------
    InputError
        If it says nothing to look for.
    """
    query = looked_for(text, agent)
    if not re.search(r"\w{2}", query):
        remedy = "Say it, for example 'What does the literature say about alkaline stability of imidazolium?'"
        raise InputError("request", text, "does not say what to look for", remedy)
    title = " ".join(text.split())
    shown = query if len(query) <= 80 else f"{query[:79]}…"
    steps = (
        Step(number=1, agent=agent, description=f"{_DOES[agent]}: {shown}", goal=Goal(query=query)),
        Step(number=2, agent=SUMMARY, description="Write the report", depends_on=(1,)),
    )
    return Plan(title=title if len(title) <= 120 else f"{title[:119]}…", steps=steps)


def looked_for(text: str, agent: str) -> str:
    """Give what a request looks for, without politeness and without what only names the library or the web."""
    query = _shorter(" ".join(without_manners(text).split()), _LEADS)
    shorter = _shorter(query, (*_LEADS, *(_OF_THE_LIBRARY if agent == LIBRARY else _OF_THE_WEB)))
    if agent == WEB:
        shorter = re.sub(_ON_THE_WEB, "", shorter, flags=re.IGNORECASE)
    # "Search the web" alone is not made nothing.
    return shorter if re.search(r"\w{2}", shorter) else query


def _shorter(query: str, leads: tuple[str, ...]) -> str:
    changed = True
    while changed:
        before = query
        for lead in leads:
            query = re.sub(rf"\A[\s,;]*{lead}", "", query, flags=re.IGNORECASE)
        for tail in _TAILS:
            query = re.sub(rf"{tail}[\s,.;!?]*\Z", "", query, flags=re.IGNORECASE)
        changed = query != before
    return query.strip(" ,;!")
