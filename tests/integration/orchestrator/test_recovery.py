"""Failed jobs recovered, remembered and asked about, with orchestrators killed in between; on a real store and worker.

A job that stumbles fails in each of its three attempts, and a fourth one from its restart point succeeds: that is what
`resume_from_checkpoint` gives it. One of nine steps is beyond that as well.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.holder import Holder
from orchestrator.recovery import policy
from orchestrator.recovery.record import Action, RecoveryStatus
from orchestrator.state import RunState
from tasks import listing, memory, runs
from tasks.memory import EpisodeStatus
from tasks.records import InboxEntry, RunRecord
from tasks.settings import Settings
from tasks.store import Store
from tests.integration.orchestrator.conftest import RunningOrchestrator, async_store, create, holding, run_in
from tests.integration.worker.conftest import StartWorker

CURABLE = "stumble 2 times to 4 pausing 0 in 1 rounds"
HOPELESS = "stumble 2 times to 9 pausing 0 in 1 rounds"
SIGNATURE = "counting_agent:stumble:program:-:program_failed"
ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")


async def ended(settings: Settings, run: str = "r1") -> tuple[RunRecord, RunState]:
    """Drive a run to its end with a holder of its own."""
    async with holding(settings, f"holder-of-{run}") as holder:
        record = await run_in(holder.store, run, *ENDED, seconds=60)
        return record, await holder.view(run)


async def asked(holder: Holder, run: str = "r1") -> RunState:
    record = await run_in(holder.store, run, "NEEDS_PERSON", *ENDED, seconds=60)
    assert record.state == "NEEDS_PERSON", record.error
    return await holder.view(run)


def answer(store: Store, question: str, text: str) -> None:
    entry = InboxEntry(id=f"answer:{question}", kind="answer", about=question, text=text, by="ana")
    store.run(runs.post("r1", entry))


def batches(store: Store) -> dict[str, tuple[int, int]]:
    """Give how many jobs of each batch of the run succeeded, and how many there are."""
    return {b.id: (b.succeeded, b.count) for b in store.run(listing.batches(run="r1", count=100)).rows}


async def test_what_failed_is_repaired_recorded_recalled_and_promoted(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, CURABLE)
    record, state = await ended(settings)
    assert (record.state, record.answer) == ("SUCCEEDED", "2 SUCCEEDED")
    (recovery,) = state.recoveries
    assert (recovery.action, recovery.source, recovery.status) == (Action.RESUME, "diagnosis", RecoveryStatus.REPAIRED)
    assert "went on from restart point" in recovery.checks[2].text
    assert recovery.signature == SIGNATURE
    # Only the job that failed was done again.
    assert batches(submitting) == {"r1-s1-r1": (1, 2), "r1-s1-r2": (1, 1)}
    assert any("resume from checkpoint, by diagnosis" in note for note in state.findings[0].notes)
    (episode,) = submitting.run(memory.episodes(signature=SIGNATURE)).rows
    assert (episode.id, episode.status, episode.run) == (recovery.episode, EpisodeStatus.VERIFIED_SUCCESS, "r1")
    assert episode.trust >= settings.memory_min_trust
    assert episode.content.jobs == ("r1-s1-r1-0",)
    assert episode.content.repairs == ("r1-s1-r2-0",)

    submitting.run(runs.create("r2", "ana", CURABLE))
    _, state = await ended(settings, "r2")
    (recovery,) = state.recoveries
    assert (recovery.source, recovery.chosen_by) == ("memory", episode.id)
    assert recovery.status is RecoveryStatus.REPAIRED

    store = async_store(settings)
    version, rule = await policy.promote(store, SIGNATURE, "ana", settings.memory_min_trust)
    assert (version, rule.action, len(rule.episodes)) == (1, Action.RESUME, 2)
    assert await policy.resolve(store, SIGNATURE, 0.8)
    # A rule holds only as long as the episodes that it was promoted on.
    submitting.run(memory.revoke_episode(episode.id, "ana", "a test"))
    assert await policy.resolve(store, SIGNATURE, 0.8) == []
    await store.client.aclose()


async def test_what_cannot_be_repaired_is_as_it_was_and_said(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, HOPELESS)
    record, state = await ended(settings)
    # The agent itself decides what becomes of a step of which one job failed.
    assert (record.state, record.answer) == ("SUCCEEDED", "1 FAILED, 1 SUCCEEDED")
    assert [(r.action, r.status) for r in state.recoveries] == [
        (Action.RESUME, RecoveryStatus.FAILED),
        (Action.ASK, RecoveryStatus.EXHAUSTED),
    ]
    assert any("failed" in note for note in state.findings[0].notes)
    (episode,) = submitting.run(memory.episodes()).rows
    assert episode.status is EpisodeStatus.VERIFIED_FAILURE


async def test_a_shadow_says_what_it_would_do_and_changes_nothing(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, CURABLE)
    record, state = await ended(settings.model_copy(update={"recovery": "shadow"}))
    assert record.answer == "1 FAILED, 1 SUCCEEDED"
    assert [(r.action, r.status, r.round) for r in state.recoveries] == [(Action.RESUME, RecoveryStatus.SHADOW, 0)]
    assert batches(submitting) == {"r1-s1-r1": (1, 2)}
    (episode,) = submitting.run(memory.episodes()).rows
    assert episode.status is EpisodeStatus.CANDIDATE


async def test_switched_off_it_looks_at_nothing(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, CURABLE)
    record, state = await ended(settings.model_copy(update={"recovery": "off"}))
    assert record.answer == "1 FAILED, 1 SUCCEEDED"
    assert state.recoveries == ()
    assert submitting.run(memory.episodes()).rows == ()


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("skip", "1 FAILED, 1 SUCCEEDED"),
        ("more_resources", "1 FAILED, 1 SUCCEEDED"),
        ("give_up", ""),
    ],
)
async def test_where_people_are_in_the_loop_they_are_asked_with_all_that_was_tried(
    settings: Settings, submitting: Store, start_worker: StartWorker, said: str, outcome: str
) -> None:
    start_worker()
    create(submitting, HOPELESS, pipeline="full")
    async with holding(settings) as holder:
        await asked(holder)
        submitting.run(runs.post("r1", InboxEntry(id="g", kind="approve", about="plan-1", by="ana")))
        state = await asked(holder)
        (question,) = state.questions
        assert (question.id, question.asked_by, question.step) == ("recovery-1", "recovery", 1)
        assert "1 of 2 jobs failed" in question.text
        assert "tried: resume from checkpoint, by diagnosis, after program_failed: failed" in question.text
        assert [c.value for c in question.candidates] == ["more_resources", "skip", "give_up"]
        answer(submitting, "recovery-1", said)
        if said == "more_resources":  # which does not help either
            state = await asked(holder)
            assert [c.value for c in state.questions[-1].candidates] == ["skip", "give_up"]
            assert state.recoveries[-2].source == "person"
            answer(submitting, "recovery-2", "skip")
        record = await run_in(holder.store, "r1", *ENDED, seconds=60)
        state = await holder.view("r1")
    if said == "give_up":
        assert record.state == "FAILED"
        assert "ana gave up on it" in record.error
    else:
        assert (record.state, record.answer) == ("SUCCEEDED", outcome)
        assert any("ana chose to go on without" in note for note in state.findings[0].notes)


@pytest.mark.parametrize(
    "point",
    [
        "recovery_decided",  # chosen, its episode staged, nothing in a checkpoint
        "dispatching_repair",  # in a checkpoint, and not in the store
        "recovery_validated",  # judged, and its verdict not recorded
        "recovery_judged",  # recorded, and not in a checkpoint
    ],
)
async def test_an_orchestrator_killed_while_it_recovers_does_nothing_twice(
    settings: Settings,
    submitting: Store,
    start_worker: StartWorker,
    start_orchestrator: Callable[..., RunningOrchestrator],
    point: str,
) -> None:
    start_worker()
    create(submitting, CURABLE)
    marker = {"SIMRELAY_FAULT_MARKER": str(settings.home / "fired")}
    first = start_orchestrator("first", SIMRELAY_FAULT=f"{point}:kill", **marker)
    first.process.wait(60)
    start_orchestrator("second")
    reader = Holder(settings, async_store(settings), "reader")
    record = await run_in(reader.store, "r1", *ENDED, seconds=90)
    state = await reader.view("r1")
    await reader.store.client.aclose()
    assert (record.state, record.answer) == ("SUCCEEDED", "2 SUCCEEDED")
    assert [r.status for r in state.recoveries] == [RecoveryStatus.REPAIRED]
    assert batches(submitting) == {"r1-s1-r1": (1, 2), "r1-s1-r2": (1, 1)}
    assert [e.status for e in submitting.run(memory.episodes()).rows] == [EpisodeStatus.VERIFIED_SUCCESS]
    account = submitting.run(memory.read_policy(audit=100)).audit
    assert [(line.what, line.why) for line in account] == [("recorded", "verified_success"), ("recorded", "candidate")]
