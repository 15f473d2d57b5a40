"""The supervisor graph: decides, lets agents plan their jobs, dispatches them, sleeps, interprets, goes on.

    decide -> gate -> advance -> dispatch -> await_batches -> interpret -> advance ... -> finish
                                 ^-------- recover <--------'  (failed jobs, before an agent sees them)

Nodes return partial updates that are validated where they are made. What holds the processor (RDKit, plots, reading
results) runs in a process of its own, so that the run's lease is always renewed. Only ``await_batches`` waits.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from orchestrator import gates, people, steps
from orchestrator.agents.base import Agent, Context, JobResult, Work
from orchestrator.apart import Apart
from orchestrator.asking import GateKind, Pipeline, Question, next_number
from orchestrator.dispatch import dispatch
from orchestrator.edges import edges_of, nodes_of
from orchestrator.gate_texts import cost_text, plan_text, review_text
from orchestrator.handover import seen_by
from orchestrator.inputs import settle_sources
from orchestrator.model import Asks, Metered, Model, plan_with_model
from orchestrator.planning.asked import Asked, Planned
from orchestrator.planning.feedback import revise_plan
from orchestrator.planning.preview import preview_plan
from orchestrator.pricing import priced, priced_jobs
from orchestrator.recovery import classify
from orchestrator.recovery.ask import with_recoveries
from orchestrator.recovery.node import Recoverer, is_trouble, pending
from orchestrator.recovery.reading import read_rounds
from orchestrator.recovery.refused import lost_structures
from orchestrator.report import WORDED
from orchestrator.state import SUMMARY, Decision, RunState, Step, StepStatus, checked
from orchestrator.stream.live import Live
from orchestrator.stream.telling import telling
from orchestrator.wording import Words
from tasks import listing, runs
from tasks.batches import Owner
from tasks.errors import InputError, SimrelayError
from tasks.faults import fault_point
from tasks.records import JobRecord
from tasks.settings import Settings
from tasks.specs import parse_spec
from tasks.store import AsyncStore

log = structlog.get_logger()


class RunCancelled(SimrelayError):
    """The run's cancel was asked for; its holder ends it."""


Planner = Callable[[Asked], Planned]
Update = dict[str, Any]
#: the parts of the state that what people say can change, besides plan and history
_HEARD = ("questions", "gates", "findings", "species", "iteration", "feedback", "stopped", "recoveries")


@dataclass(frozen=True, kw_only=True)
class Supervisor:
    """The nodes of the graph, with what they need.

    Parameters
    ----------
    agents
        By name.
    plan
        Makes decision, plan and species of a request, or a question; raises InputError where it cannot be used.
    apart
        Where work goes that holds the processor.
    model
        The language model that may be asked where rules abstain; None: rules only.
    """

    settings: Settings
    store: AsyncStore
    agents: Mapping[str, Agent]
    plan: Planner
    apart: Apart
    model: Model | None = None

    # ---- nodes

    async def decide(self, state: RunState, config: RunnableConfig) -> Update:
        """Decide what to do with the request, once; what only a person can say is asked for."""
        if state.plan.steps:  # a run that takes up another one has its plan
            return checked(history=["goes on with the plan of the run that it takes up"])
        answers = tuple(question for question in state.questions if question.answer)
        named = next((q.answer for q in reversed(answers) if q.id.startswith("route")), state.options.agent)
        asked = Asked(
            text=state.request,
            max_atoms=self.settings.max_atoms,
            options=state.options,
            agent=named,
            answers=answers,
            pubchem_url=self.settings.pubchem_url,
            looked_up=state.looked_up,
        )
        rules = functools.partial(self.apart.run, self.plan)
        helped = await plan_with_model(rules, asked, self._asks(state, config), self.agents, state.usage)
        used: Update = {"usage": helped.usage, "history": list(helped.history)}
        planned = helped.planned
        try:
            if planned is None:
                raise helped.error or SimrelayError("the request was neither planned nor refused")
            plan = await settle_sources(planned.plan, state.owner, self.store)
        except InputError as error:
            return checked(error=str(error), decision=Decision(rule="abstain", reason=str(error)), **used)
        if planned.question:
            return self._ask(state, planned.question, decision=planned.decision, looked_up=planned.looked_up, **used)
        line = f"decided by {planned.decision.rule}: {plan.title or planned.decision.agent} ({len(plan.steps)} steps)"
        update = checked(
            decision=planned.decision,
            plan=plan,
            species=planned.species,
            looked_up=planned.looked_up,
            answer=planned.answer,
            usage=helped.usage,
            history=[*helped.history, *(f"{one.name} was looked up: {one.source}" for one in planned.looked_up), line],
        )
        return self._with_plan_file(state, update)

    async def revise(self, state: RunState) -> Update:
        """Change the steps that are done anew as a person wants it; what is not understood is asked for."""
        try:
            plan = await self.apart.run(
                revise_plan,
                state.plan,
                state.species,
                state.feedback,
                state.iteration,
                state.request,
                self.settings.max_atoms,
            )
        except InputError as error:
            question = Question(
                id=f"{people.FEEDBACK}{next_number(state.questions)}",
                text=f"{error}\nWhat is to be changed?",
                closed=False,
            )
            return self._ask(state, question, feedback="")
        line = f"iteration {state.iteration}: the plan was changed as asked"
        return self._with_plan_file(state, checked(plan=plan, feedback="", history=[line]))

    async def gate(self, state: RunState, config: RunnableConfig) -> Update:
        """Ask for the approvals that the run has come to; each names exactly what would be done, and its cost."""
        now = await self.store.now()
        before, words = state, self._words(state, config)
        offered = frozenset((await self.store.run(listing.declared())).keys())
        for kind, digest, behind in gates.wanted(state, self.settings):
            if kind is GateKind.PLAN:
                shown, cost = await self.apart.run(
                    preview_plan, state.plan, state.species, state.request, offered or None, self.settings.max_atoms
                )
                text, seconds = plan_text(state, shown, cost), cost["core_seconds"]
                if words and (why := await words.plan(f"{kind.value}-{next_number(state.gates)}", text)):
                    text = f"{text}\n\n{why}\n{WORDED}"
            elif kind is GateKind.COST:
                batch = state.plan.step(behind[0]).batches[-1]
                jobs = await self.apart.run(priced_jobs, batch.manifest, self.settings.workspace)
                limit = self.settings.approval_core_hours
                text, seconds = cost_text(state.plan.step(behind[0]), jobs, limit), batch.core_seconds
            else:
                text, seconds = review_text(state), None
            state = gates.open_gate(
                state, kind, digest, behind, text=text, core_seconds=seconds, now=now, settings=self.settings
            )
        lines = [f"{gate.id} is asked for: {gate.text.splitlines()[0]}" for gate in state.gates[len(before.gates) :]]
        fault_point("gate_opened")
        return self._with_plan_file(before, self._said(words, checked(gates=state.gates, history=lines)))

    async def advance(self, state: RunState, config: RunnableConfig) -> Update:
        """Begin every step that can begin: its agent gives findings, or specs, which are frozen here."""
        offered = frozenset((await self.store.run(listing.declared())).keys())
        works: dict[int, Work] = {}
        words = self._words(state, config)
        for step in gates.startable(state):
            context = self._context(state, step, offered)
            if step.agent == SUMMARY and words:
                context = await words.answer(step, context)
            work = await self.apart.run(_plan_jobs, self.agents[step.agent], step, context)
            if self.settings.recovery == "active" and (lost := lost_structures(state, step, work)):
                work = Work(error=lost)  # before molecules are left out, recovery looks whether it can have them back
            works[step.number] = await words.finding(step, work) if words else work
        return self._with_plan_file(state, self._said(words, self._apply(state, works)))

    async def dispatch(self, state: RunState, config: RunnableConfig) -> Update:
        """Put frozen manifests into the store, exactly as they were frozen; doing it twice is doing it once."""
        owner = Owner(owner=state.owner, run=state.run_id, epoch=config["configurable"]["epoch"])
        plan = state.plan
        for step, batch in gates.dispatchable(state, self.settings):
            jobs = await asyncio.to_thread(steps.read_manifest, batch.manifest, self.settings.workspace)
            fault_point("dispatching_repair" if batch.repairs else "dispatching")
            await dispatch(
                self.store,
                self.settings,
                batch.batch_id,
                owner,
                jobs,
                label=f"step {step.number}, round {batch.round}",
                manifest=batch.manifest.artifact.path,
            )
            plan = steps.update_batch(plan, step.number, batch.model_copy(update={"sent": True}))
            fault_point("dispatched")
        return checked(plan=plan)

    async def await_batches(self, state: RunState, config: RunnableConfig) -> Update:
        """Wait for open batches and for people, whichever comes first; the only node that waits."""
        waiting = steps.open_batches(state.plan)
        awaited = [batch.batch_id for _, batch in waiting]
        news = await self.store.run(runs.look(state.run_id, config["configurable"]["epoch"], awaited))
        entries, done = news.inbox, news.complete
        if any(entry.kind == "cancel" for entry in entries):
            raise RunCancelled(f"run {state.run_id} was cancelled")
        if not entries and not done:
            asked = [gate.id for gate in gates.open_gates(state)] + [q.id for q in people.open_questions(state)]
            interrupt({"batches": awaited, "people": asked})
        heard = people.hear(state, entries, await self.store.now())
        if entries:
            fault_point("heard")
        plan, history = heard.plan, heard.history[len(state.history) :]
        for step, batch in waiting:
            if batch.batch_id in done:
                plan = steps.update_batch(plan, step.number, batch.model_copy(update={"complete": True}))
                history.append(f"batch {batch.batch_id} complete")
        update = checked(
            plan=plan,
            consumed=tuple(entry.id for entry in entries),
            history=history,
            **{name: getattr(heard, name) for name in _HEARD},
        )
        return self._with_plan_file(state, update)

    async def interpret(self, state: RunState, config: RunnableConfig) -> Update:
        """Let agents look at the results of complete batches: findings, or another round of jobs."""
        works, plan, words = {}, state.plan, self._words(state, config)
        complete = steps.uninterpreted(plan)
        log.info("interpreting", run=state.run_id, batches=[batch.batch_id for _, batch in complete])
        fault_point("node_start")
        offered = frozenset((await self.store.run(listing.declared())).keys())
        for step, batch in complete:
            rounds = await read_rounds(self.store, step)
            if is_trouble(batch, rounds[-1].records, self.settings):
                plan = steps.update_batch(plan, step.number, batch.model_copy(update={"trouble": "open"}))
                continue
            # An agent knows nothing of repairs: it sees its own rounds, with what was repaired in place of what failed.
            seen = step.model_copy(update={"batches": classify.own_rounds(step)})
            results = [_result(record) for record in classify.merged(rounds)]
            work = await self.apart.run(
                _interpret, self.agents[step.agent], seen, self._context(state, step, offered), results
            )
            work = with_recoveries(work, state.recoveries, step)
            works[step.number] = await words.finding(step, work) if words else work
            plan = steps.update_batch(plan, step.number, batch.model_copy(update={"interpreted": True}))
        update = self._apply(state.model_copy(update={"plan": plan}), works)
        return self._with_plan_file(state, self._said(words, update))

    async def recover(self, state: RunState, config: RunnableConfig) -> Update:
        """Do something about failed jobs: judge what was tried, try what is next, or ask a person."""
        fault_point("node_start")
        offered = frozenset((await self.store.run(listing.declared())).keys())

        async def begin(there: RunState, step: Step) -> Work:
            return await self.apart.run(_plan_jobs, self.agents[step.agent], step, self._context(there, step, offered))

        recoverer = Recoverer(settings=self.settings, store=self.store, apart=self.apart, begin=begin)
        after = await recoverer.recover(state, config["configurable"]["epoch"], self._folder(state))
        lines = after.history[len(state.history) :]
        changed = {name: getattr(after, name) for name in ("plan", "recoveries", "questions", "species")}
        update = checked(history=lines, **changed)
        fault_point("recovery_decided")
        return self._with_plan_file(state, update)

    async def finish(self, state: RunState) -> Update:
        """Say how it ended."""
        if state.error or state.stopped or state.answer:
            return checked(finished=True)
        summary = next((f for f in reversed(state.findings) if f.agent == SUMMARY), None)
        failed = [s for s in state.plan.steps if s.status is StepStatus.FAILED]
        if summary is None:
            why = "; ".join(f"step {s.number} ({s.agent}): {s.error}" for s in failed) or "the plan led to no answer"
            return checked(finished=True, error=why)
        report = next((a for a in summary.artifacts if a.role == "report"), None)
        figures = tuple(a for a in summary.artifacts if a.role == "figure")
        # What failed is said loudly: an answer that hides a failed step is worse than none.
        error = "; ".join(f"step {s.number} ({s.agent}) failed: {s.error}" for s in failed)
        return checked(finished=True, answer=summary.summary, report=report, figures=figures, error=error)

    # ---- edges

    def next_node(self, state: RunState) -> str:
        """Tell which node comes next; the first that has something to do."""
        if state.finished:
            return END
        if state.error or state.stopped or state.answer:
            return "finish"
        asking = bool(people.open_questions(state))
        if not state.plan.steps:
            return "await_batches" if asking else "decide"
        if state.feedback:
            return "revise"
        if wanted := gates.wanted(state, self.settings):
            return "review" if wanted[0][0] is GateKind.REVIEW else "gate"
        if gates.dispatchable(state, self.settings):
            return "dispatch"
        if pending(state):
            return "recover"
        if steps.uninterpreted(state.plan):
            return "interpret"
        if gates.startable(state):
            return "advance"
        if steps.open_batches(state.plan) or gates.open_gates(state) or asking:
            return "await_batches"
        return "finish"

    def graph(self, pipeline: Pipeline = Pipeline.LOOPED) -> StateGraph[RunState]:
        """Give the graph, still to be compiled with a saver; of a pipeline with fewer edges to draw that one."""
        graph = StateGraph(RunState)
        for name in nodes_of(pipeline):
            graph.add_node(name, telling(self.gate if name == "review" else getattr(self, name)))
            graph.add_conditional_edges(name, self.next_node, edges_of(name, pipeline))
        graph.add_edge(START, "decide")
        return graph

    # ---- helpers

    def _folder(self, state: RunState) -> Path:
        return self.settings.workspace / "runs" / state.run_id

    def _context(self, state: RunState, step: Step, offered: frozenset[str]) -> Context:
        return Context(
            run_id=state.run_id,
            request=state.request,
            species=seen_by(step, state.plan, state.species),
            findings=state.findings,
            plan=state.plan,
            workspace=self.settings.workspace,
            folder=self._folder(state),
            offered=offered,
            settings=self.settings,
        )

    def _asks(self, state: RunState, config: RunnableConfig) -> Asks | None:
        """Give the model as this run may ask it; None if it asks none."""
        if self.model is None or not state.options.model:
            return None
        return Metered(self.model, self.store, state.run_id, config["configurable"]["epoch"])

    def _words(self, state: RunState, config: RunnableConfig) -> Words | None:
        if (model := self._asks(state, config)) is None:
            return None
        live = Live(self.store, state.run_id, config["configurable"]["epoch"], state.told)
        return Words(model, live, self.agents, state)

    @staticmethod
    def _said(words: Words | None, update: Update) -> Update:
        """Give an update with what was written within its node."""
        if words is None:
            return update
        history = [*words.lines, *update["history"]]
        return {**update, **checked(history=history, usage=words.usage, events=tuple(words.events))}

    @staticmethod
    def _ask(state: RunState, question: Question, **changes: Any) -> Update:
        line = f"{question.id} is asked: {question.text.splitlines()[0]}"
        told = [*changes.pop("history", ()), line]
        return checked(questions=(*state.questions, question), history=told, **changes)

    def _apply(self, state: RunState, works: Mapping[int, Work]) -> Update:
        recovers = self.settings.recovery != "off"
        return steps.apply(state, works, self._folder(state), self.settings.workspace, recovers=recovers)

    def _with_plan_file(self, state: RunState, update: Update) -> Update:
        steps.write_plan_file(state.model_copy(update=update), self._folder(state), self.settings.workspace)
        return update


def _result(record: JobRecord) -> JobResult:
    return JobResult(
        job_id=record.id,
        spec=parse_spec(record.spec),
        state=record.state.value,
        result=record.result,
        failure=record.failure,
        artifacts=record.artifacts,
        compute_seconds=record.compute_seconds,
    )


def _plan_jobs(agent: Agent, step: Step, context: Context) -> Work:
    try:
        return priced(agent.plan_jobs(step, context))
    except InputError as error:
        return Work(error=str(error))


def _interpret(agent: Agent, step: Step, context: Context, results: list[JobResult]) -> Work:
    try:
        return priced(agent.interpret(step, context, results))
    except InputError as error:
        return Work(error=str(error))
