"""Whether a request needs a plan of several steps: any one of three rules suffices."""

from __future__ import annotations

import re
from dataclasses import dataclass

from orchestrator.planning.words import COMPARE, OPTIMISE, VERBS

_AND_ANALYSE = re.compile(r"\band\s+(?:then\s+)?analy[sz]e\b", re.IGNORECASE)
_CALCULATE_ANALYSE = re.compile(r"\b(?:calculat|comput)\w*\b.*\band\b.*\banaly[sz]e\b", re.IGNORECASE | re.DOTALL)
_THEN = re.compile(r"\b(?:then|afterwards|followed by)\b|\bafter\s+(?:that|which|\w+ing)\b", re.IGNORECASE)
_RUN = re.compile(r"\band\b.*\b(?:run|simulat\w*|comput\w*|calculat\w*)\b", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Complexity:
    """Whether a request is complex, by which rule, and the actions found in it (in American spelling)."""

    is_complex: bool
    reason: str
    actions: tuple[str, ...]


def assess(text: str, molecules: int = 0) -> Complexity:
    """Apply the rules to the words of a request.

    Parameters
    ----------
    text
        The request without its molecules.
    molecules
        How many it names; comparing two makes it complex.
    """
    places = {verb: match.start() for verb, words in VERBS.items() if (match := words.search(text))}
    actions = tuple(sorted(places, key=places.__getitem__))
    optimise = OPTIMISE.search(text)
    if _AND_ANALYSE.search(text) or _CALCULATE_ANALYSE.search(text):
        return Complexity(True, "sequence: something is to be calculated, and then analysed", actions)
    if _THEN.search(text):
        return Complexity(True, "sequence: one thing after another", actions)
    if COMPARE.search(text) and molecules > 1:
        return Complexity(True, "composite: several molecules are compared", actions)
    if optimise and _RUN.search(text, optimise.end()):
        return Complexity(True, "composite: optimise, and run something on the result", actions)
    if len(actions) >= 2:
        return Complexity(True, f"verbs: {', '.join(actions)}", actions)
    return Complexity(False, "", actions)
