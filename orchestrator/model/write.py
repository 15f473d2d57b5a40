"""Prose out of findings and nothing else, for an agent's step or for the answer; what cannot be checked is refused."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from orchestrator.model.budget import ModelError
from orchestrator.model.client import Asking, Asks
from orchestrator.model.draft import Draft, tellable
from orchestrator.model.fence import fenced
from orchestrator.model.numbers import quantities, sentences, strange, strange_quantities, told, without_errors
from orchestrator.model.prompts import about, prompt
from orchestrator.report import QUOTING, headings
from orchestrator.state import SUMMARY, Event, Finding, Step, Usage
from orchestrator.stream.actions import ACTIONS, actions_prompt

#: the longest prose, in characters
_LONGEST = 3000
_MARKUP = re.compile(r"^\s*(?:#|[-*•]\s|\d+\.\s|\||```|>)|<[A-Za-z/!]", re.MULTILINE)
_CITED = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]|\bweb (?:search|results?|pages?)\b", re.IGNORECASE)
_FAILS = re.compile(r"\bfail|\berror\b|\bdid not\b|\bcould not\b|\bstopped\b", re.IGNORECASE)
_CITATION = re.compile(r"\[(\d+(?:\s*,\s*\d+)*)\]")
_QUOTE = re.compile(r"“([^”]*)” \[(\d+)\]")
_PAGE = re.compile(r"Web result (\d+), ")
_PLAIN_FORM = "Answer with the sentences and nothing else."

#: is given the text so far, as far as it may be told
TellText = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Prose:
    """What became of the wording.

    Attributes
    ----------
    text
        The sentences; empty: the findings' own are kept.
    line
        What happened, for the run's history.
    wishes
        Actions that the model proposes, which the agent may; nothing is done about them but to tell them.
    dropped
        What it wrote that is no text and no such action.
    """

    text: str = ""
    usage: Usage
    line: str
    wishes: tuple[Event, ...] = ()
    dropped: tuple[Event, ...] = ()


async def word_answer(
    model: Asks,
    request: str,
    findings: Sequence[Finding],
    answer: str,
    usage: Usage,
    *,
    tell: TellText | None = None,
    key: str = "answer",
) -> Prose:
    """Have the model word the answer; whatever goes wrong leaves the findings' own words, and is told.

    Parameters
    ----------
    answer
        Those own words; none of their quantities may get lost.
    tell
        Is given the text as it grows, as far as nothing in it can be refused.
    key
        What the keys of its events begin with.
    """
    text = _Text(SUMMARY, 0, key, "answer", request, tuple(findings), answer)
    return await _write(model, prompt("write"), text, usage, tell)


async def word_finding(
    model: Asks,
    does: str,
    request: str,
    step: Step,
    finding: Finding,
    usage: Usage,
    *,
    tell: TellText | None = None,
    key: str = "finding",
) -> Prose:
    """Have the model say what the findings of one step mean, or what its sources say together, each with its citation.

    Parameters
    ----------
    does
        What the step's agent is for.
    """
    cites = finding.agent in QUOTING
    form = actions_prompt(finding.agent) if finding.agent in ACTIONS else _PLAIN_FORM
    instructions = prompt(
        "cite" if cites else "interpret", agent=finding.agent, does=does, about=about(finding.agent), form=form
    )
    text = _Text(finding.agent, step.number, key, f"step {step.number}", request, (finding,), finding.summary, cites)
    return await _write(model, instructions, text, usage, tell)


async def word_plan(model: Asks, request: str, plan: str, usage: Usage, *, tell: TellText | None = None) -> Prose:
    """Have the model explain a plan to whoever shall approve it, out of what the gate says of it."""
    shown = Finding(step=0, agent="supervisor", summary=plan, notes=(request,))
    text = _Text("supervisor", 0, "plan", "the plan", request, (shown,), "")
    return await _write(model, prompt("explain"), text, usage, tell)


@dataclass(frozen=True)
class _Text:
    """A text that is to be written, and what it is checked against."""

    agent: str
    step: int
    key: str
    what: str
    request: str
    findings: tuple[Finding, ...]
    #: the findings' own words
    own: str
    cites: bool = False

    def question(self) -> str:
        data = "\n\n".join(_shown(finding) for finding in self.findings)
        own = fenced("answer" if self.agent == SUMMARY else "own words", self.own) if self.own else ""
        return "\n\n".join(filter(None, (fenced("request", self.request), own, fenced("findings", data))))

    def problem(self, text: str) -> str:
        """Say what is wrong with a text, or with the first sentences of one."""
        return _problem(text, self.findings) or (_uncited(text, self.findings[0]) if self.cites else "")

    def lost(self, text: str) -> str:
        return "" if self.cites else _lost(text, self.own)

    def kept(self, why: str) -> str:
        if self.agent == SUMMARY:
            return f"the findings' own words are the answer: the language model {why}"
        if not self.step:
            return f"{self.what} is not explained: the language model {why}"
        return f"{self.what} keeps its findings' own words: the language model {why}"


async def _write(model: Asks, instructions: str, text: _Text, usage: Usage, tell: TellText | None) -> Prose:
    draft = Draft(text.agent, text.key, text.step)

    async def grow(piece: str) -> None:
        draft.feed(piece)
        if tell is not None and (part := tellable(draft.text, text.problem)):
            await tell(part)

    try:
        reply = await model.ask(instructions, text.question(), usage, tell=grow)
    except Asking as error:
        return Prose(usage=error.usage, line=text.kept(str(error)))
    except ModelError as error:
        return Prose(usage=usage, line=text.kept(str(error)))
    draft.close()
    dropped = tuple(draft.dropped)
    if reply.calls:
        line = text.kept("tried to call a tool, and it has none")
        return Prose(usage=reply.usage, line=line, dropped=dropped)
    if problem := text.problem(draft.text) or text.lost(draft.text):
        line = text.kept(
            f"worded {'the answer' if text.agent == SUMMARY else 'them'} in a way that is refused: {problem}"
        )
        return Prose(usage=reply.usage, line=line, dropped=dropped)
    return Prose(
        text=" ".join(draft.text.split()),
        usage=reply.usage,
        line=f"{'the answer' if text.agent == SUMMARY else text.what} was worded by the language model",
        wishes=tuple(draft.wishes),
        dropped=dropped,
    )


def _problem(text: str, findings: Sequence[Finding]) -> str:
    if not text.strip():
        return "it is empty"
    if len(text) > _LONGEST:
        return f"it has {len(text)} characters, and {_LONGEST} are the most"
    if _MARKUP.search(text):
        return "it is not made of plain sentences"
    if unknown := strange(text, told(findings)):
        return f"no finding has {', '.join(unknown[:5])}"
    if unknown := strange_quantities(text, findings):
        return f"no finding gives {', '.join(unknown[:5])}"
    ours = told([finding for finding in findings if finding.agent not in QUOTING])
    computed = [without_errors(one) for one in ours]
    for sentence in sentences(text):
        quoted = strange(sentence, computed)
        if not quoted or _CITED.search(sentence) or (_FAILS.search(sentence) and not strange(sentence, ours)):
            continue
        if strange(sentence, ours):
            return f"{', '.join(quoted[:5])} was read somewhere and not computed, and no citation says so"
        return f"{', '.join(quoted[:5])} is from an error of a program, and nothing says so"
    return ""


def _uncited(text: str, finding: Finding) -> str:
    """Say what is wrong with the citations of a text: each sentence has one, of a source that there is and says it."""
    sources = _sources(finding)
    for sentence in sentences(text):
        cited = [number for group in _CITATION.findall(sentence) for number in re.findall(r"\d+", group)]
        if not cited:
            return f"a sentence cites no source: {sentence.strip()[:60]}"
        if unknown := [number for number in cited if number not in sources]:
            return f"[{unknown[0]}] is no source"
        said = [one for number in cited for one in sources[number]]
        if unknown := strange(_CITATION.sub("", sentence), said):
            return f"the sources that it cites do not say {', '.join(unknown[:5])}"
    return ""


def _sources(finding: Finding) -> dict[str, list[str]]:
    """Give what each numbered source of a finding says, with what its row of the table holds."""
    rows = finding.table.rows if finding.table else ()
    sources = {row[0]: list(row[1:]) for row in rows if row}
    for quote, number in _QUOTE.findall(finding.summary):
        sources.setdefault(number, []).append(quote)
    for note in finding.notes:
        if found := _PAGE.match(note):
            sources.setdefault(found[1], []).append(note)
    return sources


def _lost(text: str, answer: str) -> str:
    missing = [one for one in quantities(without_errors(answer)) if one not in quantities(text)]
    return f"it leaves out {', '.join(missing[:5])}" if missing else ""


def _shown(finding: Finding) -> str:
    lines = [f"Step {finding.step}, {finding.agent}: {finding.summary}"]
    lines += [f"Level: {finding.level}"] if finding.level else []
    if finding.table and finding.table.rows:
        lines += ["\t".join(headings(finding.table)), *("\t".join(row) for row in finding.table.rows)]
    return "\n".join([*lines, *(f"Note: {note}" for note in finding.notes)])
