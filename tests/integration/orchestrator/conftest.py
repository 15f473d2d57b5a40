"""Orchestrators for tests: holders in this process, or in processes of their own that can be stopped and killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from orchestrator.agents import AGENTS
from orchestrator.holder import Holder
from orchestrator.planning import plan_request
from orchestrator.planning.asked import Asked, Planned
from orchestrator.state import SUMMARY, Decision
from tasks import listing, runs
from tasks.celery_app import make_app, publisher
from tasks.records import RunRecord
from tasks.settings import Settings, environment
from tasks.store import AsyncStore, Store, connect_async
from tests.counting import COUNTING, plan_counting
from tests.integration.worker.conftest import start_worker, submitting

__all__ = ["start_worker", "submitting"]

PROCESS = """
import asyncio
from tests.integration.orchestrator.conftest import serve
asyncio.run(serve())
"""


def async_store(settings: Settings) -> AsyncStore:
    """Give a store with its own connections, which publishes offers."""
    return AsyncStore(connect_async(settings), settings, publisher(make_app(settings)))


@asynccontextmanager
async def holding(settings: Settings, name: str = "o1", **options: Any) -> AsyncIterator[Holder]:
    """Run a holder with the counting agent in this process, as long as the block does."""
    store = async_store(settings)
    holder = Holder(settings, store, name, **{"agents": COUNTING, "plan": plan_counting, **options})
    stop = asyncio.Event()
    task = asyncio.create_task(holder.run(stop))
    try:
        yield holder
    finally:
        stop.set()
        await task
        await store.client.aclose()


def plan_as_a_model_would(asked: Asked) -> Planned:
    """Plan a request in words as if a language model had chosen its agent: then costs need a person's approval."""
    return replace(plan_request(asked), decision=Decision(rule="model", agent="qm_agent"))


#: what an orchestrator of a process of its own may work with, by the name in its environment
WORKS_WITH: dict[str, dict[str, Any]] = {
    "counting": {},
    "reports": {"agents": {**COUNTING, SUMMARY: AGENTS[SUMMARY]}},
    "chemistry": {"agents": AGENTS, "plan": plan_request},
    "model": {"agents": AGENTS, "plan": plan_as_a_model_would},
}


async def serve() -> None:
    """Be an orchestrator in a process of its own."""
    from tasks.logs import configure_logging
    from tasks.reconcile import reconcile
    from tasks.settings import load_settings

    configure_logging("INFO")
    settings = load_settings()
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with holding(settings, f"o-{os.getpid()}", **WORKS_WITH[os.environ.get("TEST_WORKS_WITH", "counting")]):
        await reconcile(async_store(settings), make_app(settings), settings, stop)


class RunningOrchestrator:
    """An orchestrator process, with variables besides those of the settings."""

    def __init__(self, settings: Settings, name: str, variables: Mapping[str, str] | None = None) -> None:
        self.log = settings.home / f"orchestrator-{name}.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", PROCESS],
                env={**environment(settings), **(variables or {})},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the orchestrator's main process."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """Kill it at once."""
        self.process.kill()
        self.process.wait()


@pytest.fixture
def start_orchestrator(settings: Settings) -> Iterator[Callable[..., RunningOrchestrator]]:
    """Start orchestrator processes; all are killed at the end."""
    started: list[RunningOrchestrator] = []

    def start(name: str, **variables: str) -> RunningOrchestrator:
        started.append(RunningOrchestrator(settings, name, variables))
        return started[-1]

    yield start
    for running in started:
        running.kill()


async def until(check: Callable[[], Awaitable[Any]], *, seconds: float = 30.0, what: str = "") -> Any:
    """Poll until ``check`` gives something true; fail when it has not by then."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + seconds
    while not (found := await check()):
        if clock() > deadline:
            pytest.fail(f"did not happen within {seconds:g} s: {what}")
        await asyncio.sleep(0.02)
    return found


async def run_in(store: AsyncStore, run: str, *states: str, seconds: float = 30.0) -> RunRecord:
    """Wait until a run is in one of these states."""

    async def look() -> RunRecord | None:
        record = await store.run(listing.run(run))
        return record if record and record.state in states else None

    found: RunRecord = await until(look, seconds=seconds, what=f"{run} in {states}")
    return found


def create(store: Store, request: str, run: str = "r1", **options: object) -> None:
    """Make a run of the counting agent, with what its caller chose."""
    store.run(runs.create(run, "ana", request, options=options))
