"""Steps whose agent could not use what it was given: no job failed, the step itself did.

What can be put right without a person is a starting structure that is gone or was changed: it is made again from the
SMILES, the same to the last digit, or not at all. Everything else is asked, where people are in the loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from orchestrator.agents.base import Work
from orchestrator.apart import Apart
from orchestrator.asking import Candidate, Pipeline, Question, next_number
from orchestrator.chemistry.geometry import embed
from orchestrator.recovery import episodes
from orchestrator.recovery.ask import AGAIN, GIVE_UP
from orchestrator.recovery.classify import INVALID_INPUT, FailureEvent
from orchestrator.recovery.record import Action, Recovery, RecoveryStatus
from orchestrator.recovery.validate import VERSION, Verdict
from orchestrator.state import RunState, Species, Step, StepStatus
from tasks import memory
from tasks.errors import InputError
from tasks.memory import Check, Evidence, Scope
from tasks.settings import Settings
from tasks.specs import spec_hash
from tasks.store import AsyncStore
from tasks.workspace import intact, write_artifact

Begin = Callable[[RunState, Step], Awaitable[Work]]


def event_of(step: Step) -> FailureEvent:
    """Give the failure of a step that was refused."""
    task = step.goal.task if step.agent == "qm_agent" else ""
    evidence = (Evidence(what="failure", sha256=spec_hash([INVALID_INPUT, step.error])),)
    scope = Scope(agent=step.agent, task=task)
    return FailureEvent(scope=scope, error_class=INVALID_INPUT, message=step.error, evidence=evidence)


def restore_structures(species: tuple[Species, ...], workspace: Path) -> list[str]:
    """Make starting structures again whose files are not what was recorded; gives the names of their molecules.

    Only a structure that comes out exactly as it was recorded is written.
    """
    restored = []
    for one in species:
        if one.geometry is None or intact(one.geometry, workspace) or not one.geometry_level.startswith("ETKDG"):
            continue
        try:
            made = embed(one.smiles, max_atoms=max(one.atoms, 1)).xyz.encode()
        except InputError:
            continue
        if len(made) == one.geometry.size_bytes:
            file = write_artifact(workspace / one.geometry.path, made, workspace, one.geometry.role)
            restored += [one.name] if file.sha256 == one.geometry.sha256 else []
    return restored


@dataclass(frozen=True, kw_only=True)
class RefusedSteps:
    """Recovers steps that were refused.

    Parameters
    ----------
    begin
        Has the step's agent plan its jobs in some state; nothing of it is submitted.
    """

    settings: Settings
    store: AsyncStore
    apart: Apart
    begin: Begin

    async def recover(self, state: RunState, step: Step, epoch: int) -> RunState:
        """Give the state after one move: begun anew, left as it is, or asked about."""
        mine = [r for r in state.recoveries if (r.step, r.iteration) == (step.number, step.iteration)]
        for recovery in mine:
            answer = next((q for q in state.questions if q.id == recovery.question and q.answer), None)
            if answer and not recovery.answered:
                return _as_answered(state, step, recovery, answer)
        if self.settings.recovery == "active" and not any(r.action is Action.GEOMETRY for r in mine):
            again = await self._with_structures(state, step, epoch)
            if again is not None:
                return again
        event = event_of(step)
        last = _recovery(step, event, Action.ASK, RecoveryStatus.EXHAUSTED)
        if state.options.pipeline is Pipeline.SHORT or self.settings.recovery == "shadow":
            return _left(_with(state, last, f"step {step.number}: nothing that recovery may do is left"), step)
        asked = _question(next_number(state.questions), step)
        last = last.model_copy(update={"status": RecoveryStatus.ESCALATED, "question": asked.id})
        state = state.model_copy(update={"questions": (*state.questions, asked)})
        return _with(state, last, f"{asked.id} is asked: {asked.text.splitlines()[0]}")

    async def _with_structures(self, state: RunState, step: Step, epoch: int) -> RunState | None:
        """Give the state in which the step begins anew on restored structures; None: there is nothing to restore."""
        restored = await self.apart.run(restore_structures, state.species, self.settings.workspace)
        if not restored:
            return None
        after = _begun_anew(state, step)
        work = await self.begin(after, after.plan.step(step.number))
        checks = (
            Check(name="same_structure", passed=True, text=f"the structure of {', '.join(restored)} is as recorded"),
            Check(name="begins", passed=not work.error, text=work.error or "the step can begin"),
        )
        verdict = Verdict(passed=not work.error, judged=True, checks=checks, validator=f"restored_structure/{VERSION}")
        event = event_of(step)
        status = RecoveryStatus.REPAIRED if verdict.passed else RecoveryStatus.FAILED
        recovery = _recovery(step, event, Action.GEOMETRY, status).model_copy(
            update={
                "checks": checks,
                "count": len(restored),
                "labels": tuple(restored[:1]),
                "episode": episodes.episode_id(state.run_id, step.number, step.iteration, event.signature),
            }
        )
        content, word, trust = episodes.judged(episodes.content_of(state.run_id, recovery, event), verdict, [])
        await self.store.run(memory.put_episode(recovery.episode, epoch, event.signature, content, word, trust))
        line = f"step {step.number}: made the structure of {', '.join(restored)} again: {status.value}"
        return _with(after if verdict.passed else state, recovery, line)


def _recovery(step: Step, event: FailureEvent, action: Action, status: RecoveryStatus) -> Recovery:
    return Recovery(
        step=step.number,
        iteration=step.iteration,
        signature=event.signature,
        error_class=event.error_class,
        message=event.message[:1000],
        action=action,
        status=status,
    )


def _with(state: RunState, recovery: Recovery, line: str) -> RunState:
    changes = {"recoveries": (*state.recoveries, recovery), "history": [*state.history, line]}
    return state.model_copy(update=changes)


def _question(number: int, step: Step) -> Question:
    return Question(
        id=f"recovery-{number}",
        text=f"step {step.number}, {step.description}, cannot use what it was given. What is to be done?\n{step.error}",
        candidates=(
            Candidate(value=AGAIN, text="begin it anew, after what is wrong was put right"),
            Candidate(value=Action.SKIP.value, text="go on without it, and without what depends on it"),
            Candidate(value=GIVE_UP, text="let it fail"),
        ),
        asked_by="recovery",
        step=step.number,
    )


def _as_answered(state: RunState, step: Step, asked: Recovery, said: Question) -> RunState:
    done = asked.model_copy(update={"answered": True, "source": "person", "chosen_by": said.by})
    recoveries = tuple(done if one is asked else one for one in state.recoveries)
    line = f"step {step.number}: {said.by} said {said.answer}"
    state = state.model_copy(update={"recoveries": recoveries, "history": [*state.history, line]})
    return _begun_anew(state, step) if said.answer == AGAIN else _left(state, step)


def _begun_anew(state: RunState, step: Step) -> RunState:
    """Give the state in which a step is pending again, and its molecules are not left out for its sake."""
    again = step.model_copy(update={"status": StepStatus.PENDING, "error": "", "trouble": ""})
    species = tuple(
        one.model_copy(update={"error": ""}) if one.error.startswith(f"step {step.number}:") else one
        for one in state.species
    )
    return state.model_copy(update={"plan": state.plan.replace(again), "species": species})


def _left(state: RunState, step: Step) -> RunState:
    """Give the state in which a step has failed for good, and what depends on it is skipped."""
    plan = state.plan.replace(step.model_copy(update={"trouble": "settled"})).with_hopeless_skipped()
    return state.model_copy(update={"plan": plan})
