"""Structures whose files are really gone: made again to the last digit where that can be, said and asked where not."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.agents import AGENTS
from orchestrator.holder import Holder
from orchestrator.planning import plan_request
from orchestrator.recovery.record import Action, RecoveryStatus
from orchestrator.state import RunState
from tasks import listing, memory, runs
from tasks.memory import EpisodeStatus
from tasks.records import InboxEntry
from tasks.settings import Settings
from tasks.store import Store
from tests.integration.orchestrator.conftest import create, holding, run_in, until
from tests.integration.orchestrator.test_recovery import answer
from tests.integration.worker.conftest import StartWorker

REQUEST = "Compare the HOMO energies of water and ammonia with HF/STO-3G, geometry by GFN2-xTB"
ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")


def say(store: Store, kind: str, gate: str, text: str = "", step: int = 0) -> None:
    entry = InboxEntry.model_validate(
        {"id": f"gate:{gate}", "kind": kind, "about": gate, "by": "ana", "text": text, "step": step}
    )
    store.run(runs.post("r1", entry))


async def asked(holder: Holder, what: str) -> RunState:
    """Wait until a run waits at a gate or with a question of that id, and give its state."""

    async def look() -> RunState | None:
        record = await holder.store.run(listing.run("r1"))
        assert record and record.state not in ENDED, record and record.error
        state = await holder.view("r1")
        ids = {one.id for one in (*state.gates, *state.questions) if one.open}
        return state if record.state == "NEEDS_PERSON" and what in ids else None

    found: RunState = await until(look, seconds=60, what=f"asked {what}")
    return found


async def reviewed(holder: Holder, store: Store, request: str = REQUEST) -> RunState:
    """Bring a looped run to its review."""
    create(store, request, pipeline="looped")
    await asked(holder, "plan-1")
    say(store, "approve", "plan-1")
    return await asked(holder, "review-2")


def structure(settings: Settings, name: str) -> Path:
    return settings.workspace / "runs" / "r1" / "structures" / name


def tried(state: RunState) -> list[tuple[str, str, int]]:
    return [(r.action, r.status, r.step) for r in state.recoveries]


async def test_lost_structures_are_made_again_of_the_smiles_and_of_the_job_that_optimised_them(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    async with holding(settings, agents=AGENTS, plan=plan_request) as holder:
        await reviewed(holder, submitting)
        # One of two is enough: no molecule is left out for the sake of a file that can be had again.
        start, optimised = structure(settings, "water.xyz"), structure(settings, "ammonia-step2.xyz")
        before = {path: path.read_bytes() for path in (start, optimised)}
        start.unlink()
        say(submitting, "revise", "review-2", "again", step=2)
        await asked(holder, "plan-3")
        say(submitting, "approve", "plan-3")
        state = await asked(holder, "review-4")
        assert start.read_bytes() == before[start]
        assert tried(state) == [(Action.GEOMETRY, RecoveryStatus.REPAIRED, 2)]
        optimised.unlink()
        say(submitting, "revise", "review-4", "again", step=3)
        await asked(holder, "plan-5")
        say(submitting, "approve", "plan-5")
        state = await asked(holder, "review-6")
        assert optimised.read_bytes() == before[optimised]
        assert tried(state)[1:] == [(Action.GEOMETRY, RecoveryStatus.REPAIRED, 3)]
        say(submitting, "approve", "review-6")
        record = await run_in(holder.store, "r1", *ENDED, seconds=60)
        state = await holder.view("r1")
    assert (record.state, record.error, state.questions) == ("SUCCEEDED", "", ())
    assert [one.error for one in state.species] == ["", ""]
    assert {e.status for e in submitting.run(memory.episodes()).rows} == {EpisodeStatus.VERIFIED_SUCCESS}
    # The optimisation that gave the lost structure was not computed again.
    batches = {row.id: row.succeeded for row in submitting.run(listing.batches(run="r1")).rows}
    assert batches == {f"r1-s{step}-r{number}": 2 for step, number in ((2, 1), (2, 2), (3, 1), (3, 2), (3, 3))}


@pytest.mark.parametrize("lost", ["one", "all"])
async def test_what_cannot_be_made_again_is_said_and_asked_where_nothing_is_left_without(
    settings: Settings, submitting: Store, start_worker: StartWorker, lost: str
) -> None:
    start_worker()
    async with holding(settings, agents=AGENTS, plan=plan_request) as holder:
        await reviewed(holder, submitting)
        # The structures are gone, and so is what the jobs gave.
        gone = ("water", "ammonia")[: 1 if lost == "one" else 2]
        for number, name in enumerate(gone):
            structure(settings, f"{name}-step2.xyz").unlink()
            submitting.client.hdel(f"{settings.key_prefix}job:r1-s2-r1-{number}", "result")
        say(submitting, "revise", "review-2", "again", step=3)
        await asked(holder, "plan-3")
        say(submitting, "approve", "plan-3")
        if lost == "one":
            state = await asked(holder, "review-4")
            assert tried(state) == [(Action.GEOMETRY, RecoveryStatus.FAILED, 3)]
            assert state.questions == ()
            assert "water-step2.xyz' is no longer in the workspace" in state.gates[-1].text
            return
        state = await asked(holder, "recovery-1")
        assert "water-step2.xyz' is no longer in the workspace" in state.questions[0].text
        answer(submitting, "recovery-1", "give_up")
        state = await asked(holder, "review-4")
        assert "3. failed: " in state.gates[-1].text


async def test_orbitals_that_are_gone_are_asked_about_with_their_name(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    async with holding(settings, agents=AGENTS, plan=plan_request) as holder:
        await reviewed(holder, submitting, "Hirshfeld charges of water with HF/STO-3G")
        (orbitals,) = settings.workspace.glob("jobs/*/r1-s3-r1-0/*/orbitals.*")
        orbitals.unlink()
        say(submitting, "revise", "review-2", "again", step=4)
        await asked(holder, "plan-3")
        say(submitting, "approve", "plan-3")
        state = await asked(holder, "recovery-1")
        (question,) = state.questions
        assert f"{orbitals.relative_to(settings.workspace)}' is missing" in question.text
        assert [candidate.value for candidate in question.candidates][-2:] == ["skip", "give_up"]
        answer(submitting, "recovery-1", "give_up")
        await asked(holder, "review-4")
        # What made them can be done anew, and then so is what needs them.
        say(submitting, "revise", "review-4", "again", step=3)
        await asked(holder, "plan-5")
        say(submitting, "approve", "plan-5")
        state = await asked(holder, "review-6")
    assert [step.status.value for step in state.plan.steps] == ["done", "done", "done", "done", "pending"]
