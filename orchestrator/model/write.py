"""The answer's prose, out of the findings and nothing else; what cannot be checked against them is refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.model.budget import ModelError
from orchestrator.model.client import Asking, Model
from orchestrator.model.fence import fenced
from orchestrator.model.numbers import quantities, strange, strange_quantities, told
from orchestrator.model.prompts import prompt
from orchestrator.report import headings
from orchestrator.state import Finding, Usage

#: the longest prose, in characters
_LONGEST = 3000
_MARKUP = re.compile(r"^\s*(?:#|[-*•]\s|\d+\.\s|\||```|>)|<[A-Za-z/!]", re.MULTILINE)

#: whose findings quote what others wrote: nothing in them was computed here
_QUOTING = frozenset({"rag_agent", "web_search_agent"})
_CITED = re.compile(r"\[\d+\]|\bweb (?:search|results?|pages?)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Prose:
    """What became of the wording.

    Attributes
    ----------
    text
        The answer's sentences; empty: the findings' own are kept.
    line
        What happened, for the run's history.
    """

    text: str = ""
    usage: Usage
    line: str


async def word_answer(model: Model, request: str, findings: Sequence[Finding], answer: str, usage: Usage) -> Prose:
    """Have the model word the answer; whatever goes wrong leaves the findings' own words, and is told.

    Parameters
    ----------
    answer
        Those own words; none of their quantities may get lost.
    """
    data = "\n\n".join(_shown(finding) for finding in findings)
    question = f"{fenced('request', request)}\n\n{fenced('answer', answer)}\n\n{fenced('findings', data)}"
    try:
        reply = await model.ask(prompt("write"), question, usage)
    except Asking as error:
        return Prose(usage=error.usage, line=_kept(str(error)))
    except ModelError as error:
        return Prose(usage=usage, line=_kept(str(error)))
    if reply.calls:
        return Prose(usage=reply.usage, line=_kept("tried to call a tool, and it has none"))
    text = " ".join(reply.text.split())
    problem = _problem(reply.text, findings) or _lost(reply.text, answer)
    if problem:
        return Prose(usage=reply.usage, line=_kept(f"worded the answer in a way that is refused: {problem}"))
    return Prose(text=text, usage=reply.usage, line="the answer was worded by the language model")


def _kept(why: str) -> str:
    return f"the findings' own words are the answer: the language model {why}"


def _problem(text: str, findings: Sequence[Finding]) -> str:
    if not text:
        return "it is empty"
    if len(text) > _LONGEST:
        return f"it has {len(text)} characters, and {_LONGEST} are the most"
    if _MARKUP.search(text):
        return "it is not made of plain sentences"
    if unknown := strange(text, told(findings)):
        return f"no finding has {', '.join(unknown[:5])}"
    if unknown := strange_quantities(text, findings):
        return f"no finding gives {', '.join(unknown[:5])}"
    computed = told([finding for finding in findings if finding.agent not in _QUOTING])
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        if (quoted := strange(sentence, computed)) and not _CITED.search(sentence):
            return f"{', '.join(quoted[:5])} was read somewhere and not computed, and no citation says so"
    return ""


def _lost(text: str, answer: str) -> str:
    missing = [one for one in quantities(answer) if one not in quantities(text)]
    return f"it leaves out {', '.join(missing[:5])}" if missing else ""


def _shown(finding: Finding) -> str:
    lines = [f"Step {finding.step}, {finding.agent}: {finding.summary}"]
    lines += [f"Level: {finding.level}"] if finding.level else []
    if finding.table and finding.table.rows:
        lines += ["\t".join(headings(finding.table)), *("\t".join(row) for row in finding.table.rows)]
    return "\n".join([*lines, *(f"Note: {note}" for note in finding.notes)])
