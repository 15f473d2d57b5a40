"""The supervisor's questions to the language model: asked only where the rules abstain, and never decisive by itself.

A choice goes through the same planner as if a person had named the agent, a sentence through the same rules as a
request; what comes out carries the rule ``model``, so that what it costs needs a person's approval.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from orchestrator.agents.base import Agent
from orchestrator.asking import Candidate, Question
from orchestrator.model.budget import ModelError
from orchestrator.model.client import Asking, Asks
from orchestrator.model.extract import may_be_read, rewrite
from orchestrator.model.route import ABSTAIN, FINISH, RESPOND, choose
from orchestrator.planning.asked import Asked, Planned
from orchestrator.state import SUMMARY, Decision, Plan, Usage
from tasks.errors import InputError

#: what questions about the agent are called
ROUTE = "route"
_NOT_COMPUTED = "(From the language model; nothing was computed.)"


@dataclass(frozen=True, kw_only=True)
class Helped:
    """What became of a request, with or without the model's help.

    Attributes
    ----------
    error
        Why it cannot be used; None: it was planned, answered, or a person has to be asked.
    history
        What the model did, or why it was no help.
    """

    planned: Planned | None = None
    error: InputError | None = None
    usage: Usage
    history: tuple[str, ...] = ()


async def plan_with_model(
    plan: Callable[[Asked], Awaitable[Planned]],
    asked: Asked,
    model: Asks | None,
    agents: Mapping[str, Agent],
    usage: Usage,
    *,
    once: bool = False,
) -> Helped:
    """Plan a request by the rules, and ask the model where they abstain.

    Parameters
    ----------
    plan
        The rules.
    model
        None: they are all there is.
    once
        Whether it may decide only once: then it does not also read a request for the agent that it chose.
    """
    wanted = model if asked.options.model else None
    try:
        planned = await plan(asked)
    except InputError as error:
        if wanted is None or not may_be_read(error):
            return Helped(error=error, usage=usage)
        return await _read(plan, asked, error, wanted, usage)
    question = planned.question
    if wanted is None or asked.agent or question is None or not is_route(question):
        return Helped(planned=planned, usage=usage)
    if asked.history:
        # What was said before says more about what is missing than a choice among agents could.
        missing = InputError("request", asked.text, planned.decision.reason or "is not clear", "Read the history.")
        helped = await _read(plan, asked, missing, wanted, usage)
        return helped if helped.error is None else replace(helped, planned=planned, error=None)
    return await _route(plan, asked, planned, question, wanted, agents, usage, once=once)


def is_route(question: Question) -> bool:
    """Tell whether a question is which agent a request is for."""
    return question.id.partition("-")[0] == ROUTE


async def _route(
    plan: Callable[[Asked], Awaitable[Planned]],
    asked: Asked,
    tied: Planned,
    question: Question,
    model: Asks,
    agents: Mapping[str, Agent],
    usage: Usage,
    *,
    once: bool,
) -> Helped:
    candidates = _candidates(question, agents, asked.options.agents)
    try:
        choice, usage = await choose(model, asked.text, candidates, usage)
    except ModelError as error:
        usage = error.usage if isinstance(error, Asking) else usage
        return Helped(planned=tied, usage=usage, history=(f"a person is asked: the language model {error}",))
    why = " ".join(choice.reasoning.split())
    if choice.next_agent == ABSTAIN:
        line = f"a person is asked: the language model abstains{f' ({why})' if why else ''}"
        return Helped(planned=tied, usage=usage, history=(line,))
    if choice.next_agent in (RESPOND, FINISH):
        decision = Decision(rule="model", reason=why or "the request needs no agent")
        answered = Planned(decision=decision, answer=f"{choice.response.strip()}\n\n{_NOT_COMPUTED}")
        return Helped(planned=answered, usage=usage, history=("the language model answered",))
    line = f"the language model chose {choice.next_agent}{f' ({why})' if why else ''}"
    chosen = replace(asked, agent=choice.next_agent)
    try:
        planned = await plan(chosen)
    except InputError as error:
        if once or not may_be_read(error):
            return Helped(error=error, usage=usage, history=(line,))
        helped = await _read(plan, chosen, error, model, usage)
        return replace(helped, history=(line, *helped.history))
    if planned.question is None:
        planned = _by_model(planned, why or "the likeliest of those that the rules left")
    return Helped(planned=planned, usage=usage, history=(line,))


def _candidates(question: Question, agents: Mapping[str, Agent], allowed: Sequence[str]) -> list[Candidate]:
    """Give the agents that may be chosen: those of the question, else all that the run may use."""
    asked = [one for one in question.candidates if one.value in agents and (not allowed or one.value in allowed)]
    return asked or [
        Candidate(value=name, text=agent.description)
        for name, agent in agents.items()
        if name != SUMMARY and (not allowed or name in allowed)
    ]


async def _read(
    plan: Callable[[Asked], Awaitable[Planned]], asked: Asked, refused: InputError, model: Asks, usage: Usage
) -> Helped:
    try:
        sentence, usage = await rewrite(model, asked.text, refused, usage, asked.history)
    except ModelError as error:
        usage = error.usage if isinstance(error, Asking) else usage
        return Helped(error=refused, usage=usage, history=(f"the language model {error}",))
    if not sentence:
        return Helped(error=refused, usage=usage, history=("the language model cannot read the request either",))
    line = f"the language model reads the request as: {sentence}"
    try:
        planned = await plan(replace(asked, text=sentence))
    except InputError as error:
        return Helped(error=refused, usage=usage, history=(line, f"which is refused as well: {error}"))
    if planned.question is None:
        planned = _by_model(replace(planned, plan=_of(planned.plan, sentence)), f"read as: {sentence}")
    return Helped(planned=planned, usage=usage, history=(line,))


def _of(plan: Plan, sentence: str) -> Plan:
    """Give the plan whose agents read that sentence, where they would read the request."""
    for step in plan.steps:
        if step.agent == "md_agent" and not step.goal.query:
            goal = step.goal.model_copy(update={"query": sentence})
            plan = plan.replace(step.model_copy(update={"goal": goal}))
    return plan


def _by_model(planned: Planned, reason: str) -> Planned:
    """Give a plan that the model had a part in: its cost needs a person's approval."""
    decision = planned.decision.model_copy(update={"rule": "model", "reason": reason.rstrip(".")})
    return replace(planned, decision=decision)
