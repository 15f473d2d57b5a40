"""What a language model writes in a run, told while it writes it: of each step's findings, the answer, and a plan.

Whatever goes wrong with it leaves the words that agents have themselves, and is told. Nothing here is needed by a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from orchestrator.agents.base import Agent, Context, Work
from orchestrator.agents.summary import answer_text, answering
from orchestrator.model.client import Asks
from orchestrator.model.write import Prose, word_answer, word_finding, word_plan
from orchestrator.report import QUOTING
from orchestrator.state import SUMMARY, Event, Finding, Plan, RunState, Step, StepStatus
from orchestrator.stream.derive import answer_id
from orchestrator.stream.live import Live

#: whose findings matter by themselves, also where other steps go on from them
_OF_SUBSTANCE = (*QUOTING, "hem_agent")
_NOTHING = "nothing found"


class Words:
    """What is written within one node.

    Attributes
    ----------
    usage
        What the run has used of the model so far.
    lines, events
        What the node has to add to the run's history, and to tell with its checkpoint.
    """

    def __init__(self, model: Asks, live: Live, agents: Mapping[str, Agent], state: RunState) -> None:
        self._model, self._live, self._agents, self._state = model, live, agents, state
        self.usage = state.usage
        self.lines: list[str] = []
        self.events: list[Event] = []

    async def finding(self, step: Step, work: Work) -> Work:
        """Have a step's findings put into words, where they are more than a help for the steps after it."""
        finding = work.finding
        if finding is None or work.error or work.specs or not _matters(step, finding, self._state.plan):
            return work
        agent = self._agents[step.agent]
        if step.status is StepStatus.PENDING:  # it does all its work in this node
            await self._live.begin(step)
        text = self._live.text("step", _text_id(step, self._state), step=step.number, agent=step.agent)
        prose = await word_finding(
            self._model, agent.description, self._state.request, step, finding, self.usage,
            tell=text.grow, key=f"{self._state.told}:wish:{step.number}",
        )  # fmt: skip
        await text.end(prose.text or finding.summary)
        self._keep(prose)
        proposed = tuple(f"{event.data['name']}: {event.data['arguments']}" for event in prose.wishes)
        return replace(work, finding=finding.model_copy(update={"prose": prose.text, "proposed": proposed}))

    async def answer(self, step: Step, context: Context) -> Context:
        """Have the answer put into words, out of all findings; that of a single one was when its step was done."""
        findings, plan = self._state.findings, self._state.plan
        if not findings:
            return context
        if len(said := answering(findings, plan)) == 1 and _was_asked(said[0], plan):
            kept = f"step {said[0].step} keeps its findings' own words"
            line = next((one for one in reversed(self._state.history) if one.startswith(kept)), "")
            if said[0].prose:
                self.lines.append("the answer was worded by the language model")
            return replace(context, prose_note=line, usage=self.usage)
        await self._live.begin(step)
        text = self._live.text("answer", answer_id(self._state))
        own = answer_text(findings, plan)
        prose = await word_answer(self._model, self._state.request, findings, own, self.usage, tell=text.grow)
        await text.end(prose.text or own)
        self._keep(prose)
        return replace(context, prose=prose.text, prose_note=prose.line, usage=self.usage)

    async def plan(self, gate: str, shown: str) -> str:
        """Have a plan explained to whoever shall approve it; empty if that fails."""
        text = self._live.text("gate", f"gate-{gate}", gate=gate)
        prose = await word_plan(self._model, self._state.request, shown, self.usage, tell=text.grow)
        await text.end(prose.text)
        self._keep(prose)
        return prose.text

    def _keep(self, prose: Prose) -> None:
        self.usage = prose.usage
        self.lines.append(prose.line)
        self.lines += [f"the language model proposes {one.data['name']}; nothing is started" for one in prose.wishes]
        self.lines += [f"dropped of what the language model wrote: {one.data['text']}" for one in prose.dropped]
        self.events += [*prose.wishes, *prose.dropped]


def _matters(step: Step, finding: Finding, plan: Plan) -> bool:
    if step.agent == SUMMARY or finding.stage == _NOTHING:
        return False
    if step.agent in QUOTING:  # without sources there is nothing to cite
        return bool(finding.table and finding.table.rows)
    helps = any(step.number in other.depends_on for other in plan.steps if other.agent != SUMMARY)
    return not helps or step.agent in _OF_SUBSTANCE


def _was_asked(finding: Finding, plan: Plan) -> bool:
    return _matters(plan.step(finding.step), finding, plan)


def _text_id(step: Step, state: RunState) -> str:
    """Give a text of a step an identity of its own, also where the step is done anew or fails and is repaired."""
    done = sum(finding.step == step.number for finding in state.findings)
    return f"step-{step.number}-{step.iteration}-{len(step.batches)}-{done}"
