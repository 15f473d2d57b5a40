"""What of a text no reader has read: the numbers and wishes that are left once all that was understood is blanked out.

Nothing that is asked for is dropped in silence: what is left is refused, named with the words around it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tasks.errors import InputError

_WORDS = "two|three|four|five|six|seven|eight|nine|ten|twelve|sixteen|twenty|fifty|hundred"
#: what makes a number an amount of something
UNIT = (
    r"(?:K|[Kk]elvins?|°\s?[CFcf]?|degrees?(?:\s+(?:C|F|[Cc]elsius|[Ff]ahrenheit|[Kk]elvin))?|[Cc]elsius|[Ff]ahrenheit"
    r"|[Bb]ars?|atm(?:ospheres?)?|[kKMGm]?Pa|[Tt]orr|psi|mmHg"
    r"|[fpnµuµ]s|(?:femto|pico|nano|micro)seconds?|nm|Å|[Aa]ngstroms?|Angström|bohr|pm"
    r"|eV|[Hh]artrees?|kcal(?:\s?/\s?mol)?|kJ(?:\s?/\s?mol)?|g\s?/\s?mol|g\s?/\s?cm\S*|kg\s?/\s?m\S*|mmol\s?/\s?g"
    r"|g/mL|cm-1|[kKMGT]i?B|(?:cpu\s+)?cores?|cpus?|threads?|gpus?|hours?|(?:wt|mol)?\s?%|mol/L)"
)
#: a number with a unit, also one in words: "two cores"
AMOUNT = re.compile(rf"(?<![\w./-])(?:[-+]?\d+(?:\.\d+)?\s?-?\s*|(?:{_WORDS})\s+){UNIT}(?!\w)")
#: any number that is no part of a word, with its unit if it has one
NUMBER = re.compile(rf"{AMOUNT.pattern}|(?<![\w./])[-+]?\d+(?:[.,]\d+)*(?![\w/]|\.\d)")
#: numbers that count nothing to be computed: of steps, of lists, of figures
_ORDINAL = re.compile(
    r"(?:^|\n)\s*\d+[.)]\s|\b(?:steps?|figures?|tables?|fig\.|no\.|candidates?|iteration)\s+#?\d+\b|#\d+"
    r"|\b(?:best|top|first|last)\s+\d+\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:no|not|without|don't|avoid|never|skip(?:ping)?)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)


class Unread:
    """A text out of which readers take what they understand.

    Attributes
    ----------
    text
        What nobody has read yet, the rest of it blanks: places in it stay what they are.
    """

    def __init__(self, text: str, whole: str = "") -> None:
        self.text = text
        #: the text as it was written, of which messages show the part
        self.whole = whole or text

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Find the first of a pattern, and blank it out."""
        match = pattern.search(self.text)
        if match:
            self.blank(*match.span())
        return match

    def take_all(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        """Find all of a pattern, and blank them out."""
        found = list(pattern.finditer(self.text))
        for match in found:
            self.blank(*match.span())
        return found

    def blank(self, start: int, end: int) -> None:
        """Say that what stands there has been read."""
        self.text = self.text[:start] + " " * (end - start) + self.text[end:]

    def part(self, match: re.Match[str]) -> str:
        """Give what was found in the text as it was written, with the words around it."""
        # Some readers take what they read out of the text, and its places are no longer those of the whole.
        return around(self.whole if len(self.whole) == len(self.text) else self.text, *match.span())

    def numbers(self, pattern: re.Pattern[str] = NUMBER) -> list[re.Match[str]]:
        """Give the numbers that nobody has read; those that only name a step or a list's entry are none."""
        without = _ORDINAL.sub(lambda match: " " * len(match[0]), self.text)
        return list(pattern.finditer(without))

    def refuse_numbers(self, field: str, remedy: str, pattern: re.Pattern[str] = NUMBER) -> None:
        """Raise InputError for the first number that nobody has read, with the words around it."""
        if found := self.numbers(pattern):
            part = self.part(found[0])
            raise InputError(field, part, f"holds {found[0][0].strip()!r}, which nothing here reads", remedy)


def around(text: str, start: int, end: int) -> str:
    """Give a part of a text with the two words on each side of it, as it was written."""
    before = re.search(r"(?:\S+\s+){0,2}\S*$", text[:start])
    after = re.match(r"\S*(?:\s+\S+){0,2}", text[end:])
    return f"{before[0] if before else ''}{text[start:end]}{after[0] if after else ''}".strip(" ,;")


def wished(text: str, wishes: Mapping[str, re.Pattern[str]]) -> list[str]:
    """Give the names of the wishes that a text has; "without annealing" is none for annealing."""
    return [
        name
        for name, words in wishes.items()
        if any(not _NEGATED.search(text[: match.start()]) for match in words.finditer(text))
    ]
