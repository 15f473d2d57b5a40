"""Answers out of passages: sentences quoted word for word, each with its source; nothing is added to them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pydantic import computed_field

from orchestrator.library.chunks import sentences
from orchestrator.library.store import Hit, Part, Record
from orchestrator.library.thesaurus import Concept, concepts
from orchestrator.library.words import stems

#: passages that an answer may cite
PASSAGES = 5
#: passages that are looked at, from which the rarity of the question's words is reckoned
CANDIDATES = 30
#: passages that are named where none is about the question by its words
_NEAREST = 3
_MOST_QUOTES = 4
_LONGEST_QUOTE = 400
#: share of the question, by the rarity of its words, that a passage must hold to be about it
_ABOUT = 0.35
#: a sentence is quoted if it holds at least this share of what the best one does
_NEARLY = 0.6
#: how much the passage around a sentence, and the title above it, count beside the sentence itself
_AROUND = 0.5


class Source(Part):
    """A passage that an answer cites."""

    #: as it is cited: ``[1]``
    number: int
    document: Record
    page: int
    chunk: int
    text: str
    score: float

    @computed_field  # type: ignore[prop-decorator]
    @property
    def citation(self) -> str:
        """``Author et al. (Year), Title, p. 3, chunk 12, doi:…``."""
        doi = f", doi:{self.document.doi}" if self.document.doi else ""
        return f"{self.reference}, p. {self.page}, chunk {self.chunk}{doi}"

    @property
    def reference(self) -> str:
        """``Author et al. (Year), Title``; the file's name instead of authors that are not known."""
        one = self.document
        last = [name.split(",")[0].strip() if "," in name else name.split()[-1] for name in one.authors]
        who = one.name if not last else last[0] if len(last) == 1 else f"{last[0]} et al."
        who = f"{last[0]} and {last[1]}" if len(last) == 2 else who
        return f"{who} ({one.year or 'n.d.'}), {one.title}"


class Quote(Part):
    """A sentence of a source, word for word."""

    text: str
    source: int


class Answer(Part):
    """What the library has on a question."""

    question: str
    quotes: tuple[Quote, ...] = ()
    sources: tuple[Source, ...] = ()
    #: where nothing was found: passages that hold some of the question's words, for the reader to judge
    nearest: tuple[Source, ...] = ()
    #: documents that were searched
    searched: int = 0
    #: how
    method: str = ""
    #: whether the passages are about the question by its words, not only near it by their meaning
    worded: bool = True
    notes: tuple[str, ...] = ()

    @computed_field  # type: ignore[prop-decorator]
    @property
    def found(self) -> bool:
        """Whether there is anything."""
        return bool(self.quotes)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def text(self) -> str:
        """The answer in words, with its citations; the sources stand in ``sources``."""
        among = f"{self.searched} document{'' if self.searched == 1 else 's'}"
        if not self.searched:
            return "Nothing found: the library is empty. `simrelay library add FOLDER` adds documents."
        if not self.found:
            shown = "; ".join(f"[{one.number}] {one.reference}, p. {one.page}" for one in self.nearest)
            hint = f" Passages that share a word with it, and may be about something else: {shown}." if shown else ""
            return f"Nothing found on this in the {among} of the library.{hint}"
        # What a document says cannot end its own quotation.
        inner = str.maketrans("“”", "‘’")
        quoted = " ".join(f"“{quote.text.translate(inner)}” [{quote.source}]" for quote in self.quotes)
        if not self.worded:
            return f"No passage holds its words ({among} of the library searched); nearest in meaning: {quoted}"
        return f"Found in the library ({among} searched): {quoted}"


def compose(
    question: str,
    hits: Sequence[Hit],
    *,
    searched: int,
    method: str,
    by_meaning: bool = False,
    notes: tuple[str, ...] = (),
) -> Answer:
    """Answer a question out of passages.

    Parameters
    ----------
    hits
        Passages, the best first; more than are cited, since the rarity of words is reckoned from them.
    by_meaning
        Whether passages also count that share no words with the question.
    """
    wanted = concepts(question)
    words = [stems(f"{hit.document.title} {hit.text}") for hit in hits]
    rarity = _rarity(wanted, words)
    about = [(hit, held) for hit, held in zip(hits, words, strict=True) if _share(held, rarity) >= _ABOUT]
    worded = bool(about)
    if not about and by_meaning:
        about = list(zip(hits, words, strict=True))[:_NEAREST]
    about = about[:PASSAGES]
    if not about:
        near = [hit for hit, held in zip(hits, words, strict=True) if any(one.held(held) for one in wanted)][:_NEAREST]
        return Answer(question=question, nearest=_sources(near), searched=searched, method=method, notes=notes)
    # What is only near in meaning is ranked better by the search than by words: the first passage alone is quoted.
    ranked = sorted(_candidates(about if worded else about[:1], rarity), key=lambda one: -one[0])
    quotes: list[tuple[str, Hit]] = []
    for score, text, hit in ranked:
        if len(quotes) == _MOST_QUOTES or score < _NEARLY * ranked[0][0]:
            break
        if all(text != other for other, _ in quotes):
            quotes.append((text, hit))
    cited = list(dict.fromkeys(id(hit) for _, hit in quotes))
    order = sorted((hit for hit, _ in about), key=lambda hit: cited.index(id(hit)) if id(hit) in cited else len(cited))
    numbers = {id(hit): number for number, hit in enumerate(order, 1)}
    return Answer(
        question=question,
        quotes=tuple(Quote(text=text, source=numbers[id(hit)]) for text, hit in quotes),
        sources=_sources(order),
        searched=searched,
        method=method,
        worded=worded,
        notes=notes,
    )


def _sources(hits: Sequence[Hit]) -> tuple[Source, ...]:
    return tuple(
        Source(number=n, document=hit.document, page=hit.page, chunk=hit.number, text=hit.text, score=hit.score)
        for n, hit in enumerate(hits, 1)
    )


def _rarity(wanted: Sequence[Concept], words: Sequence[frozenset[str]]) -> dict[Concept, float]:
    """Weigh what is asked for by how few of the passages speak of it, as inverse document frequencies do."""
    counts = {one: sum(one.held(held) for held in words) for one in wanted}
    return {one: math.log(1 + (len(words) + 0.5) / (counts[one] + 0.5)) for one in wanted}


def _share(held: frozenset[str], rarity: dict[Concept, float]) -> float:
    whole = sum(rarity.values())
    return sum(weight for one, weight in rarity.items() if one.held(held)) / whole if whole else 0.0


def _candidates(
    about: Sequence[tuple[Hit, frozenset[str]]], rarity: dict[Concept, float]
) -> list[tuple[float, str, Hit]]:
    found = []
    for place, (hit, held) in enumerate(about):
        around = _share(held, rarity)
        said = sentences(hit.text)
        # The title stands in the source already, and alone it says nothing.
        for sentence in [one for one in said if one != hit.document.title] or said:
            inside = _share(stems(sentence), rarity)
            # Of equals the passage that was found first is quoted.
            found.append((inside + _AROUND * around - 1e-6 * place, _short(sentence), hit))
    return found


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 2].rsplit(' ', 1)[0]} …"
