"""Steps that could not use what they were given: structures restored, people asked, and the rest as it was."""

from __future__ import annotations

import pytest

from orchestrator.agents import Work
from orchestrator.apart import Apart
from orchestrator.asking import Options
from orchestrator.chemistry.geometry import embed
from orchestrator.recovery.record import Action, RecoveryStatus
from orchestrator.recovery.refused import RefusedSteps
from orchestrator.state import Plan, RunState, Species, Step, StepStatus
from tasks import memory, runs
from tasks.memory import EpisodeStatus
from tasks.records import InboxEntry
from tasks.settings import Settings
from tasks.store import Store
from tasks.workspace import write_artifact
from tests.integration.orchestrator.conftest import async_store, create, holding, run_in
from tests.integration.orchestrator.test_recovery import answer, asked
from tests.integration.worker.conftest import StartWorker

COUNT = "count 1 times to 0 pausing 0 in 1 rounds"
REFUSED = f"refused {COUNT}; {COUNT}"


async def test_in_a_short_pipeline_a_refused_step_fails_and_the_rest_goes_on(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, REFUSED)
    async with holding(settings) as holder:
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED")
        state = await holder.view("r1")
    assert record.state == "FAILED"
    assert "right: '' is not there. Put it there." in record.error
    assert record.answer == "1 SUCCEEDED"
    assert [(r.action, r.status) for r in state.recoveries] == [(Action.ASK, RecoveryStatus.EXHAUSTED)]
    assert state.recoveries[0].signature == "counting_agent:-:-:-:invalid_input"


@pytest.mark.parametrize(("said", "summary"), [("again", "1 SUCCEEDED; 1 SUCCEEDED"), ("skip", "1 SUCCEEDED")])
async def test_where_people_are_in_the_loop_they_put_it_right_or_go_on_without(
    settings: Settings, submitting: Store, start_worker: StartWorker, said: str, summary: str
) -> None:
    start_worker()
    create(submitting, REFUSED, pipeline="full")
    async with holding(settings) as holder:
        await asked(holder)
        submitting.run(runs.post("r1", InboxEntry(id="g", kind="approve", about="plan-1", by="ana")))
        state = await asked(holder)
        (question,) = state.questions
        assert "cannot use what it was given" in question.text
        assert [c.value for c in question.candidates] == ["again", "skip", "give_up"]
        (settings.workspace / "runs" / "r1" / "right").touch()
        answer(submitting, question.id, said)
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED")
    assert record.answer == summary
    assert (record.error == "") is (said == "again")


async def test_a_structure_that_is_gone_is_made_again_to_the_last_digit(settings: Settings, submitting: Store) -> None:
    store = async_store(settings)
    submitting.run(runs.create("r1", "ana", "x"))
    held = submitting.run(runs.claim("o", settings))
    assert held
    made = embed("CCO")
    path = settings.workspace / "runs" / "r1" / "structures" / "ethanol.xyz"
    geometry = write_artifact(path, made.xyz.encode(), settings.workspace, "geometry")
    error = "step 2: geometry: 'ethanol.xyz' is no longer in the workspace. Start the run again."
    ethanol = Species(
        name="ethanol", smiles="CCO", atoms=9, geometry=geometry, geometry_level=made.method, error=error
    )  # fmt: skip
    refused = Step(number=2, agent="qm_agent", description="", status=StepStatus.FAILED, error=error, trouble="open")
    state = RunState(run_id="r1", options=Options(), species=(ethanol,), plan=Plan(steps=(refused,)))
    begun: list[Step] = []

    async def begin(there: RunState, step: Step) -> Work:
        assert there.species[0].error == ""
        begun.append(step)
        return Work()

    apart = Apart(1)
    recoverer = RefusedSteps(settings=settings, store=store, apart=apart, begin=begin)

    async def recovered(path_holds: bytes | None) -> RunState:
        path.unlink() if path_holds is None else path.write_bytes(path_holds)
        return await recoverer.recover(state, refused, held.epoch)

    after = await recovered(None)
    assert path.read_text() == made.xyz
    assert after.plan.step(2).status is StepStatus.PENDING
    assert [(r.action, r.status) for r in after.recoveries] == [(Action.GEOMETRY, RecoveryStatus.REPAIRED)]
    assert len(begun) == 1
    (episode,) = submitting.run(memory.episodes()).rows
    assert episode.status is EpisodeStatus.VERIFIED_SUCCESS
    # What is still as it was recorded is not the reason; then nothing is left to be done.
    after = await recovered(made.xyz.encode())
    assert [(r.action, r.status) for r in after.recoveries] == [(Action.ASK, RecoveryStatus.EXHAUSTED)]
    apart.close()
    await store.client.aclose()
