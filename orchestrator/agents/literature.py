"""The literature agent: what the documents of the library say on a question, quoted and cited. It needs no job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from orchestrator.agents.base import Agent, Context, JobResult, Work
from orchestrator.library import Answer, RedisAway, open_library
from orchestrator.state import Column, Finding, Step, Table
from tasks.errors import SimrelayError
from tasks.settings import Settings

_COLUMNS = ("No.", "Source", "Page", "Chunk", "DOI")


class LiteratureAgent(Agent):
    """Searches the library and quotes what it finds; what a document says is told, never done."""

    name: ClassVar[str] = "rag_agent"
    description: ClassVar[str] = "What your documents say on a question, with citations to document, page and passage"
    abilities: ClassVar[tuple[str, ...]] = (
        "search PDF, Markdown, text and BibTeX that were added with `simrelay library add`",
        "answer by quoting sentences, each with its numbered source, page and DOI",
        "say that nothing was found, and in how many documents",
    )
    tools: ClassVar[tuple[str, ...]] = ("RediSearch (BM25)", "redisvl or Qdrant (vectors)", "pypdf", "bibtexparser")

    def plan_jobs(self, step: Step, context: Context) -> Work:
        """Do the whole step at once.

        Raises
        ------
        RedisAway
            If Redis does not answer. It holds the run too, so this is no end of the step: the run waits for Redis.
        """
        question = step.goal.query or context.request
        try:
            with open_library(context.settings or Settings()) as library:
                answer = library.ask(question)
        except RedisAway:
            raise
        except SimrelayError as error:
            return Work(error=str(error))
        return Work(finding=_finding(step, answer))

    def interpret(self, step: Step, context: Context, results: Sequence[JobResult]) -> Work:
        """Never needed, since no jobs are submitted; gives the same findings."""
        return self.plan_jobs(step, context)


def _finding(step: Step, answer: Answer) -> Finding:
    rows = tuple(
        (str(one.number), one.reference, str(one.page), str(one.chunk), one.document.doi or "—")
        for one in answer.sources or answer.nearest
    )
    notes = [*answer.notes, f"Searched by {answer.method} for: {answer.question}"]
    if answer.found:
        notes.append("The sentences are quoted word for word; whether they are right, the sources must answer for.")
    return Finding(
        step=step.number,
        agent=LiteratureAgent.name,
        summary=answer.text,
        table=Table(columns=tuple(Column(title=title) for title in _COLUMNS), rows=rows) if rows else None,
        notes=tuple(notes),
        stage="found" if answer.found else "nothing found",
    )
