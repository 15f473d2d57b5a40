"""Requests that only look at what there is, or stop it: lists, logs, results so far, whether something is accepted.

Whoever asks for these wants nothing computed; no planner may take "the log of the swarm on PBF_BB_1" for a new swarm.
"""

from __future__ import annotations

import re


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_WORK = (
    r"(?:swarms?|searches|search|runs?|jobs?|designs?|optimi[sz]ations?|simulations?|calculations?|pso|md|it"
    r"|everything)"
)
_STOPS = _any(
    rf"(?:^|[,;:.!?]\s*|\b(?:please|you|and|then|to)\s+)(?:stop|kill|abort|cancel|halt|delete|terminate|pause|end|discard)\s+"
    rf"(?:the\s+|my\s+|our\s+|this\s+|that\s+|all\s+)?(?:[\w/-]+\s+){{0,3}}?{_WORK}\b"
)
_READS = _any(
    r"\btail\b|\blogs?(?:\s?files?)?\b(?!\s?p)|\blast\s+\d+\s+lines\b|\blines\s+of\s+(?:the|its)\s+(?:log|output)\b",
    rf"\b(?:status|progress)\s+of\b|\bonly\s+(?:want\s+to\s+|need\s+to\s+)?(?:read|see|look|know|quote)\b"
    rf"|\b{_WORK}\b[^.?!]{{0,30}}\b(?:are|is)\s+(?:active|running|queued|waiting)\b|\bhow\s+far\s+(?:is|are|has|have|did)\s+(?:the|my|our|it)\b",
    rf"\b(?:is|are|has|did)\s+(?:the|my|our)\s+(?:[\w/-]+\s+){{0,3}}?{_WORK}\b[^.?!]*\b(?:finished|done|running|over|converged"
    r"|ready|complete|ended|started|crashed|failed)\b",
    r"\b(?:so\s+far|up\s+to\s+now|until\s+now|to\s+date|at\s+the\s+moment)\b(?=[^.!]*(?:\?|$|[.!]))",
    rf"\b(?:top|best)\b[^.?!]*\b(?:of|from|in)\s+(?:the\s+|my\s+|our\s+|yesterday's\s+)?(?:finished|last|running|completed|previous|{_WORK}"
    rf"\s+\w*\d)\s*(?:{_WORK}|\b)",
    rf"(?:^|[,;:.!?]\s*)(?:what|which|show|list|give|tell)\b[^.?!]*\b{_WORK}\s+(?:has\s+|have\s+)?(?:found|gave|given|produced|came)\b",
    rf"\bwhat\s+(?:did|has|have)\s+(?:the|my|our)\s+(?:[\w/-]+\s+){{0,3}}?{_WORK}\s+(?:find|found|give|given|come|turned|produced?)\b",
)
_CHECKS = _any(
    r"\b(?:do\s+not|don['’]t|without)\s+(?:\w+\s+)?(?:start|launch|submit|kick)\w*\b",
    r"\b(?:only|just)\s+(?:check|validate|tell\s+me\s+(?:if|whether))\b|\b(?:check|validate)\s+(?:it|this|that)?\s*(?:only|first)\b",
    r"\b(?:would|will|is|are|can|could)\b[^.?!]*\b(?:be\s+)?(?:accepted|allowed|permitted|supported|a\s+valid|combined\s+with"
    r"|an?\s+(?:accepted|legal|allowed))\b",
)
_LISTS = _any(
    r"\b(?:which|what|list|show|tell\s+me|name)\b[^.?!]*\b(?:backbones?|famil(?:y|ies)|polymers|templates?|substituents|objectives"
    r"|water\s+models?|force\s?fields?|functionals|basis\s+sets|methods|solvents)\b[^.?!]*\b(?:available|on\s+offer|vary|supported|choose"
    r"|(?:do|can|could|may|does)\s+(?:you|i|we|one|the\s+(?:swarm|optimi[sz]er|design|search))|are\s+there|exist|known\s+to)\b",
    r"^\W*(?:please\s+)?(?:list|show|name)\s+(?:me\s+)?(?:all\s+|the\s+|your\s+)*(?:\w+\s+)?(?:backbones|families|polymers"
    r"|substituents|objectives|water\s+models|functionals)\b",
)
_REMEDY = {
    "stop something": "'simrelay job list' shows what runs, 'simrelay job cancel' and 'simrelay run cancel' stop it.",
    "see how something stands": "'simrelay job list' and 'simrelay run show' tell how it stands,"
    " 'simrelay job logs' what a program wrote.",
    "check something": "'simrelay run --dry-run' shows the plan, or what is wrong, and starts nothing.",
    "list what there is": "Ask for the work itself: a message says which names are known if one is not.",
}


def only_looks(text: str) -> tuple[str, str] | None:
    """Tell what a request wants to see or stop, in words, and what gives it; None: it asks for work to be done."""
    for wish, words in (
        ("stop something", _STOPS),
        ("see how something stands", _READS),
        ("check something", _CHECKS),
        ("list what there is", _LISTS),
    ):
        if words.search(text):
            return wish, _REMEDY[wish]
    return None
