"""What the relay costs, beside plain Celery on the same Redis in the same run. Prints figures; asserts none of them.

make bench
"""

from __future__ import annotations

import json
import logging
import statistics
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from celery import Celery

from orchestrator.stack.redis_server import RedisServer
from tasks import batches, listing, workers
from tasks.batches import NewJob, Owner
from tasks.records import JobState
from tasks.settings import Settings
from tasks.specs import parse_spec
from tasks.store import Store
from tests.conftest import eventually, settings_for
from tests.integration.orchestrator.conftest import create, holding, run_in, until
from tests.integration.worker.conftest import RunningWorker, StartWorker, job, start_worker, submitting

__all__ = ["start_worker", "submitting"]
pytestmark = pytest.mark.benchmark

SAMPLES = 100
JOBS = 300
WAITING_RUNS = 40

PLAIN = """
    import subprocess, time
    from celery import Celery
    app = Celery("plain", broker={url!r})
    app.conf.update(task_ignore_result=True, worker_prefetch_multiplier=1, worker_send_task_events=True,
                    task_send_sent_event=True, task_default_queue="plain",
                    broker_transport_options={{"global_keyprefix": "plain:"}})

    @app.task(name="stamp")
    def stamp():
        with open({stamps!r}, "a") as file:
            file.write(f"{{time.time()}}\\n")

    @app.task(name="echo")
    def echo():
        subprocess.run(["/bin/echo", "DONE", "x"], check=True, capture_output=True)
        stamp()
"""


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    """Settings of production, on a Redis as the embedded stack starts it."""
    server = RedisServer(tmp_path / "redis")
    server.start()
    leases = {"lease_seconds": 45.0, "beat_seconds": 5.0, "renew_timeout_seconds": 5.0, "dead_man_seconds": 25.0}
    yield settings_for(server, tmp_path, **leases, kill_grace_seconds=5.0, offer_seconds=30.0)
    server.stop()


@pytest.fixture
def plain(settings: Settings, tmp_path: Path) -> Iterator[tuple[Celery, Path]]:
    """A plain Celery application with a worker of two processes on the same Redis, and the file of its stamps."""
    stamps = tmp_path / "stamps"
    url = settings.redis_url.get_secret_value()
    (tmp_path / "plain.py").write_text(textwrap.dedent(PLAIN.format(url=url, stamps=str(stamps))))
    command = [sys.executable, "-m", "celery", "-A", "plain", "worker", "-c", "2", "-E", "--without-gossip"]
    with (tmp_path / "plain.log").open("wb") as log:
        process = subprocess.Popen([*command, "--without-mingle"], cwd=tmp_path, stdout=log, stderr=log)
    app = Celery("plain", broker=url, set_as_current=False)
    app.conf.update(task_default_queue="plain", broker_transport_options={"global_keyprefix": "plain:"})
    app.send_task("stamp", ignore_result=True)
    eventually(stamps.exists, seconds=60, what="the plain worker answers")
    yield app, stamps
    process.terminate()
    process.wait(30)


def report(title: str, **figures: str) -> None:
    """Print one result."""
    print(f"\n{title}")
    for name, value in figures.items():
        print(f"  {name.replace('_', ' '):<44} {value}")


def ms(seconds: float) -> str:
    return f"{seconds * 1000:8.2f} ms"


def events(worker: RunningWorker, name: str) -> dict[str, float]:
    """Read when a worker logged an event, by job."""
    found = {}
    for line in worker.log.read_text().splitlines():
        if line.startswith("{") and (event := json.loads(line))["event"] == name and "job" in event:
            found[event["job"]] = structlog_time(event["timestamp"])
    return found


def structlog_time(text: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(text).timestamp()


def submit_one(store: Store, worker: RunningWorker, name: str) -> None:
    """Submit one job; wait for its start as for a plain task's, by a file, and then for its end."""
    spec, before = parse_spec({"program": "nothing"}), len(worker.log.read_text().splitlines())
    jobs = [NewJob(id=f"{name}-0", spec=spec)]
    store.run(batches.submit_whole(name, Owner(owner="ana"), jobs, store.settings, manifest_hash=name))
    eventually(lambda: len(worker.log.read_text().splitlines()) > before, what="the job starts")
    eventually(lambda: job(store, f"{name}-0").state.ended, what="the job ends")


def one_plain(app: Celery, stamps: Path) -> float:
    """Send one plain task; give the seconds until it began."""
    begun, before = time.time(), len(stamps.read_text().splitlines())
    app.send_task("stamp", ignore_result=True)
    eventually(lambda: len(stamps.read_text().splitlines()) > before, what="a stamp")
    return float(stamps.read_text().splitlines()[-1]) - begun


def test_submission_to_start(
    settings: Settings, submitting: Store, start_worker: StartWorker, plain: tuple[Celery, Path]
) -> None:
    app, stamps = plain
    worker = start_worker()
    theirs, sent, calls = [], {}, []
    for number in range(SAMPLES):
        theirs.append(one_plain(app, stamps))
        sent[f"s{number}-0"] = time.time()
        submit_one(submitting, worker, f"s{number}")
        # After a moment's rest, as the calls that are compared: a loop of calls keeps caches and processors warm.
        worker_id = job(submitting, "s0-0").worker
        time.sleep(0.02)
        begun = time.perf_counter()
        submitting.run(workers.beat(worker_id, settings, running={}, workspace_seen=True))
        calls.append(time.perf_counter() - begun)
    claimed = events(worker, "attempt_claimed")
    ours = [claimed[name] - moment for name, moment in sent.items()]
    bar = 1.3 * statistics.median(theirs) + statistics.median(calls)
    report(
        "From submission to start (one script to submit, one to claim)",
        plain_Celery_median=ms(statistics.median(theirs)),
        Simrelay_median=ms(statistics.median(ours)),
        ratio=f"{statistics.median(ours) / statistics.median(theirs):8.2f}",
        one_script_call_that_writes=ms(statistics.median(calls)),
        aim_1_3_times_plus_that=ms(bar),
        Simrelay_99th_percentile=ms(sorted(ours)[int(0.99 * len(ours))]),
    )


def test_jobs_per_second(submitting: Store, start_worker: StartWorker, plain: tuple[Celery, Path]) -> None:
    app, stamps = plain
    start_worker()
    before, begun = len(stamps.read_text().splitlines()), time.monotonic()
    for _ in range(JOBS):
        app.send_task("echo", ignore_result=True)
    eventually(lambda: len(stamps.read_text().splitlines()) == before + JOBS, seconds=120)
    theirs = time.monotonic() - begun
    owner, begun = Owner(owner="ana"), time.monotonic()
    jobs = [NewJob(id=f"many-{i}", spec=parse_spec({"program": "nothing"})) for i in range(JOBS)]
    submitting.run(batches.open_batch("many", owner, count=JOBS, manifest_hash="many"))
    for first in range(0, JOBS, batches.CHUNK):
        chunk = jobs[first : first + batches.CHUNK]
        submitting.run(batches.submit("many", owner, chunk, submitting.settings, first_index=first))
    submitting.run(batches.seal("many", owner))

    def complete() -> bool:
        batch = submitting.run(listing.batch("many"))
        return bool(batch and batch.complete)

    eventually(complete, seconds=240)
    ours = time.monotonic() - begun
    assert submitting.run(listing.jobs(state=JobState.SUCCEEDED, count=1)).rows
    report(
        f"{JOBS} jobs of an empty program on two cores",
        plain_Celery_that_only_runs_it=f"{JOBS / theirs:8.1f} /s",
        Simrelay_with_warden_log_and_outcome_on_disk=f"{JOBS / ours:8.1f} /s",
        ratio=f"{theirs / ours:8.2f}",
        Simrelay_per_job_and_core=ms(2 * ours / JOBS),
    )


async def test_completion_to_the_graphs_next_node(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    worker = start_worker()
    woken: dict[str, float] = {}

    def collect(logger: Any, method: str, event: dict[str, Any]) -> dict[str, Any]:
        if event["event"] == "interpreting":
            woken.update(dict.fromkeys(event["batches"], time.time()))
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(processors=[collect], wrapper_class=structlog.make_filtering_bound_logger(logging.INFO))
    try:
        async with holding(settings) as holder:
            for number in range(20):
                create(submitting, f"count 1 times to 1 pausing 0.3 in 1 rounds, number {number}", f"r{number}")
                await run_in(holder.store, f"r{number}", "SUCCEEDED", "FAILED")
    finally:
        structlog.configure(**before)
    ended = events(worker, "attempt_ended")
    gaps = [woken[f"r{n}-s1-r1"] - ended[f"r{n}-s1-r1-0"] for n in range(20)]
    report(
        "From the end of a job to the graph's next node",
        median=ms(statistics.median(gaps)),
        slowest=ms(max(gaps)),
        aim=ms(0.015),
    )


async def test_what_a_waiting_run_costs_in_redis(settings: Settings, submitting: Store) -> None:
    client = submitting.client

    def used() -> tuple[int, int]:
        return int(client.info("memory")["used_memory"]), client.dbsize()

    async with holding(settings) as holder:
        create(submitting, "count 1 times to 1 pausing 0 in 1 rounds, the first", "first")
        await run_in(holder.store, "first", "WAITING")
        memory, keys = used()
        for number in range(WAITING_RUNS):
            create(submitting, f"count 1 times to 1 pausing 0 in 1 rounds, number {number}", f"w{number}")

        async def all_wait() -> bool:
            page = await holder.store.run(listing.runs(state="WAITING", count=1000))
            return len(page.rows) == WAITING_RUNS + 1

        await until(all_wait, seconds=60)
        more_memory, more_keys = used()
    report(
        f"{WAITING_RUNS} runs that wait, with one job each",
        memory_per_run=f"{(more_memory - memory) / WAITING_RUNS / 1000:8.1f} kB",
        keys_per_run=f"{(more_keys - keys) / WAITING_RUNS:8.1f}",
        aim="    30.0 kB",
    )
