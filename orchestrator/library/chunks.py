"""Splitting a document into passages of about one paragraph, each of which keeps its page and place."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

#: about how long a passage is, in characters
SIZE = 1200
#: how much of the passage before is repeated at most, in characters, so that nothing is cut from what explains it
OVERLAP = 200
_ABBREVIATED = re.compile(
    r"(?:\b(?:et al|e\.g|i\.e|cf|vs|ca|approx|Figs?|Eqs?|Refs?|Nos?|Dr|Prof)|(?:^|\(|(?<!\d)\s)[A-Z])\.$"
)
_END = re.compile(r"(?<=[.!?])[\"”')\]]*\s+(?=[\"“'(\[]*[A-Z0-9])")


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A passage.

    Attributes
    ----------
    number
        In its document, from 1.
    page
        From 1; a passage never goes over the end of a page.
    start
        Where it begins on its page, in characters from 0.
    """

    number: int
    page: int
    start: int
    text: str


def split(pages: Sequence[str]) -> list[Chunk]:
    """Split pages into passages; the same pages give the same passages."""
    chunks: list[Chunk] = []
    for page, text in enumerate(pages, 1):
        for start, passage in _passages(text):
            chunks.append(Chunk(number=len(chunks) + 1, page=page, start=start, text=passage))
    return chunks


def sentences(text: str) -> list[str]:
    """Split a passage into sentences, also at the ends of its paragraphs; what they say is not changed."""
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*•]|\d+\.)\s)|(?<=\w)\n(?=#)", text):
        line = " ".join(re.sub(r"^\s*(?:#+|[-*•])\s+", "", paragraph).split())
        begin = 0
        for match in _END.finditer(line):
            if _ABBREVIATED.search(line[: match.start()]):
                continue
            found.append(line[begin : match.end()].strip())
            begin = match.end()
        found.append(line[begin:].strip())
    return [one for one in found if one]


def _passages(text: str) -> Iterator[tuple[int, str]]:
    """Give the passages of one page, with where they begin."""
    pieces = [piece for match in re.finditer(r"\S.*?(?=\n\s*\n|\Z)", text, re.DOTALL) for piece in _pieces(match)]
    first = 0
    while first < len(pieces):
        last = first
        while last + 1 < len(pieces) and pieces[last + 1][1] - pieces[first][0] <= SIZE:
            last += 1
        begin, end = pieces[first][0], pieces[last][1]
        yield begin, text[begin:end].strip()
        if last + 1 == len(pieces):
            return
        begun, first = first, last + 1
        # Each passage begins after the one before it and ends after it too, so this comes to an end.
        while (
            first - 1 > begun
            and end - pieces[first - 1][0] <= OVERLAP
            and pieces[last + 1][1] - pieces[first - 1][0] <= SIZE
        ):
            first -= 1


def _pieces(paragraph: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Give the ends of a paragraph, or of its sentences where it is longer than a passage, or of its words."""
    begin, text = paragraph.start(), paragraph[0].rstrip()
    if len(text) <= SIZE:
        yield begin, begin + len(text)
        return
    cuts = [0, *(match.end() for match in _END.finditer(text)), len(text)]
    for left, right in itertools.pairwise(cuts):
        while right - left > SIZE:
            space = text.rfind(" ", left + 1, left + SIZE)
            cut = space + 1 if space > left else left + SIZE
            yield begin + left, begin + cut
            left = cut
        yield begin + left, begin + right
