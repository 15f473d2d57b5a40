"""Steps whose agent could not use what it was given: no job failed, the step itself did.

What can be put right without a person is a structure that is gone or was changed: a starting one is made again from the
SMILES, an optimised one from the result of the job that gave it; the same to the last digit, or not at all. A step that
can go on without a molecule does; everything else is asked, where people are in the loop.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from orchestrator.agents.base import Work
from orchestrator.apart import Apart
from orchestrator.asking import Candidate, Pipeline, Question, next_number
from orchestrator.chemistry.geometry import embed
from orchestrator.handover import structure_for
from orchestrator.recovery import episodes
from orchestrator.recovery.ask import AGAIN, GIVE_UP
from orchestrator.recovery.classify import INVALID_INPUT, FailureEvent
from orchestrator.recovery.reading import read_records
from orchestrator.recovery.record import Action, Recovery, RecoveryStatus
from orchestrator.recovery.validate import VERSION, Verdict
from orchestrator.state import RunState, Species, Step, StepStatus
from tasks import memory
from tasks.errors import InputError
from tasks.memory import Check, Evidence, Scope
from tasks.records import JobState
from tasks.results import QuantumResult
from tasks.settings import Settings
from tasks.specs import spec_hash
from tasks.store import AsyncStore
from tasks.workspace import intact, write_artifact

#: how the file of a structure is named that a step has optimised
_OF_STEP = re.compile(r"-step(\d+)\.xyz$")
Begin = Callable[[RunState, Step], Awaitable[Work]]


def event_of(step: Step) -> FailureEvent:
    """Give the failure of a step that was refused."""
    task = step.goal.task if step.agent == "qm_agent" else ""
    evidence = (Evidence(what="failure", sha256=spec_hash([INVALID_INPUT, step.error])),)
    scope = Scope(agent=step.agent, task=task)
    return FailureEvent(scope=scope, error_class=INVALID_INPUT, message=step.error, evidence=evidence)


def lost_structures(state: RunState, step: Step, work: Work) -> str:
    """Say which structures a step leaves molecules out for, though nobody has tried to make them again; empty: none."""
    if work.species is None or any(r.action is Action.GEOMETRY for r in _of(state, step)):
        return ""
    begun = {one.smiles: structure_for(one, step, state.findings).geometry for one in work.species}
    lost = [one.error for one in work.species if (begin := begun[one.smiles]) and begin.path in one.error]
    return "; ".join(error.removeprefix(f"step {step.number}: ") for error in lost)


def restore_structures(
    species: tuple[Species, ...], workspace: Path, computed: Mapping[str, Sequence[str]]
) -> tuple[list[str], list[str]]:
    """Make structures again whose files are not what was recorded; gives the molecules restored, and those still lost.

    Only a structure that comes out exactly as it was recorded is written.

    Parameters
    ----------
    computed
        By the path of an optimised structure: the XYZ that the jobs of its step gave.
    """
    restored: list[str] = []
    lost: list[str] = []
    for one in species:
        if one.geometry is None or intact(one.geometry, workspace):
            continue
        known = computed.get(one.geometry.path) or _embedded(one)
        exact = next((x for xyz in known if sha256(x := xyz.encode()).hexdigest() == one.geometry.sha256), None)
        if exact is not None:
            write_artifact(workspace / one.geometry.path, exact, workspace, one.geometry.role)
        (lost if exact is None else restored).append(one.name)
    return restored, lost


def _embedded(species: Species) -> list[str]:
    try:
        return [embed(species.smiles, max_atoms=max(species.atoms, 1)).xyz]
    except InputError:
        return []


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
        mine = _of(state, step)
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
        """Give the state in which the step begins anew, on restored structures or without those that are lost.

        None: no structure is lost, or nothing is left without.
        """
        # Of several structures of a molecule, the one that this step begins at.
        begun = tuple(structure_for(one, step, state.findings) for one in state.species)
        computed = await self._computed(state, begun)
        restored, lost = await self.apart.run(restore_structures, begun, self.settings.workspace, computed)
        if not restored and not lost:
            return None
        after = _begun_anew(state, step)
        work = await self.begin(after, after.plan.step(step.number))
        if not restored and work.error:
            return None
        texts = [f"the structure of {', '.join(restored)} is as recorded"] if restored else []
        texts += [f"that of {', '.join(lost)} cannot be made again"] if lost else []
        text = ", ".join(texts)
        checks = (
            Check(name="same_structure", passed=bool(restored), text=text),
            Check(name="begins", passed=not work.error, text=work.error or "the step can begin"),
        )
        passed = all(check.passed for check in checks)
        verdict = Verdict(passed=passed, judged=True, checks=checks, validator=f"restored_structure/{VERSION}")
        event = event_of(step)
        status = RecoveryStatus.REPAIRED if passed else RecoveryStatus.FAILED
        recovery = _recovery(step, event, Action.GEOMETRY, status).model_copy(
            update={
                "checks": checks,
                "count": len(restored or lost),
                "labels": tuple((restored or lost)[:1]),
                "episode": episodes.episode_id(state.run_id, step.number, step.iteration, event.signature),
            }
        )
        content, word, trust = episodes.judged(episodes.content_of(state.run_id, recovery, event), verdict, [])
        await self.store.run(memory.put_episode(recovery.episode, epoch, event.signature, content, word, trust))
        line = f"step {step.number}: {text}"
        return _with(state if work.error else after, recovery, line)

    async def _computed(self, state: RunState, species: Sequence[Species]) -> dict[str, list[str]]:
        """Read, for each structure that a step of the run optimised, what its jobs gave."""
        found: dict[str, list[str]] = {}
        for one in species:
            number = _OF_STEP.search(one.geometry.path if one.geometry else "")
            step = next((s for s in state.plan.steps if number and s.number == int(number[1])), None)
            if one.geometry is None or step is None or intact(one.geometry, self.settings.workspace):
                continue
            results = [
                record.result
                for batch in step.batches
                for record in await read_records(self.store, batch.batch_id)
                if record.state is JobState.SUCCEEDED
            ]
            found[one.geometry.path] = [r.xyz for r in results if isinstance(r, QuantumResult) and r.xyz]
        return found


def _of(state: RunState, step: Step) -> list[Recovery]:
    return [r for r in state.recoveries if (r.step, r.iteration) == (step.number, step.iteration)]


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
