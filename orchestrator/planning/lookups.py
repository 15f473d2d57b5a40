"""Names that the table does not have: found in a request that is clear but for them, and looked up, once a run.

A request is planned with what is known. Only where that fails for a name alone is the name looked up, and the request
planned again; so no other request ever waits for the network. What was found stays in the run's state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from orchestrator.chemistry.lookups import find_compound
from orchestrator.chemistry.names import Named, knowing
from orchestrator.planning.asked import Asked, Planned
from orchestrator.planning.molecules import Unknown, UnknownName
from orchestrator.planning.planners import Abstained
from orchestrator.planning.request import is_ordinary
from orchestrator.state import LookedUp
from tasks.errors import InputError

#: a request with more unknown names is for a batch of SMILES
MOST_NAMES = 10
_WORD_BEFORE = re.compile(r"([\w(\[][\w\-,'()\[\].]*)[ ]$")
_ARTICLE = re.compile(r"\b(?:the|an?)\s+$", re.IGNORECASE)
_WORD_AFTER = re.compile(r"[ ]([\w(\[][\w\-,'()\[\].]*)")
#: what stands beside a name without being part of it
_BESIDE = frozenset(
    "about after before called compound does drug drugs during has have hydrogen-bond its just known like monomer named"
    " name names over please pure solvent some such system than under versus vs within would".split()
)


def with_names(plan: Callable[[Asked], Planned], asked: Asked) -> Planned:
    """Plan a request, and look up the names that it needs and nobody knows.

    Raises
    ------
    InputError
        As ``plan``; if a name cannot be looked up, with why; if there are more than ``MOST_NAMES``.
    """
    known = [Named(one.name, one.smiles, "", one.synonyms, one.source) for one in asked.looked_up]
    asked = replace(asked, text=_with_names_of(asked.text, known))
    tried: set[str] = set()
    while True:
        with knowing(known):
            try:
                planned = plan(asked)
            except (UnknownName, Abstained) as error:
                refused = error
                if error.unknown is None or not asked.pubchem_url or _is_a_thing(error):
                    raise
                name = whole_name(error.unknown)
                if name in tried:
                    raise
                if len(tried) == MOST_NAMES:
                    remedy = "Give their SMILES in quotes, or submit them as a batch."
                    raise InputError("request", name, f"is one more than {MOST_NAMES} unknown names", remedy) from error
            else:
                return replace(planned, looked_up=tuple(_kept(one) for one in known))
        tried.add(name)
        known.append(_looked_up(name, refused, asked))
        asked = replace(asked, text=_with_names_of(asked.text, known))


def _looked_up(name: str, refused: UnknownName | Abstained, asked: Asked) -> Named:
    try:
        return find_compound(name, asked.pubchem_url, asked.max_atoms)
    except InputError as error:
        if isinstance(refused, UnknownName):
            raise
        # The request itself stays what was refused: a language model may know what a person means by the words.
        problem = f"names no molecule that Simrelay knows: {name!r} {error.problem}"
        raise Abstained(asked.text, problem, error.remedy) from error


def _with_names_of(text: str, known: Sequence[Named]) -> str:
    """Give a text with names in place of the CAS numbers and InChIKeys that they were looked up by."""
    for one in known:
        for number in one.synonyms:
            text = text.replace(number, one.name)
    return text


def whole_name(unknown: Unknown) -> str:
    """Give the whole name of which a word is not known: "sodium dodecyl sulfate", never its "sulfate" alone."""
    name, before, after = unknown.name, unknown.before, unknown.after
    if unknown.whole:
        return name
    while (match := _WORD_BEFORE.search(before)) and _belongs(match[1]):
        name, before = f"{match[1]} {name}", before[: match.start()]
    while (match := _WORD_AFTER.match(after)) and not name.endswith((",", ".")) and _belongs(match[1].rstrip(".,;")):
        word = match[1].rstrip(".,;:")
        name, after = f"{name} {word}", after[match.end() :] if word == match[1] else ""
    return name


def _is_a_thing(error: UnknownName | Abstained) -> bool:
    """Tell whether an article stands before a word that is no chemical name by its form: "the membrane"."""
    unknown = error.unknown
    return isinstance(error, Abstained) and unknown is not None and bool(_ARTICLE.search(unknown.before))


def _belongs(word: str) -> bool:
    return (
        bool(re.search(r"[A-Za-z]", word))
        and not word.endswith(",")
        and word.lower() not in _BESIDE
        and not is_ordinary(word)
    )


def _kept(one: Named) -> LookedUp:
    return LookedUp(name=one.name, smiles=one.smiles, synonyms=one.synonyms, source=one.source)
