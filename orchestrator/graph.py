"""The supervisor graph: decides, lets agents plan their jobs, dispatches them, sleeps, interprets, goes on.

    decide -> advance -> dispatch -> await_batches -> interpret -> advance ... -> finish

Nodes return partial updates that are validated where they are made. What holds the processor (RDKit, plots, reading
results) runs in a process of its own, so that the run's lease is always renewed. Only ``await_batches`` waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from orchestrator import steps
from orchestrator.agents.base import Agent, Context, JobResult, Work
from orchestrator.apart import Apart
from orchestrator.dispatch import dispatch
from orchestrator.inputs import settle_sources
from orchestrator.state import SUMMARY, Decision, Plan, RunState, Species, Step, StepStatus, checked
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


Planner = Callable[[str, int], tuple[Decision, Plan, tuple[Species, ...]]]
Update = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Supervisor:
    """The nodes of the graph, with what they need.

    Parameters
    ----------
    agents
        By name.
    plan
        Makes decision, plan and species of a request; raises InputError where the rules cannot decide.
    apart
        Where work goes that holds the processor.
    """

    settings: Settings
    store: AsyncStore
    agents: Mapping[str, Agent]
    plan: Planner
    apart: Apart

    # ---- nodes

    async def decide(self, state: RunState) -> Update:
        """Decide what to do with the request, once; a plan that is active goes on as it is."""
        try:
            decision, plan, species = await self.apart.run(self.plan, state.request, self.settings.max_atoms)
            plan = await settle_sources(plan, state.owner, self.store)
        except InputError as error:
            return checked(error=str(error), decision=Decision(rule="abstain", reason=str(error)))
        line = f"decided by {decision.rule}: {plan.title or decision.agent} ({len(plan.steps)} steps)"
        return self._with_plan_file(state, checked(decision=decision, plan=plan, species=species, history=[line]))

    async def advance(self, state: RunState, config: RunnableConfig) -> Update:
        """Begin every step that can begin: its agent gives findings, or specs, which are frozen here."""
        offered = frozenset((await self.store.run(listing.declared())).keys())
        works = {}
        for step in state.plan.ready():
            works[step.number] = await self.apart.run(
                _plan_jobs, self.agents[step.agent], step, self._context(state, offered)
            )
        return self._with_plan_file(state, self._apply(state, works))

    async def dispatch(self, state: RunState, config: RunnableConfig) -> Update:
        """Put frozen manifests into the store, exactly as they were frozen; doing it twice is doing it once."""
        owner = Owner(owner=state.owner, run=state.run_id, epoch=config["configurable"]["epoch"])
        plan = state.plan
        for step, batch in steps.unsent(plan):
            jobs = await asyncio.to_thread(steps.read_manifest, batch.manifest, self.settings.workspace)
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
        return checked(plan=plan)

    async def await_batches(self, state: RunState, config: RunnableConfig) -> Update:
        """Wait until one of the open batches is complete; the only node that waits."""
        waiting = steps.open_batches(state.plan)
        awaited = [batch.batch_id for _, batch in waiting]
        news = await self.store.run(runs.look(state.run_id, config["configurable"]["epoch"], awaited))
        entries, done = news.inbox, news.complete
        if any(entry.kind == "cancel" for entry in entries):
            raise RunCancelled(f"run {state.run_id} was cancelled")
        if not entries and not done:
            interrupt({"batches": awaited})
        plan, history = state.plan, []
        for step, batch in waiting:
            if batch.batch_id in done:
                plan = steps.update_batch(plan, step.number, batch.model_copy(update={"complete": True}))
                history.append(f"batch {batch.batch_id} complete")
        return checked(plan=plan, consumed=tuple(entry.id for entry in entries), history=history)

    async def interpret(self, state: RunState, config: RunnableConfig) -> Update:
        """Let agents look at the results of complete batches: findings, or another round of jobs."""
        works, plan = {}, state.plan
        complete = steps.uninterpreted(plan)
        log.info("interpreting", run=state.run_id, batches=[batch.batch_id for _, batch in complete])
        fault_point("node_start")
        offered = frozenset((await self.store.run(listing.declared())).keys())
        for step, batch in complete:
            results = await self._results(batch.batch_id)
            works[step.number] = await self.apart.run(
                _interpret, self.agents[step.agent], step, self._context(state, offered), results
            )
            plan = steps.update_batch(plan, step.number, batch.model_copy(update={"interpreted": True}))
        return self._with_plan_file(state, self._apply(state.model_copy(update={"plan": plan}), works))

    async def finish(self, state: RunState) -> Update:
        """Say how it ended."""
        if state.error:
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

    @staticmethod
    def next_node(state: RunState) -> str:
        """Tell which node comes next; the first that has something to do."""
        if state.finished:
            return END
        if state.error:
            return "finish"
        if steps.unsent(state.plan):
            return "dispatch"
        if steps.uninterpreted(state.plan):
            return "interpret"
        if state.plan.ready():
            return "advance"
        if steps.open_batches(state.plan):
            return "await_batches"
        return "finish"

    def graph(self) -> StateGraph[RunState]:
        """Give the graph, still to be compiled with a saver."""
        graph = StateGraph(RunState)
        nodes = (self.decide, self.advance, self.dispatch, self.await_batches, self.interpret, self.finish)
        for node in nodes:
            graph.add_node(node.__name__, node)
            graph.add_conditional_edges(node.__name__, self.next_node)
        graph.add_edge(START, "decide")
        return graph

    # ---- helpers

    def _folder(self, state: RunState) -> Path:
        return self.settings.workspace / "runs" / state.run_id

    def _context(self, state: RunState, offered: frozenset[str]) -> Context:
        return Context(
            run_id=state.run_id,
            request=state.request,
            species=state.species,
            findings=state.findings,
            plan=state.plan,
            workspace=self.settings.workspace,
            folder=self._folder(state),
            offered=offered,
        )

    def _apply(self, state: RunState, works: Mapping[int, Work]) -> Update:
        return steps.apply(state, works, self._folder(state), self.settings.workspace)

    def _with_plan_file(self, state: RunState, update: Update) -> Update:
        steps.write_plan_file(state.model_copy(update=update), self._folder(state), self.settings.workspace)
        return update

    async def _results(self, batch_id: str) -> list[JobResult]:
        records: list[JobRecord] = []
        cursor = ""
        while True:
            page = await self.store.run(listing.jobs(batch=batch_id, cursor=cursor, count=200))
            records.extend(page.rows)
            cursor = page.cursor
            if not cursor:
                break
        records.sort(key=lambda record: record.batch_index)
        return [
            JobResult(
                job_id=record.id,
                spec=parse_spec(record.spec),
                state=record.state.value,
                result=record.result,
                failure=record.failure,
                artifacts=record.artifacts,
                compute_seconds=record.compute_seconds,
            )
            for record in records
        ]


def _plan_jobs(agent: Agent, step: Step, context: Context) -> Work:
    try:
        return agent.plan_jobs(step, context)
    except InputError as error:
        return Work(error=str(error))


def _interpret(agent: Agent, step: Step, context: Context, results: list[JobResult]) -> Work:
    try:
        return agent.interpret(step, context, results)
    except InputError as error:
        return Work(error=str(error))
