"""The words of a question that a passage can be about, and their stems (Snowball, English, as RediSearch has them)."""

from __future__ import annotations

import re
from functools import cache
from typing import Protocol

#: words that say that something is asked, not what
_ASKING = frozenset(
    """
    a about after all also am an and any are article articles as at be because been being between both but by can cite
    citation citations could describe described did do document documents does doi dois done during each explain few
    find for from further give given had has have how i if in into is it its itself just know library literature
    many me more most much my no nor not of on once only or other our out over paper papers passage passages please
    publication publications published reference references report reported reports research said same say says
    see should show so some source sources studies study such summarise summarize tell than that the their them then
    there these they this those through to too under until up us use used uses very was we were what when where
    whether which while who whom whose why will with would you your
    """.split()
)
_PART = re.compile(r"\w+")
#: the most words of a question that are looked for
MOST = 40


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


@cache
def _stemmer() -> _Stemmer:
    import snowballstemmer

    stemmer: _Stemmer = snowballstemmer.stemmer("english")
    return stemmer


@cache
def stem(word: str) -> str:
    """Give the stem of a word."""
    return _stemmer().stemWord(word.lower())


def matters(word: str) -> bool:
    """Tell whether a word of a question can be what is asked about."""
    return word.lower() not in _ASKING


def parts_of(text: str) -> list[str]:
    """Give the words of a text, compounds (``S-07``) in their parts."""
    return _PART.findall(text)


def stems(text: str) -> frozenset[str]:
    """Give the stems of all words of a text, compounds in their parts."""
    return frozenset(map(stem, parts_of(text)))
