"""Costs of real chemistry: shown job by job, approved, rejected and revised, by exactly the specs that then run.

The request is planned as if a language model had chosen its agent, so that what costs anything by estimate waits for a
person also in the short pipeline. GFN2-xTB of water costs nothing by estimate, its DFT energy does.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from orchestrator.agents import AGENTS
from orchestrator.asking import GateStatus
from orchestrator.holder import Holder
from orchestrator.planning import plan_request
from orchestrator.recovery.record import RecoveryStatus
from orchestrator.state import RunState, StepStatus
from tasks import listing, runs
from tasks.records import InboxEntry, JobRecord
from tasks.settings import Settings
from tasks.specs import spec_hash
from tasks.store import Store
from tests.conftest import missing
from tests.integration.orchestrator.conftest import (
    RunningOrchestrator,
    async_store,
    create,
    holding,
    plan_as_a_model_would,
    run_in,
    until,
)
from tests.integration.worker.conftest import RunningWorker, StartWorker
from tests.stand_ins import install
from worker.detect import write_engines_toml
from worker.engines.pyscf import PySCF
from worker.engines.xtb import XTB

REQUEST = "HOMO energy of water with B3LYP/def2-SVP, geometry by GFN2-xTB"
ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")
BY_MODEL = {"agents": AGENTS, "plan": plan_as_a_model_would}


@pytest.fixture
def costed(settings: Settings) -> Settings:
    """Settings under which whatever costs more than nothing by estimate needs an approval."""
    return settings.model_copy(update={"approval_core_hours": 0.0})


async def at_gate(holder: Holder, gate: str) -> RunState:
    """Wait until a run waits at a gate, and give its state."""

    async def look() -> RunState | None:
        record = await holder.store.run(listing.run("r1"))
        assert record and record.state not in ENDED, record and record.error
        state = await holder.view("r1")
        return state if record.state == "NEEDS_PERSON" and any(g.id == gate and g.open for g in state.gates) else None

    found: RunState = await until(look, seconds=90, what=f"it waits at {gate}")
    return found


def say(store: Store, kind: str, gate: str, text: str = "") -> None:
    """Say something about a gate, as the API does."""
    entry = InboxEntry.model_validate({"id": f"gate:{gate}", "kind": kind, "about": gate, "by": "ana", "text": text})
    store.run(runs.post("r1", entry))


def jobs_of(store: Store, batch: str) -> list[JobRecord]:
    """Give the jobs of a batch in the order of its manifest."""
    return sorted(store.run(listing.jobs(batch=batch)).rows, key=lambda row: int(row.id.rpartition("-")[2]))


def hash_of(jobs: list[JobRecord]) -> str:
    """Give the hash of what is in the store, made as that of a manifest is."""
    return spec_hash([{"id": job.id, "spec": job.spec} for job in jobs])


def tries(store: Store, run: str = "r1") -> set[int]:
    """Give how often each job of the run was tried."""
    return {len(store.run(listing.attempts(job.id))) for job in store.run(listing.jobs(run=run)).rows}


async def test_a_plan_shows_each_job_with_its_cost_and_its_approval_covers_exactly_these(
    costed: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, "Compare the HOMO energies of water and ammonia with HF/STO-3G", pipeline="full")
    async with holding(costed, agents=AGENTS, plan=plan_request) as holder:
        state = await at_gate(holder, "plan-1")
        lines = state.gates[0].text.splitlines()
        assert "jobs, less than 0.01 core hours: Compare" in lines[0]
        assert "   water, single point with HF/STO-3G, pyscf: less than 0.01 core hours" in lines
        assert "   ammonia, single point with HF/STO-3G, pyscf: less than 0.01 core hours" in lines
        assert submitting.run(listing.jobs(run="r1")).rows == ()
        say(submitting, "approve", "plan-1")
        record = await run_in(holder.store, "r1", *ENDED, "NEEDS_PERSON", seconds=120)
        state = await holder.view("r1")
    assert (record.state, record.error) == ("SUCCEEDED", "")
    assert [gate.id for gate in state.gates] == ["plan-1"]
    for step in state.plan.steps:
        for batch in step.batches:
            assert hash_of(jobs_of(submitting, batch.batch_id)) == batch.manifest.hash
    assert tries(submitting) == {1}


async def test_what_was_approved_is_dispatched_to_the_hash_and_nothing_before(
    costed: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, REQUEST)
    async with holding(costed, **BY_MODEL) as holder:
        state = await at_gate(holder, "cost-1")
        (gate,) = state.gates
        assert gate.text.splitlines() == [
            "step 3, Single points of water with B3LYP/def2-SVP at the geometries of step 2: HOMO:"
            " 1 job, less than 0.01 core hours",
            "   water, single point with B3LYP/def2-SVP, pyscf: less than 0.01 core hours",
            "It needs an approval: more than 0 core hours, beyond what was approved so far.",
        ]
        assert jobs_of(submitting, "r1-s3-r1") == []
        say(submitting, "approve", "cost-1")
        record = await run_in(holder.store, "r1", *ENDED, seconds=120)
    assert (record.state, record.error) == ("SUCCEEDED", "")
    jobs = jobs_of(submitting, "r1-s3-r1")
    assert len(jobs) == 1
    assert hash_of(jobs) == gate.hash
    assert tries(submitting) == {1}


async def test_a_rejected_cost_fails_its_step_and_what_was_found_before_is_reported(
    costed: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, REQUEST)
    async with holding(costed, **BY_MODEL) as holder:
        await at_gate(holder, "cost-1")
        say(submitting, "reject", "cost-1", "too dear")
        record = await run_in(holder.store, "r1", *ENDED, seconds=60)
        state = await holder.view("r1")
    assert "rejected its cost: too dear" in record.error
    assert "Optimised water" in record.answer
    assert [step.status for step in state.plan.steps] == [
        StepStatus.DONE, StepStatus.DONE, StepStatus.FAILED, StepStatus.DONE,
    ]  # fmt: skip
    assert jobs_of(submitting, "r1-s3-r1") == []


@pytest.mark.parametrize(
    ("request_text", "feedback", "field", "value"),
    [
        (REQUEST, "use def2-TZVP instead", "basis", "def2-TZVP"),
        ("Gibbs energy of water with HF/6-31G*", "300 K", "temperature_kelvin", 300.0),
    ],
)
async def test_a_revised_cost_has_other_specs_another_hash_and_an_approval_of_its_own(
    costed: Settings,
    submitting: Store,
    start_worker: StartWorker,
    request_text: str,
    feedback: str,
    field: str,
    value: object,
) -> None:
    start_worker()
    create(submitting, request_text)
    async with holding(costed, **BY_MODEL) as holder:
        first = await at_gate(holder, "cost-1")
        say(submitting, "revise", "cost-1", feedback)
        second = await at_gate(holder, "cost-2")
        before, after = first.gates[0], second.gates[-1]
        assert [gate.status for gate in second.gates] == [GateStatus.REVISED, GateStatus.OPEN]
        assert after.hash != before.hash
        assert (second.iteration, second.feedback) == (1, "")
        assert {one.name: one.geometry for one in second.species} == {one.name: one.geometry for one in first.species}
        batch = second.plan.step(after.steps[0]).batches[-1]
        say(submitting, "approve", "cost-2")
        await until(lambda: _sent(holder, after.steps[0]), seconds=30, what="dispatched")
    jobs = jobs_of(submitting, batch.batch_id)
    assert [job.spec[field] for job in jobs] == [value]
    assert hash_of(jobs) == after.hash
    # What was frozen before, and never approved, is nowhere.
    assert {job.spec.get(field) for job in submitting.run(listing.jobs(run="r1")).rows} - {None, value} <= {298.15}


async def test_of_the_candidates_of_a_swarm_only_as_many_go_on_as_a_person_pays_for(
    costed: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    small = "with methyl and ethyl substituents, 3 particles, 2 steps, best 3"
    create(submitting, f"Design tetraalkylammonium cations for PBF_BB_1 {small}")
    async with holding(costed, **BY_MODEL) as holder:
        await at_gate(holder, "cost-1")
        say(submitting, "approve", "cost-1")
        state = await at_gate(holder, "cost-2")
        assert "Optimise the best 3 candidates" in state.gates[-1].text
        assert len(state.gates[-1].text.splitlines()) == 5
        say(submitting, "revise", "cost-2", "only 2 candidates")
        state = await at_gate(holder, "cost-3")
    assert "Optimise the best 2 candidates" in state.gates[-1].text
    assert [line.split(",")[0].strip() for line in state.gates[-1].text.splitlines()[1:-1]] == [
        "candidate 1", "candidate 2",
    ]  # fmt: skip
    batch = state.plan.step(state.gates[-1].steps[0]).batches[-1]
    assert (batch.manifest.count, batch.manifest.hash) == (2, state.gates[-1].hash)
    assert [step.status for step in state.plan.steps[:2]] == [StepStatus.DONE, StepStatus.DONE]


async def test_a_repair_that_goes_beyond_the_approved_plan_waits_for_an_approval_of_its_own(
    costed: Settings, submitting: Store
) -> None:
    """ORCA, stood in for, converges nothing; the same in PySCF doubles what the plan said it would cost."""
    pyscf, xtb = PySCF.detect(), XTB.detect()
    if not pyscf or not xtb:
        missing("PySCF or xtb")
    orca = install.orca(costed.home / "orca", scf="never")
    write_engines_toml(costed.home / "engines.toml", [pyscf, xtb, orca])
    worker = RunningWorker(costed, "one", 2)
    try:
        create(submitting, REQUEST.replace(",", " in ORCA,"), pipeline="full")
        async with holding(costed, agents=AGENTS, plan=plan_request) as holder:
            await at_gate(holder, "plan-1")
            say(submitting, "approve", "plan-1")
            state = await at_gate(holder, "cost-2")
            assert ": to repair what failed, 1 job," in state.gates[-1].text
            assert jobs_of(submitting, "r1-s3-r2") == []
            say(submitting, "approve", "cost-2")
            record = await run_in(holder.store, "r1", *ENDED, seconds=120)
            after = await holder.view("r1")
    finally:
        worker.kill()
    assert (record.state, record.error) == ("SUCCEEDED", "")
    assert [recovery.status for recovery in after.recoveries] == [RecoveryStatus.REPAIRED]
    (repair,) = jobs_of(submitting, "r1-s3-r2")
    assert (repair.engine, repair.retry_of) == ("pyscf", "r1-s3-r1-0")


async def test_an_approval_that_came_too_late_is_asked_for_anew(
    costed: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, REQUEST)
    async with holding(costed.model_copy(update={"approval_expires_hours": 1e-9}), **BY_MODEL) as holder:
        await at_gate(holder, "cost-1")
        say(submitting, "approve", "cost-1")
        state = await at_gate(holder, "cost-2")
    assert [gate.status for gate in state.gates] == [GateStatus.EXPIRED, GateStatus.OPEN]
    assert state.gates[0].hash == state.gates[1].hash
    assert jobs_of(submitting, "r1-s3-r1") == []


async def test_a_manifest_that_was_changed_between_is_never_dispatched(
    costed: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, REQUEST)
    async with holding(costed, **BY_MODEL) as holder:
        state = await at_gate(holder, "cost-1")
        manifest = costed.workspace / state.plan.step(3).batches[-1].manifest.artifact.path
        rows = json.loads(manifest.read_text())
        rows[0]["spec"]["basis"] = "def2-QZVP"
        manifest.write_text(json.dumps(rows))
        say(submitting, "approve", "cost-1")
        record = await run_in(holder.store, "r1", *ENDED, seconds=60)
    assert record.state == "FAILED"
    assert "was changed after it was frozen; nothing of it is dispatched" in record.error
    assert jobs_of(submitting, "r1-s3-r1") == []


async def test_an_orchestrator_killed_at_each_moment_of_an_approval_has_each_job_done_once(
    costed: Settings,
    submitting: Store,
    start_worker: StartWorker,
    start_orchestrator: Callable[..., RunningOrchestrator],
) -> None:
    start_worker()
    create(submitting, REQUEST)
    reader = Holder(costed, async_store(costed), "reader")  # it never runs: it only looks
    by_model = {"TEST_WORKS_WITH": "model", "SIMRELAY_APPROVAL_CORE_HOURS": "0"}

    def armed(point: str) -> RunningOrchestrator:
        marker = str(costed.home / f"fired-{point}")
        return start_orchestrator(point, SIMRELAY_FAULT=f"{point}:kill", SIMRELAY_FAULT_MARKER=marker, **by_model)

    # When it opens the gate, while it waits, ...
    assert await died(armed("gate_opened"))
    waiting = start_orchestrator("waiting", **by_model)
    state = await at_gate(reader, "cost-1")
    waiting.kill()
    assert jobs_of(submitting, "r1-s3-r1") == []
    say(submitting, "approve", "cost-1")
    # ... when it has heard the approval, before it dispatches, and after that
    for point in ("heard", "dispatching", "dispatched"):
        assert await died(armed(point))
    start_orchestrator("last", **by_model)
    record = await run_in(reader.store, "r1", *ENDED, seconds=120)
    after = await reader.view("r1")
    await reader.store.client.aclose()

    assert (record.state, record.error) == ("SUCCEEDED", "")
    assert [(gate.id, gate.status) for gate in after.gates] == [("cost-1", GateStatus.APPROVED)]
    assert after.history.count("ana approved cost-1") == 1
    jobs = jobs_of(submitting, "r1-s3-r1")
    assert len(jobs) == 1
    assert hash_of(jobs) == state.gates[0].hash
    assert tries(submitting) == {1}
    assert len(submitting.run(listing.jobs(run="r1")).rows) == 2


async def died(orchestrator: RunningOrchestrator) -> bool:
    """Wait until an orchestrator has died of its fault."""

    async def look() -> bool:
        return orchestrator.process.poll() is not None

    return bool(await until(look, seconds=60, what=f"killed: {orchestrator.log}"))


async def _sent(holder: Holder, step: int) -> bool:
    return (await holder.view("r1")).plan.step(step).batches[-1].sent
