"""Answers out of passages: sentences quoted word for word, each with its source; nothing is added to them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from pydantic import computed_field

from orchestrator.library.chunks import sentences
from orchestrator.library.store import Hit, Part, Record
from orchestrator.library.words import asked, stems

#: passages that an answer may cite
PASSAGES = 5
#: passages that are looked at, from which the rarity of the question's words is reckoned
CANDIDATES = 30
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
            return f"Nothing found on this in the {among} of the library."
        near = "" if self.worded else " No passage holds its words; these are nearest in meaning:"
        # What a document says cannot end its own quotation.
        inner = str.maketrans("“”", "‘’")
        quoted = " ".join(f"“{quote.text.translate(inner)}” [{quote.source}]" for quote in self.quotes)
        return f"Found in the library ({among} searched):{near} {quoted}"


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
    wanted = asked(question)
    words = [stems(f"{hit.document.title} {hit.text}") for hit in hits]
    rarity = _rarity(wanted, words)
    about = [(hit, held) for hit, held in zip(hits, words, strict=True) if _share(wanted & held, rarity) >= _ABOUT]
    worded = bool(about)
    if not about and by_meaning:
        about = [(hit, held) for hit, held in zip(hits, words, strict=True)][:1]
    about = about[:PASSAGES]
    ranked = sorted(_candidates(about, wanted, rarity), key=lambda one: -one[0])
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
        sources=tuple(
            Source(number=n, document=hit.document, page=hit.page, chunk=hit.number, text=hit.text, score=hit.score)
            for n, hit in enumerate(order, 1)
        ),
        searched=searched,
        method=method,
        worded=worded,
        notes=notes,
    )


def _rarity(wanted: frozenset[str], words: Sequence[frozenset[str]]) -> dict[str, float]:
    """Weigh each word by how few of the passages hold it, as inverse document frequencies do."""
    counts = Counter(word for held in words for word in wanted & held)
    return {word: math.log(1 + (len(words) + 0.5) / (counts[word] + 0.5)) for word in wanted}


def _share(held: frozenset[str], rarity: dict[str, float]) -> float:
    whole = sum(rarity.values())
    return sum(rarity[word] for word in held) / whole if whole else 0.0


def _candidates(
    about: Sequence[tuple[Hit, frozenset[str]]], wanted: frozenset[str], rarity: dict[str, float]
) -> list[tuple[float, str, Hit]]:
    found = []
    for place, (hit, held) in enumerate(about):
        around = _share(wanted & held, rarity)
        said = sentences(hit.text)
        # The title stands in the source already, and alone it says nothing.
        for sentence in [one for one in said if one != hit.document.title] or said:
            inside = _share(wanted & stems(sentence), rarity)
            # Of equals the passage that was found first is quoted.
            found.append((inside + _AROUND * around - 1e-6 * place, _short(sentence), hit))
    return found


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 2].rsplit(' ', 1)[0]} …"
