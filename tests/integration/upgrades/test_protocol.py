"""Processes of different versions on one installation: they work together, or refuse with both versions named."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from tasks import __version__, listing
from tasks.protocol import PROTOCOL, Member, OtherProtocol, join, part
from tasks.settings import Settings, environment
from tasks.store import Store
from tests.conftest import eventually
from tests.integration.store.invariants import Dump, check
from tests.integration.upgrades.keeping import load
from tests.integration.upgrades.test_kept_runs import KEPT
from tests.integration.worker.conftest import submitting

__all__ = ["submitting"]

COMMANDS = {
    "worker": ["-m", "worker", "--cores", "1", "--name", "one"],
    "orchestrator": ["-m", "tasks.command", "orchestrator"],
}
OLD = Member(kind="worker", id="old-1", version="0.0.9", protocol=PROTOCOL - 1)
NEW = Member(kind="orchestrator", id="new-1", version="9.8.7", protocol=PROTOCOL + 1)

Start = Callable[[str], "subprocess.Popen[str]"]
both_kinds = pytest.mark.parametrize("kind", ["worker", "orchestrator"])
both_kinds_in_time = pytest.mark.parametrize("kind", ["worker", pytest.param("orchestrator", marks=pytest.mark.slow)])


@pytest.fixture
def start(settings: Settings, submitting: Store) -> Iterator[Start]:
    """Start real processes of this version; all are killed at the end."""
    started: list[subprocess.Popen[str]] = []

    def start(kind: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, *COMMANDS[kind]],
            env=environment(settings),
            stdout=subprocess.DEVNULL,
            stderr=(settings.home / f"{kind}.log").open("w"),
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def said(settings: Settings, kind: str) -> str:
    """Give the one line in which a process that has ended says why."""
    (line,) = [row for row in (settings.home / f"{kind}.log").read_text().splitlines() if row.startswith("error: ")]
    return line


def members(store: Store) -> list[str]:
    """Give the kinds of the processes that have joined."""
    return sorted(name.partition(":")[0] for name in store.client.zrange(f"{store.settings.key_prefix}members", 0, -1))


@both_kinds
def test_an_older_process_refuses_a_newer_installation_and_changes_nothing(
    kind: str, settings: Settings, submitting: Store, start: Start
) -> None:
    submitting.run(join(NEW, settings))
    assert start(kind).wait(30) == OtherProtocol.exit_code
    line = said(settings, kind)
    assert f"Simrelay {__version__} (protocol {PROTOCOL})" in line
    assert f"Simrelay 9.8.7 (protocol {PROTOCOL + 1})" in line
    assert submitting.run(listing.workers()).rows == ()
    assert members(submitting) == ["orchestrator"]


@both_kinds_in_time
def test_a_newer_process_waits_until_the_older_ones_are_gone_and_then_takes_the_installation_over(
    kind: str, settings: Settings, submitting: Store, start: Start
) -> None:
    # Given an installation of the protocol before, with a process of it
    submitting.run(join(OLD, settings))
    # When one of today comes
    assert start(kind).wait(30) == OtherProtocol.exit_code
    # Then it says who holds it back
    line = said(settings, kind)
    assert f"Simrelay {__version__} (protocol {PROTOCOL})" in line
    assert f"worker old-1 (0.0.9, protocol {PROTOCOL - 1})" in line
    submitting.run(join(OLD, settings))  # the older one goes on undisturbed
    # and works once that one is gone
    submitting.run(part(OLD))
    start(kind)
    eventually(lambda: members(submitting) == [kind], seconds=30, what="it joins")
    with pytest.raises(OtherProtocol, match=r"0\.0\.9 .*carried over to Simrelay " + __version__):
        submitting.run(join(OLD, settings))


def test_a_worker_from_before_protocols_were_kept_holds_a_newer_one_back(
    settings: Settings, submitting: Store, start: Start
) -> None:
    load(submitting.client, settings, KEPT / "state-1.json")
    (old,) = submitting.client.zrange(f"{settings.key_prefix}workers", 0, -1)
    submitting.client.zadd(f"{settings.key_prefix}workers", {old: (time.time() + 60) * 1000})
    assert start("worker").wait(30) == OtherProtocol.exit_code
    assert f"worker {old} (0.1.0, protocol 1)" in said(settings, "worker")


@both_kinds_in_time
def test_a_process_that_was_overtaken_ends(kind: str, settings: Settings, submitting: Store, start: Start) -> None:
    process = start(kind)
    eventually(lambda: members(submitting) == [kind], seconds=30, what="it joins")
    if kind == "worker":
        eventually(lambda: submitting.run(listing.workers()).rows, what="it is registered")
    # As if it had been frozen for longer than a lease, and a newer one had started meanwhile.
    submitting.client.delete(*(f"{settings.key_prefix}{key}" for key in ("members", "member-versions", "workers")))
    submitting.run(join(NEW, settings))
    assert process.wait(20) == OtherProtocol.exit_code
    assert "9.8.7" in (settings.home / f"{kind}.log").read_text()


def test_another_version_of_the_same_protocol_works_beside_this_one(
    settings: Settings, submitting: Store, start: Start
) -> None:
    other = Member(kind="worker", id="other-1", version="0.1.7")
    submitting.run(join(other, settings))
    start("worker")
    eventually(lambda: submitting.run(listing.workers()).rows, seconds=30, what="it is registered")
    submitting.run(join(other, settings))
    assert members(submitting) == ["worker", "worker"]


def test_a_stopped_process_holds_nobody_back_and_a_killed_one_for_one_lease(
    settings: Settings, submitting: Store, start: Start
) -> None:
    process = start("worker")
    eventually(lambda: submitting.run(listing.workers()).rows, seconds=30, what="it is registered")
    with pytest.raises(OtherProtocol, match=r"worker one-\w+ \(" + __version__):
        submitting.run(join(NEW, settings))
    process.terminate()
    assert process.wait(30) == 0
    submitting.run(join(NEW, settings))
    newest = Member(kind="worker", id="newest", protocol=PROTOCOL + 2)
    with pytest.raises(OtherProtocol, match="new-1"):
        submitting.run(join(newest, settings))
    submitting.client.zadd(f"{settings.key_prefix}members", {"orchestrator:new-1": 1})  # its lease is over
    submitting.run(join(newest, settings))
    check(Dump(submitting.client, settings.key_prefix))
    assert submitting.client.hgetall(f"{settings.key_prefix}member-versions").keys() == {"worker:newest"}
