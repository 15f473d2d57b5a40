"""Numbers and addresses in what a model wrote: each has to stand in what it was given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from orchestrator.report import headings
from orchestrator.state import Finding

#: words with a digit in them (``-9.181``, ``B3LYP/def2-SVP``, ``C[N+]1(C)CCCCC1``), and what is a link or picture
_WITH_DIGIT = re.compile(r"\S*\d\S*")
_LINK = re.compile(r"(?:[a-z][a-z0-9+.-]*://|www\.|mailto:|\]\()\S*", re.IGNORECASE)
#: why jobs gave no result, as ``JobResult.reason`` words it: a program's own words, and their class; up to the last
#: class there is, so that those words cannot end it before
_FAILURE = re.compile(r"\bfailed: .*\[[a-z_]+\](?: \([^)]*\))?", re.DOTALL)
_AROUND = ".,;:!?()[]{}<>\"'`*_“”‘’"
#: number, and the unit after it
_UNITS = (
    "eV|meV|Eh|mEh|hartree|kcal/mol|kJ/mol|J/mol/K|J/(mol K)|cal/mol/K|D|debye|Å|nm|pm|K|°C|ps|ns|fs|cm-1|cm⁻¹|cm²/s"
    "|m²/s|nm²/ns|mmol/g|g/mol|Da|g/cm³|bar|Pa|e|%"
)
_WITH_UNIT = re.compile(rf"(?<![\w.])([-−–]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*({_UNITS})(?![\w/⁻²³])")
#: where a sentence ends: not after an abbreviation, and not before a citation that belongs to it
_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!\bal\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\bca\.)(?<!\bcf\.)(?<!\b[Ff]ig\.)(?<!\bapprox\.)"
    r"\s+(?!\[(?:\d|$))(?=\S)"
)


def sentences(text: str) -> list[str]:
    """Give the sentences of a text; the last one with what blanks stand after it."""
    return [sentence for sentence in _SENTENCE_END.split(text.lstrip()) if sentence]


def strange(text: str, sources: Iterable[str]) -> list[str]:
    """Give the words with digits, and the links, of a text that no source has; in order, each once."""
    known = {word for source in sources for word in _words(source)}
    # Of ``B3LYP/def2-SVP//GFN2-xTB`` each part may be told alone.
    known |= {part for word in known for part in word.split("/")}
    return list(dict.fromkeys(word for word in _words(text) if word not in known))


def strange_quantities(text: str, findings: Sequence[Finding]) -> list[str]:
    """Give the numbers with units of a text that no finding gives in that unit."""
    known = {pair for source in told(findings) for pair in _quantities(without_errors(source))}
    for finding in findings:
        known |= {(_plain(f"{value.value:g}"), value.unit) for value in finding.values}
        if finding.table:
            units = [column.unit for column in finding.table.columns]
            known |= {
                (_plain(cell), unit) for row in finding.table.rows for cell, unit in zip(row, units, strict=False)
            }
    return [f"{number} {unit}" for number, unit in dict.fromkeys(_quantities(text)) if (number, unit) not in known]


def quantities(text: str) -> list[str]:
    """Give the numbers with units of a text, with one kind of minus."""
    return [f"{number} {unit}" for number, unit in _quantities(text)]


def without_errors(text: str) -> str:
    """Give a text without what programs said of their failures: nothing in there was computed."""
    return _FAILURE.sub("failed", text)


def told(findings: Sequence[Finding]) -> list[str]:
    """Give all that findings say to a reader."""
    texts = []
    for finding in findings:
        texts += [finding.summary, finding.level, *finding.notes]
        if finding.table:
            texts += [*headings(finding.table), *(cell for row in finding.table.rows for cell in row)]
    return [text for text in texts if text]


def _words(text: str) -> list[str]:
    words = [match[0] for match in _LINK.finditer(text)] + [match[0] for match in _WITH_DIGIT.finditer(text)]
    return [word for word in map(_plain, words) if word]


def _quantities(text: str) -> list[tuple[str, str]]:
    return [(_plain(match[1]), match[2]) for match in _WITH_UNIT.finditer(text)]


def _plain(word: str) -> str:
    """Give a word without the marks around it, and with one kind of minus."""
    return re.sub(r"[−–‑]", "-", word).strip(_AROUND).removesuffix("%").removesuffix("'s").strip(_AROUND)
