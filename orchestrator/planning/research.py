"""Requests to look something up, in the documents of the installation or on the web: one step with its query."""

from __future__ import annotations

import re

from orchestrator.planning.manners import without_manners
from orchestrator.state import SUMMARY, Goal, Plan, Step
from tasks.errors import InputError

_POLITE = re.compile(
    r"^(?:\W*\b(?:please|kindly|could\s+you|can\s+you|would\s+you|will\s+you|i\s+(?:would"
    r"|should)\s+like\s+(?:you\s+)?to|i'd\s+like\s+(?:you\s+)?to"
    r"|i\s+(?:want|need)\s+you\s+to|we'd\s+be\s+grateful\s+if\s+you\s+could|first(?:ly)?|then|also|finally|now"
    r"|for\s+me|just)\b)+\W*",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r",?\s*\b(?:please|thanks|thank\s+you|if\s+(?:you\s+can|possible)|for\s+me)\b(?=\W*$"
    r"|\s*[,.])",
    re.IGNORECASE,
)
#: what only says that the web is asked
_FRAME = re.compile(
    r"^(?:(?:search|look(?:\s+(?:up|in|on|through))?|check|browse|scan|consult|use)\s+(?:the\s+)?"
    r"(?:web|internet|net)(?:\s+(?:for|about|on|to\s+(?:find|see)(?:\s+out)?))?|(?:do|run|make)\s+an?\s+(?:web|internet|online)\s+"
    r"search\s+(?:for|on|about)|(?:google|search\s+online\s+for|look\s+up\s+online))\b[\s,:]*",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\s+(?:(?:on|from|in)\s+the\s+(?:web|internet)|online)(?=\W*$)", re.IGNORECASE)
_DOES = {
    "rag_agent": "Search the documents for",
    "web_search_agent": "Search the web for",
}


def read_query(text: str) -> str:
    """Give what is looked for: the request without its politeness, and without what only names the web.

    Raises
    ------
    InputError
        If nothing is left.
    """
    query = " ".join(without_manners(text).split())
    query = _COURTESY.sub("", _POLITE.sub("", query)).strip(" ,;")
    shorter = _PLACE.sub("", _FRAME.sub("", query)).strip(" ,;")
    query = shorter if re.search(r"\w{2}", shorter) else query
    if not re.search(r"\w{2}", query):
        remedy = 'Ask for example "What does the literature say about the alkaline stability of piperidinium?".'
        raise InputError("request", text, "does not say what to look for", remedy)
    return query[0].upper() + query[1:]


def plan_research(text: str, agent: str) -> Plan:
    """Give the plan of a request that ``rag_agent`` or ``web_search_agent`` answers; raises as ``read_query``."""
    query = read_query(text)
    shown = query if len(query) <= 100 else f"{query[:99]}…"
    steps = (
        Step(number=1, agent=agent, description=f"{_DOES[agent]}: {shown}", goal=Goal(query=query)),
        Step(number=2, agent=SUMMARY, description="Write the report", depends_on=(1,)),
    )
    title = " ".join(text.split())
    return Plan(title=title if len(title) <= 120 else f"{title[:119]}…", steps=steps)
