"""A plan as a graph: steps side by side through the one waiting node, partial failure, and its file rewritten."""

from __future__ import annotations

from orchestrator.planning.asked import Asked, Planned
from orchestrator.state import SUMMARY, Decision, Plan, Step, StepStatus
from tasks.settings import Settings
from tasks.store import Store
from tests.integration.orchestrator.conftest import create, holding, run_in, until
from tests.integration.worker.conftest import StartWorker

SLOW, QUICK = "count 1 times to 60 pausing 0.05 in 1 rounds", "count 1 times to 1 pausing 0 in 1 rounds"


def plan_graph(asked: Asked) -> Planned:
    """Plan a slow chain (1, 6), a quick one (2, 3), and one whose first step fails (4, 5)."""
    rows = ((SLOW, ()), (QUICK, ()), (QUICK, (2,)), (f"refused {QUICK}", ()), (QUICK, (4,)), (QUICK, (1,)))
    steps = tuple(
        Step(number=n, agent="counting_agent", description=text, depends_on=after)
        for n, (text, after) in enumerate(rows, 1)
    )
    summary = Step(number=7, agent=SUMMARY, description="sum up", depends_on=(1, 2, 3, 4, 5, 6))
    return Planned(decision=Decision(rule="complexity"), plan=Plan(title=asked.text, steps=(*steps, summary)))


async def test_steps_go_on_as_soon_as_what_they_need_is_there_and_failures_stop_only_what_needs_them(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker()
    create(submitting, "a graph of steps")
    path = settings.workspace / "runs/r1/plan.md"

    async def while_the_slow_one_runs() -> bool:
        shown = path.read_text() if path.exists() else ""
        return "\n1. 🔄" in shown and "\n2. ✅" in shown and "\n3. ✅" in shown

    async with holding(settings, plan=plan_graph) as holder:
        await until(while_the_slow_one_runs, what="step 3 is done beside step 1")
        shown = path.read_text()
        assert "\n4. ❌" in shown and "\n5. ⏭️" in shown and "\n6. ⏳" in shown and "\n7. ⏳" in shown
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED")
        state = await holder.view("r1")
    statuses = [step.status for step in state.plan.steps]
    done, failed, skipped = StepStatus.DONE, StepStatus.FAILED, StepStatus.SKIPPED
    assert statuses == [done, done, done, failed, skipped, done, done]
    assert [f.step for f in state.findings] == [2, 3, 1, 6, 7]
    # What is there is the answer, and what failed is said with it.
    assert record.answer == "; ".join(["1 SUCCEEDED"] * 4)
    assert "step 4 (counting_agent) failed" in record.error and "Put it there" in record.error
    assert "\n7. ✅" in path.read_text()
