"""One turn of a conversation whose history the caller keeps: a decision and one agent's turn, and nothing is kept here.

The agent works in a folder that is gone afterwards. What it would submit is given back as exact specs, for the caller
to submit as a batch or not; its files are given back if they are small.
"""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from orchestrator.agents import AGENTS, Context
from orchestrator.asking import Question
from orchestrator.planning.asked import Asked, Planned
from orchestrator.planning.cost import estimate
from orchestrator.problems import Problem, of_error
from orchestrator.state import SUMMARY, Decision, Finding, Step, Usage
from tasks.errors import InputError
from tasks.settings import Settings
from tasks.specs import dump_spec

#: what identifies molecules for the agents after it; its turn is taken only where nothing else was asked for
_HELPER = "chemistry_agent"
#: the largest file that is given back, and what all of them may have together
FILE_BYTES, ALL_FILES_BYTES = 100_000, 500_000
#: longest summary of a history, and longest line of it
SUMMARY_LENGTH, _LINE_LENGTH = 2000, 300
_LEFT_OUT = "(earlier turns are left out)"


class Turn(BaseModel):
    """Something that was said before; a ``summary`` stands for ``turns`` earlier ones, as a former answer gave it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["user", "assistant", "summary"]
    text: str = Field(max_length=20_000)
    turns: int = Field(default=0, ge=0)


class Returned(BaseModel):
    """A file that the agent wrote; content: in base64, empty if it is too large to be given back."""

    name: str
    role: str
    size_bytes: int
    sha256: str
    content: str = ""
    omitted: str = ""


class Planning(BaseModel):
    """A step of the plan of which at most one is taken."""

    step: int
    agent: str
    description: str
    depends_on: tuple[int, ...]
    taken: bool


class Taken(BaseModel):
    """What came out of a turn.

    Attributes
    ----------
    actions
        Exact specs, which can be submitted as the jobs of a batch.
    core_seconds
        Estimated cost of the actions together; None: not known.
    turns, summary
        For the next turn: the history as one entry of the role ``summary``.
    usage, model
        What was used of a language model, and what it did or why it was no help, a line each; no line: none was asked.
    """

    decision: Decision
    plan: tuple[Planning, ...] = ()
    question: Question | None = None
    answer: str = ""
    finding: Finding | None = None
    files: tuple[Returned, ...] = ()
    actions: tuple[dict[str, Any], ...] = ()
    core_seconds: float | None = None
    error: str = ""
    turns: int
    summary: str
    usage: Usage = Usage()
    model: tuple[str, ...] = ()


def take_turn(
    planned: Planned, asked: Asked, history: Sequence[Turn], offered: frozenset[str], settings: Settings
) -> Taken | Problem:
    """Let at most one agent begin its step of what was planned; or say what is wrong with the request."""
    try:
        step = _step(planned, asked)
        _refuse_kept(planned)
    except InputError as error:
        return of_error(error)
    taken = Taken(
        decision=planned.decision,
        plan=tuple(_planning(one, step) for one in planned.plan.steps),
        question=planned.question,
        answer=planned.answer,
        turns=count_turns(history) + 1,
        summary="",
    )
    return taken if step is None else _begin(taken, step, planned, asked, offered, settings)


def _begin(
    taken: Taken, step: Step, planned: Planned, asked: Asked, offered: frozenset[str], settings: Settings
) -> Taken:
    with tempfile.TemporaryDirectory(prefix="simrelay-turn-") as folder:
        context = Context(
            run_id="turn",
            request=asked.text,
            species=planned.species,
            findings=(),
            workspace=Path(folder),
            folder=Path(folder) / "turn",
            offered=offered,
            plan=planned.plan,
            settings=settings,
        )
        try:
            work = AGENTS[step.agent].plan_jobs(step, context)
        except InputError as error:
            return taken.model_copy(update={"error": str(error)})
        costs = [estimate(spec).core_seconds for spec in work.specs]
        known = [cost for cost in costs if cost is not None]
        changes = {
            # Its files are gone with the folder: they are given beside it.
            "finding": work.finding and work.finding.model_copy(update={"artifacts": (), "pictures": ()}),
            "files": tuple(_files(work.finding, Path(folder))),
            "actions": tuple(dump_spec(spec) for spec in work.specs),
            "core_seconds": round(sum(known), 2) if costs and len(known) == len(costs) else None,
            "error": work.error,
        }
    return taken.model_copy(update=changes)


def _step(planned: Planned, asked: Asked) -> Step | None:
    """Give the step whose agent has its turn: of the agent that was named or decided for, else the first of substance.

    Raises
    ------
    InputError
        If that agent may not be used, or has no step.
    """
    steps = [step for step in planned.plan.steps if step.agent != SUMMARY]
    if not steps:
        return None
    wanted = asked.agent or planned.decision.agent
    found = next((step for step in steps if step.agent == wanted), None)
    if asked.agent and found is None:
        there = ", ".join(dict.fromkeys(step.agent for step in steps))
        remedy = f"The request is one for {there}."
        raise InputError("agents.named", asked.agent, "has nothing to do in this request", remedy)
    found = found or next((step for step in steps if step.agent != _HELPER), steps[0])
    if asked.options.agents and found.agent not in asked.options.agents:
        remedy = f"Allowed are {', '.join(asked.options.agents)}."
        raise InputError("agents.allowed", found.agent, "is what the request needs, and is not allowed", remedy)
    return found


def _refuse_kept(planned: Planned) -> None:
    """Refuse what stands on something that was kept: there is no owner here whose jobs could be looked up."""
    source = next((step.goal.source_job for step in planned.plan.steps if step.goal.source_job), "")
    if source:
        remedy = "Ask for it with `simrelay run`, or submit an analysis with the job's file as its input."
        raise InputError("request", source, "is an earlier job, and nothing is looked up for a stateless turn", remedy)


def _planning(step: Step, taken: Step | None) -> Planning:
    return Planning(
        step=step.number,
        agent=step.agent,
        description=step.description,
        depends_on=step.depends_on,
        taken=taken is not None and step.number == taken.number,
    )


def _files(finding: Finding | None, folder: Path) -> list[Returned]:
    if finding is None:
        return []
    found = {one.path: one for one in (*finding.artifacts, *(picture.file for picture in finding.pictures))}
    files, left = [], ALL_FILES_BYTES
    for artifact in found.values():
        known = {"name": Path(artifact.path).name, "role": artifact.role, "sha256": artifact.sha256}
        file = Returned(**known, size_bytes=artifact.size_bytes)
        if artifact.size_bytes > min(FILE_BYTES, left):
            omitted = f"it is larger than {min(FILE_BYTES, left)} bytes, and is not kept"
            files.append(file.model_copy(update={"omitted": omitted}))
            continue
        left -= artifact.size_bytes
        content = base64.b64encode((folder / artifact.path).read_bytes()).decode()
        files.append(file.model_copy(update={"content": content}))
    return files


# ---- what the caller keeps


def count_turns(history: Sequence[Turn]) -> int:
    """Give how many turns a history holds: each thing that a user said, and those that a summary stands for."""
    return sum(turn.turns if turn.role == "summary" else turn.role == "user" for turn in history)


def outcome(taken: Taken) -> str:
    """Say in a line what came out of a turn."""
    if taken.question:
        return f"asked: {taken.question.text}"
    if taken.error:
        return f"failed: {taken.error}"
    if taken.actions:
        return f"gave {len(taken.actions)} jobs to submit"
    found = taken.finding and (taken.finding.prose or taken.finding.summary)
    return taken.answer or found or "nothing was to be done"


def summarise(history: Sequence[Turn], request: str, outcome: str) -> str:
    """Give a history with its newest turn as text of bounded length, a line each; the oldest lines go first."""
    return _bounded([*_lines(history), f"user: {request}", f"assistant: {outcome}"])


def remembered(history: Sequence[Turn]) -> str:
    """Give a history alone, bounded in the same way; empty if there is none."""
    return _bounded(_lines(history))


def _lines(history: Sequence[Turn]) -> list[str]:
    lines: list[str] = []
    for turn in history:
        lines += turn.text.splitlines() if turn.role == "summary" else [f"{turn.role}: {turn.text}"]
    return lines


def _bounded(lines: Sequence[str]) -> str:
    short = [_line(line) for line in lines if line != _LEFT_OUT]
    kept: list[str] = []
    room = SUMMARY_LENGTH - len(_LEFT_OUT)
    for line in reversed(short):
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    head = [_LEFT_OUT] if _LEFT_OUT in lines or len(kept) < len(short) else []
    return "\n".join([*head, *reversed(kept)])


def _line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LINE_LENGTH else f"{text[: _LINE_LENGTH - 1]}…"
