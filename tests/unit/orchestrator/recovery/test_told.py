"""What people are told of recoveries, and what their verdict on a repair's cost does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from orchestrator.agents.base import Work
from orchestrator.asking import Gate, GateKind
from orchestrator.people import hear
from orchestrator.recovery.ask import with_recoveries
from orchestrator.recovery.record import KEPT_RECOVERIES, Action, Recovery, RecoveryStatus
from orchestrator.state import Dispatched, Finding, Manifest, Plan, RunState, Step, StepStatus, checked
from orchestrator.steps import uninterpreted
from tasks.memory import Check
from tasks.records import InboxEntry
from tasks.results import Artifact

STEP = Step(number=1, agent="qm_agent", description="energy")
WENT_WELL = (Check(name="succeeded", passed=True, text="job b succeeded"),)


def recovery(status: RecoveryStatus, action: Action = Action.COARSER, **more: object) -> Recovery:
    values = {"step": 1, "round": 2, "signature": "s", "error_class": "out_of_memory", "count": 1, "labels": ("water",)}
    return Recovery.model_validate({**values, "action": action, "status": status, **more})


def finding() -> Work:
    return Work(finding=Finding(step=1, agent="qm_agent", summary="Computed water."))


def test_a_repaired_step_says_so_and_what_it_means() -> None:
    repaired = recovery(RecoveryStatus.REPAIRED, consequence="computed with less: do not compare", checks=WENT_WELL)
    work = with_recoveries(finding(), [repaired], STEP)
    assert work.finding
    assert work.finding.summary == "Computed water. After a failure water was computed with less: do not compare."
    assert work.finding.deviates
    (note,) = work.finding.notes
    assert note.startswith("Recovery of water: coarser method, by diagnosis, after out_of_memory: repaired")


def test_what_was_tried_in_vain_stands_in_the_error_of_the_step() -> None:
    failed = recovery(RecoveryStatus.FAILED, checks=(Check(name="succeeded", passed=False, text="again"),))
    work = with_recoveries(Work(error="no job gave a result"), [failed], STEP)
    assert work.error.startswith("no job gave a result. Recovery of water: coarser method")
    assert "failed (again)" in work.error


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"step": 2}, ""),
        ({"iteration": 1}, ""),
        ({"status": RecoveryStatus.OPEN}, ""),
        ({"status": RecoveryStatus.SHADOW}, "Recovery (shadow) would have tried coarser method on water."),
    ],
)
def test_only_what_came_of_this_step_and_iteration_is_told(change: dict[str, object], said: str) -> None:
    one = recovery(RecoveryStatus.REPAIRED).model_copy(update=change)
    work = with_recoveries(finding(), [one], STEP)
    assert work.finding
    assert work.finding.notes == ((said,) if said else ())


def test_the_state_keeps_the_newest_recoveries_only() -> None:
    many = tuple(recovery(RecoveryStatus.FAILED, round=n) for n in range(100))
    kept = checked(recoveries=many)["recoveries"]
    assert len(kept) == KEPT_RECOVERIES
    assert kept[-1].round == 99


def test_a_repair_that_is_too_dear_leaves_the_step_with_what_it_has() -> None:
    manifest = Manifest(artifact=Artifact(path="m", size_bytes=1, sha256="0"), hash="h", count=1)
    first = Dispatched(batch_id="b1", round=1, manifest=manifest, sent=True, complete=True, trouble="open")
    repair = Dispatched(batch_id="b2", round=2, manifest=manifest, repairs="b1", core_seconds=1e6)
    step = STEP.model_copy(update={"status": StepStatus.RUNNING, "batches": (first, repair)})
    now = datetime.now(UTC)
    gate = Gate(id="cost-1", kind=GateKind.COST, hash="h", text="", steps=(1,), expires=now + timedelta(hours=1))
    state = RunState(plan=Plan(steps=(step,)), gates=(gate,), recoveries=(recovery(RecoveryStatus.OPEN),))
    after = hear(state, [InboxEntry(id="e", kind="reject", about="cost-1", by="ana")], now)
    assert after.plan.step(1).status is StepStatus.RUNNING
    assert [batch.batch_id for _, batch in uninterpreted(after.plan)] == ["b1"]
    assert after.recoveries[0].status is RecoveryStatus.REJECTED
