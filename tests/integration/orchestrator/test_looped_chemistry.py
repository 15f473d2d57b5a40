"""A looped run of real chemistry, from the request in words to one report, with its orchestrator killed in between."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.asking import GateStatus
from orchestrator.holder import Holder
from orchestrator.state import RunState
from tasks import listing, runs
from tasks.records import InboxEntry
from tasks.settings import Settings
from tasks.store import Store
from tests.integration.orchestrator.conftest import RunningOrchestrator, async_store, create, run_in, until
from tests.integration.worker.conftest import StartWorker

REQUEST = "HOMO and LUMO energies of water with GFN2-xTB"
ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")


@pytest.mark.slow  # beside the looped run of test_people, which counts
async def test_planned_executed_revised_twice_and_approved_with_a_kill_between_each_nothing_is_computed_twice(
    settings: Settings,
    submitting: Store,
    start_worker: StartWorker,
    start_orchestrator: Callable[..., RunningOrchestrator],
) -> None:
    start_worker()
    create(submitting, REQUEST, pipeline="looped")
    reader = Holder(settings, async_store(settings), "reader")  # it never runs: it only looks

    async def killed_at(gate: str) -> RunState:
        """Let an orchestrator of its own bring the run to a gate, and kill it there."""
        running = start_orchestrator(gate, TEST_WORKS_WITH="chemistry")

        async def waits() -> RunState | None:
            record = await reader.store.run(listing.run("r1"))
            assert record and record.state not in ENDED, record and record.error
            state = await reader.view("r1")
            there = record.state == "NEEDS_PERSON" and any(one.id == gate and one.open for one in state.gates)
            return state if there else None

        state: RunState = await until(waits, seconds=90, what=f"it waits at {gate}")
        running.kill()
        return state

    def say(kind: str, gate: str, text: str = "") -> None:
        entry = {"id": f"gate:{gate}", "kind": kind, "about": gate, "by": "ana", "text": text}
        submitting.run(runs.post("r1", InboxEntry.model_validate(entry)))

    # When plan and results are approved and revised, each time by another orchestrator
    first = await killed_at("plan-1")
    quantum = next(step.number for step in first.plan.steps if step.agent == "qm_agent")
    say("approve", "plan-1")
    await killed_at("review-2")
    say("revise", "review-2", "in methanol")
    state = await killed_at("plan-3")
    assert "in methanol" in state.gates[-1].text
    say("approve", "plan-3")
    await killed_at("review-4")
    say("revise", "review-4", "in water")
    await killed_at("plan-5")
    say("approve", "plan-5")
    await killed_at("review-6")
    say("approve", "review-6")
    start_orchestrator("last", TEST_WORKS_WITH="chemistry")
    record = await run_in(reader.store, "r1", *ENDED, seconds=90)
    state = await reader.view("r1")
    await reader.store.client.aclose()

    # Then each round was computed once, in its own solvent, and there is one report, of the last
    assert (record.state, record.error) == ("SUCCEEDED", "")
    assert [gate.status for gate in state.gates] == [
        GateStatus.APPROVED, GateStatus.REVISED, GateStatus.APPROVED,
        GateStatus.REVISED, GateStatus.APPROVED, GateStatus.APPROVED,
    ]  # fmt: skip
    assert state.iteration == 2
    jobs = {job.id: job for job in submitting.run(listing.jobs(run="r1")).rows}
    assert {job.spec["method"] for job in jobs.values()} == {"GFN2-xTB"}
    solvents = [jobs[f"{batch.batch_id}-0"].spec.get("solvent") for batch in state.plan.step(quantum).batches]
    assert solvents == [None, "methanol", "water"]
    assert {name: len(submitting.run(listing.attempts(name))) for name in jobs} == dict.fromkeys(jobs, 1)
    assert len(list(settings.workspace.glob("runs/r1/report*.md"))) == 1
    report = (settings.workspace / "runs/r1/report.md").read_text()
    assert "water" in report
    assert "methanol" not in report.partition("## Request")[2]
    values = {value.name: value.value for finding in state.findings for value in finding.values}
    # GFN2-xTB has the HOMO of water at -12.1 eV in the gas phase; ALPB shifts it by less than 1 eV.
    assert -13.0 < values["homo"] < -11.0
