"""One stateless turn: decided, taken by at most one agent, put into words; told while that happens, and then forgotten.

The history that comes with it is data, as a paper is: it may say what "the same" means, and never what is allowed.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from orchestrator.agents import AGENTS
from orchestrator.model import Asks, plan_with_model
from orchestrator.model.write import word_finding
from orchestrator.planning.asked import Asked, Planned
from orchestrator.planning.decide import plan_request
from orchestrator.problems import Problem
from orchestrator.report import QUOTING
from orchestrator.state import Event, Step, Usage
from orchestrator.stateless import Taken, Turn, outcome, remembered, summarise, take_turn
from orchestrator.stream.live import LiveText
from tasks.errors import SimrelayError
from tasks.settings import Settings

T = TypeVar("T")
Tell = Callable[[Event], Awaitable[None]]


class Run(Protocol):
    """Runs a function in a process of its own."""

    def __call__(self, what: Callable[..., T], *arguments: object) -> Awaitable[T]:
        """Give what it gives."""


async def _nobody(event: Event) -> None:
    """Tell nobody."""


async def turn(
    asked: Asked,
    history: Sequence[Turn],
    offered: frozenset[str],
    *,
    settings: Settings,
    run: Run,
    model: Asks | None = None,
    tell: Tell = _nobody,
) -> Taken:
    """Take one turn; with a model it is asked for at most one decision (and once to repair it) and one text.

    Parameters
    ----------
    offered
        Engines that workers have declared.
    tell
        Is given what happens, in the order of a run's events (``stream.derive``).

    Raises
    ------
    InputError
        If the request cannot be used.
    """
    asked = replace(asked, history=remembered(history))
    model = model if asked.options.model else None
    rules = functools.partial(run, plan_request)
    helped = await plan_with_model(rules, asked, model, AGENTS, Usage(), once=True)
    if helped.planned is None:
        raise helped.error or SimrelayError("the request was neither planned nor refused")
    planned = helped.planned
    await _tell_plan(planned, tell)
    taken = await run(take_turn, planned, asked, tuple(history), offered, settings)
    if isinstance(taken, Problem):
        raise taken.error()
    taken = taken.model_copy(update={"usage": helped.usage, "model": helped.history})
    number = next((one.step for one in taken.plan if one.taken), None)
    if number is not None:
        taken = await _agent_s_part(taken, planned.plan.step(number), asked.text, model, tell)
    elif taken.answer:
        await _text(tell, "answer").end(taken.answer)
    return taken.model_copy(update={"summary": summarise(history, asked.text, outcome(taken))})


async def _agent_s_part(taken: Taken, step: Step, request: str, model: Asks | None, tell: Tell) -> Taken:
    who = {"step": step.number, "agent": step.agent}
    await tell(Event(key="start", kind="agent_start", data={**who, "description": step.description}))
    if taken.finding and not taken.error:
        taken = await _in_words(taken, step, request, model, _text(tell, "step", **who))
    if taken.actions:
        data = {**who, "jobs": len(taken.actions), "core_seconds": taken.core_seconds, "proposed": True}
        await tell(Event(key="jobs", kind="action", data={**data, "name": "jobs"}))
    summary = taken.finding.summary if taken.finding else ""
    end = {**who, "status": "failed" if taken.error else "done", "summary": summary, "error": taken.error}
    await tell(Event(key="end", kind="agent_end", data=end))
    return taken


async def _in_words(taken: Taken, step: Step, request: str, model: Asks | None, text: LiveText) -> Taken:
    """Put the agent's finding into words, by the model if there is one and it can."""
    finding = taken.finding
    assert finding is not None
    nothing = finding.agent in QUOTING and not (finding.table and finding.table.rows)
    if model is None or nothing:
        await text.end(finding.summary)
        return taken
    does = AGENTS[step.agent].description
    prose = await word_finding(model, does, request, step, finding, taken.usage, tell=text.grow)
    await text.end(prose.text or finding.summary)
    proposed = tuple(f"{event.data['name']}: {event.data['arguments']}" for event in prose.wishes)
    changes = {"prose": prose.text, "proposed": proposed}
    dropped = (f"dropped of what the language model wrote: {event.data['text']}" for event in prose.dropped)
    lines = (*taken.model, prose.line, *dropped)
    return taken.model_copy(
        update={"finding": finding.model_copy(update=changes), "usage": prose.usage, "model": lines}
    )


async def _tell_plan(planned: Planned, tell: Tell) -> None:
    decision = planned.decision
    data: dict[str, Any] = {"text": decision.reason, "rule": decision.rule, "agent": decision.agent}
    await tell(Event(key="decision", kind="thinking", data=data))
    if planned.plan.steps:
        steps = [
            {"step": one.number, "agent": one.agent, "description": one.description, "status": one.status.value}
            for one in planned.plan.steps
        ]
        await tell(Event(key="plan", kind="plan", data={"title": planned.plan.title, "steps": steps}))
    if planned.question:
        asked = planned.question.model_dump(mode="json", include={"text", "candidates", "closed"})
        await tell(Event(key="question", kind="cue_user", data={"question": planned.question.id, **asked}))


def _text(tell: Tell, of: str, **about: Any) -> LiveText:
    return LiveText(tell, {"of": of, "id": of, **about}, of)
