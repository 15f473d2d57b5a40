"""The recovery of a run's failed steps: what the graph's node ``recover`` does, and the only part that asks the store.

Everything decided here is in the checkpoint that follows. A node that is killed before it is run again, and does the
same: an episode's id follows from run, step and round, and its verdict from jobs that never change any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

from orchestrator import steps
from orchestrator.agents.base import Work
from orchestrator.apart import Apart
from orchestrator.asking import Pipeline, Question, next_number
from orchestrator.pricing import priced
from orchestrator.recovery import episodes, policy
from orchestrator.recovery.actions import Change, Means, from_relaxed
from orchestrator.recovery.ask import GIVE_UP, question
from orchestrator.recovery.classify import (
    Failed,
    FailureEvent,
    Round,
    classify,
    failed_jobs,
    merged,
    own_rounds,
)
from orchestrator.recovery.reading import read_rounds
from orchestrator.recovery.record import KEPT_JOBS, Action, Recovery, RecoveryStatus
from orchestrator.recovery.refused import Begin, RefusedSteps
from orchestrator.recovery.select import Choice, Proposal, choose, diagnose, remaining, tried_for
from orchestrator.recovery.validate import Repaired, Verdict, unprepared, validate
from orchestrator.state import Dispatched, RunState, Step, StepStatus
from tasks import listing, memory
from tasks.faults import fault_point
from tasks.memory import EpisodeStatus
from tasks.records import JobRecord, JobState
from tasks.settings import Settings
from tasks.specs import AnySpec
from tasks.store import AsyncStore

log = structlog.get_logger()


def pending(state: RunState) -> list[Step]:
    """Give the steps that recovery has something to do about; not those that a person is asked about."""
    asked = {q.step for q in state.questions if q.asked_by == "recovery" and q.open}
    found = [*(step for step, _ in steps.troubled(state.plan)), *steps.refused(state.plan)]
    return [step for step in found if step.number not in asked]


def is_trouble(batch: Dispatched, records: Sequence[JobRecord], settings: Settings) -> bool:
    """Tell whether recovery has to look at a batch before its agent does."""
    if settings.recovery == "off" or batch.trouble == "settled":
        return False
    return bool(batch.repairs) or any(record.state is JobState.FAILED for record in records)


@dataclass(frozen=True, kw_only=True)
class Recoverer:
    """Recovers the failed steps of runs.

    Parameters
    ----------
    apart
        Where actions are made and judged, since both may hold the processor.
    begin
        Has a step's agent plan its jobs in some state; nothing of it is submitted.
    """

    settings: Settings
    store: AsyncStore
    apart: Apart
    begin: Begin

    async def recover(self, state: RunState, epoch: int, folder: Path) -> RunState:
        """Give the state after one move for every step that is in trouble."""
        refused = RefusedSteps(settings=self.settings, store=self.store, apart=self.apart, begin=self.begin)
        for step in pending(state):
            if step.status is StepStatus.FAILED:
                state = await refused.recover(state, step, epoch)
                continue
            rounds = await read_rounds(self.store, step)
            if rounds[-1].batch.prepares and _open(state, step):
                state = await self._go_on(state, step, rounds, epoch, folder)
                continue
            state = await self._judge(state, step, rounds, epoch)
            state = await self._move(state, step, rounds, epoch, folder)
        return state

    # ---- what came of it

    async def _judge(self, state: RunState, step: Step, rounds: Sequence[Round], epoch: int) -> RunState:
        """Validate what was executed last, and record the verdicts."""
        made = {r.retry_of: r for one in rounds if one.batch.prepares for r in one.records}
        for recovery in _open(state, step):
            before = {one.root: one for one in failed_jobs(rounds[:-1])}
            jobs = [
                Repaired(
                    before=before[record.retry_of],
                    record=record,
                    attempts=await self.store.run(listing.attempts(record.id)),
                    prepared=made.get(record.retry_of) if recovery.action is Action.GEOMETRY else None,
                )
                for record in rounds[-1].records
                if record.retry_of in before and _is_for(recovery, before[record.retry_of], step)
            ]
            verdict = await self.apart.run(validate, recovery.action, jobs)
            fault_point("recovery_validated")
            (event,) = classify(step.agent, [job.before for job in jobs]) or (None,)
            state = await self._judged(state, step, recovery, verdict, event, jobs, epoch)
        return state

    async def _judged(
        self,
        state: RunState,
        step: Step,
        recovery: Recovery,
        verdict: Verdict,
        event: FailureEvent | None,
        jobs: Sequence[Repaired],
        epoch: int,
    ) -> RunState:
        """Record a verdict, in the state and in the episode."""
        status = RecoveryStatus.REPAIRED if verdict.passed else RecoveryStatus.FAILED
        after = recovery.model_copy(
            update={
                "status": status if verdict.judged else RecoveryStatus.REJECTED,
                "checks": verdict.checks[:KEPT_JOBS],
            }
        )
        if event:
            content, word, trust = episodes.judged(episodes.content_of(state.run_id, after, event), verdict, jobs)
            await self.store.run(memory.put_episode(recovery.episode, epoch, recovery.signature, content, word, trust))
        fault_point("recovery_judged")
        log.info("recovery_judged", run=state.run_id, episode=recovery.episode, status=after.status.value)
        return _with(state, recovery, after, f"step {step.number}: {recovery.action} {after.status.value}")

    async def _go_on(
        self, state: RunState, step: Step, rounds: Sequence[Round], epoch: int, folder: Path
    ) -> RunState:  # fmt: skip
        """Freeze the jobs that begin at the structures which were made for them."""
        made = {record.retry_of: record for record in rounds[-1].records}
        events = {event.signature: event for event in classify(step.agent, failed_jobs(rounds))}
        means = await self._means()
        changes: dict[str, Change] = {}
        for recovery in _open(state, step):
            event = events.get(recovery.signature)
            same = Proposal(action=recovery.action, source=recovery.source, parameters=recovery.parameters)
            found = await self.apart.run(choose, event, [same], frozenset(), means) if event else None
            begun = await self.apart.run(from_relaxed, event, found.changes, made) if event and found else {}
            if begun:
                changes |= begun
                after = recovery.model_copy(update={"round": len(step.batches) + 1})
                line = f"step {step.number}: {len(begun)} of {len(made)} structures were relaxed; begins at them"
                state = _with(state, recovery, after, line)
            else:
                verdict = unprepared(rounds[-1].records)
                state = await self._judged(state, step, recovery, verdict, event, (), epoch)
        if not changes:
            return state  # which is looked at once more, for what else there is to try
        batch = await self._frozen(
            state, step, rounds, [(root, one, one.spec) for root, one in changes.items()], folder
        )
        return _with_batch(state, step, batch)

    # ---- what is done next

    async def _move(
        self, state: RunState, step: Step, rounds: Sequence[Round], epoch: int, folder: Path
    ) -> RunState:  # fmt: skip
        events = classify(step.agent, failed_jobs(rounds))
        if not events:
            return _settled(state, step)
        said = _answered(state, step)
        if said and said[1].answer in (Action.SKIP, GIVE_UP):
            return _as_answered(state, step, *said)
        means = await self._means()
        mine = _of(state, step)
        spent = len({r.round for r in mine if r.round and r.source != "person"})
        shadow = self.settings.recovery == "shadow"
        choices: list[Choice] = []
        for event in events:
            proposals = await self._proposals(event, said)
            if spent < self.settings.recovery_rounds or said:
                found = await self.apart.run(choose, event, proposals, tried_for(event, mine), means)
                choices += [found] if found else []
        if said:
            state = _with(state, said[0], said[0].model_copy(update={"answered": True}))
        if choices and not shadow:
            return await self._execute(state, step, rounds, choices, epoch, folder)
        if shadow:
            return await self._only_said(state, step, choices, epoch)
        return await self._escalate(state, step, rounds, events, means)

    async def _means(self) -> Means:
        workers = (await self.store.run(listing.workers())).rows
        offered = frozenset((await self.store.run(listing.declared())).keys())
        return Means(offered=offered, memory_mb=max((worker.memory_mb for worker in workers), default=0))

    async def _proposals(self, event: FailureEvent, said: tuple[Recovery, Question] | None) -> list[Proposal]:
        if said:
            return [Proposal(action=said[1].answer, source="person", by=said[1].by)]
        trust = self.settings.memory_min_trust
        recalled = await episodes.recall(self.store, event.signature, trust)
        return [*recalled, *await policy.resolve(self.store, event.signature, trust), *diagnose(event)]

    async def _execute(
        self,
        state: RunState,
        step: Step,
        rounds: Sequence[Round],
        choices: Sequence[Choice],
        epoch: int,
        folder: Path,
    ) -> RunState:
        """Freeze a batch of what is computed in place of the failed jobs, and stage its episodes.

        Where structures have to be made first, that is done first, and what else there is to do waits for it.
        """
        preparing = [choice for choice in choices if any(change.prepare for change in choice.changes.values())]
        chosen = preparing or choices
        jobs = [(root, change, change.prepare if preparing else change.spec)
                for choice in chosen for root, change in choice.changes.items()]  # fmt: skip
        wanted = [(root, change, spec) for root, change, spec in jobs if spec is not None]
        batch = await self._frozen(state, step, rounds, wanted, folder, prepares=bool(preparing))
        for choice in chosen:
            recovery = _recovery(state, step, choice, batch.round)
            content = episodes.content_of(state.run_id, recovery, _only(choice))
            candidate = EpisodeStatus.CANDIDATE
            await self.store.run(memory.put_episode(recovery.episode, epoch, recovery.signature, content, candidate))
            state = _added(state, recovery)
        return _with_batch(state, step, batch)

    async def _frozen(
        self,
        state: RunState,
        step: Step,
        rounds: Sequence[Round],
        jobs: Sequence[tuple[str, Change, AnySpec]],
        folder: Path,
        *,
        prepares: bool = False,
    ) -> Dispatched:
        """Freeze a batch of specs, each made for a failed job; a structure is made without its restart point."""
        restarts = [
            steps.Restart(retry_of=root)
            if prepares
            else steps.Restart(
                retry_of=root, checkpoint=change.checkpoint, checkpoint_before=change.checkpoint_before
            )
            for root, change, _ in jobs
        ]  # fmt: skip
        work = await self.apart.run(priced, Work(specs=tuple(spec for _, _, spec in jobs)))
        return steps.freeze(
            step,
            work,
            state.run_id,
            folder,
            self.settings.workspace,
            repairs=rounds[0].batch.batch_id,
            prepares=prepares,
            restarts=restarts,
        )

    async def _only_said(self, state: RunState, step: Step, choices: Sequence[Choice], epoch: int) -> RunState:
        for choice in choices:
            recovery = _recovery(state, step, choice, 0).model_copy(update={"status": RecoveryStatus.SHADOW})
            content = episodes.content_of(state.run_id, recovery, _only(choice))
            candidate = EpisodeStatus.CANDIDATE
            await self.store.run(memory.put_episode(recovery.episode, epoch, recovery.signature, content, candidate))
            state = _added(state, recovery)
        return _settled(state, step)

    async def _escalate(
        self,
        state: RunState,
        step: Step,
        rounds: Sequence[Round],
        events: Sequence[FailureEvent],
        means: Means,
    ) -> RunState:
        """Ask a person where the pipeline has any; else the step is as it is."""
        mine = _of(state, step)
        failed = tuple(one for event in events for one in event.failed)
        last = Recovery(
            step=step.number,
            iteration=step.iteration,
            signature=events[0].signature,
            error_class=events[0].error_class,
            message=events[0].message,
            action=Action.ASK,
            count=len(failed),
            jobs=tuple(one.root for one in failed[:KEPT_JOBS]),
            labels=_labels(failed),
            status=RecoveryStatus.EXHAUSTED,
        )
        if state.options.pipeline is Pipeline.SHORT:
            line = f"step {step.number}: nothing that recovery may do is left for {events[0].signature}"
            return _settled(_added(state, last, line), step)
        left: list[Action] = []
        for event in events:
            left += await self.apart.run(remaining, event, tried_for(event, mine), means)
        executed = [r for r in mine if r.round]
        number = next_number(state.questions)
        asked = question(number, step, events, executed, list(dict.fromkeys(left)), len(merged(rounds)))
        escalated = last.model_copy(update={"status": RecoveryStatus.ESCALATED, "question": asked.id})
        line = f"{asked.id} is asked: {asked.text.splitlines()[0]}"
        return _added(state.model_copy(update={"questions": (*state.questions, asked)}), escalated, line)


def _of(state: RunState, step: Step) -> list[Recovery]:
    """Give the recoveries of a step in its iteration."""
    return [r for r in state.recoveries if (r.step, r.iteration) == (step.number, step.iteration)]


def _open(state: RunState, step: Step) -> list[Recovery]:
    """Give those of them that are executed and not judged yet."""
    return [r for r in _of(state, step) if r.status is RecoveryStatus.OPEN]


def _with_batch(state: RunState, step: Step, batch: Dispatched) -> RunState:
    plan = state.plan.replace(step.model_copy(update={"batches": (*step.batches, batch)}))
    return state.model_copy(update={"plan": plan})


def _is_for(recovery: Recovery, failed: Failed, step: Step) -> bool:
    """Tell whether a failed job is one of those that a recovery was chosen for."""
    (event,) = classify(step.agent, [failed])
    return event.signature == recovery.signature


def _only(choice: Choice) -> FailureEvent:
    """Give the event with only the jobs that the choice changes, which its evidence is of."""
    kept = [one for one in choice.event.failed if one.root in choice.changes]
    (event,) = classify(choice.event.scope.agent, kept)
    return event


def _recovery(state: RunState, step: Step, choice: Choice, round_number: int) -> Recovery:
    event = _only(choice)
    return Recovery(
        step=step.number,
        iteration=step.iteration,
        round=round_number,
        signature=event.signature,
        error_class=event.error_class,
        message=event.message,
        action=choice.action,
        source=choice.proposal.source,
        parameters=choice.parameters,
        consequence=choice.consequence,
        jobs=event.jobs,
        count=len(event.failed),
        labels=_labels(event.failed),
        # Beside a shadow's there is no batch: its round is that of the one that failed.
        episode=episodes.episode_id(
            state.run_id, step.number, round_number or own_rounds(step)[-1].round, event.signature
        ),
        chosen_by=choice.proposal.by,
    )


def _labels(failed: Sequence[Failed]) -> tuple[str, ...]:
    return tuple(one.spec.label for one in failed[:KEPT_JOBS] if one.spec.label)


def _added(state: RunState, recovery: Recovery, line: str = "") -> RunState:
    by = f" ({recovery.chosen_by})" if recovery.chosen_by else ""
    what = "would try" if recovery.status is RecoveryStatus.SHADOW else "tries"
    told = line or (
        f"step {recovery.step}: recovery {what} {recovery.action} by {recovery.source}{by} after {recovery.signature}"
    )
    recoveries = (*state.recoveries, recovery)
    return state.model_copy(update={"recoveries": recoveries, "history": [*state.history, told]})


def _with(state: RunState, old: Recovery, new: Recovery, line: str = "") -> RunState:
    recoveries = tuple(new if one is old else one for one in state.recoveries)
    history = [*state.history, line] if line else state.history
    return state.model_copy(update={"recoveries": recoveries, "history": history})


def _settled(state: RunState, step: Step) -> RunState:
    """Let the step's agent look at what there is now."""
    batch = state.plan.step(step.number).batches[-1].model_copy(update={"trouble": "settled"})
    return state.model_copy(update={"plan": steps.update_batch(state.plan, step.number, batch)})


def _answered(state: RunState, step: Step) -> tuple[Recovery, Question] | None:
    """Give the question about a step that a person has answered and that was not acted upon yet."""
    answers: Mapping[str, Question] = {q.id: q for q in state.questions if q.answer}
    for recovery in _of(state, step):
        if recovery.question in answers and not recovery.answered:
            return recovery, answers[recovery.question]
    return None


def _as_answered(state: RunState, step: Step, asked: Recovery, said: Question) -> RunState:
    """Go on without what failed, or let the step fail."""
    skip = said.answer == Action.SKIP
    changes = {
        "answered": True,
        "action": Action.SKIP if skip else Action.ASK,
        "source": "person",
        "chosen_by": said.by,
    }
    state = _with(state, asked, asked.model_copy(update=changes), f"step {step.number}: {said.by} said {said.answer}")
    if skip:
        return _settled(state, step)
    error = f"{asked.message.rstrip('.')} [{asked.error_class}]; {said.by} gave up on it"
    failed = state.plan.step(step.number).model_copy(update={"status": StepStatus.FAILED, "error": error})
    return state.model_copy(update={"plan": state.plan.replace(failed).with_hopeless_skipped()})
