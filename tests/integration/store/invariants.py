"""What must hold in the store after every step, read from the keys themselves and not through the scripts."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import redis

ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")
PLACES = {"QUEUED": {"ready", "delayed", "offered"}, "RUNNING": {"leased"}}
#: reads all keys in one call: rows of name, type and value
DUMP = """
local read = { hash = {'HGETALL'}, set = {'SMEMBERS'}, zset = {'ZRANGE', 0, -1, 'WITHSCORES'}, list = {'LRANGE', 0, -1},
  string = {'GET'}, stream = {'XRANGE', '-', '+'} }
local rows = {}
for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do
  local kind = redis.call('TYPE', key).ok
  local command = read[kind]
  rows[#rows + 1] = { string.sub(key, #ARGV[1] + 1), kind, redis.call(command[1], key, unpack(command, 2)) }
end
return rows
"""


class Dump:
    """All keys of an installation at one moment."""

    def __init__(self, client: redis.Redis, prefix: str) -> None:
        self.kinds: dict[str, str] = {}
        self.values: dict[str, Any] = {}
        for name, kind, value in client.eval(DUMP, 0, prefix):
            self.kinds[name] = kind
            if kind in ("hash", "zset"):
                pairs = zip(value[::2], value[1::2], strict=True)
                value = dict(pairs) if kind == "hash" else {member: float(score) for member, score in pairs}
            self.values[name] = value

    def members(self, key: str) -> set[str]:
        """Give the members of a set or sorted set; none if there is no such key."""
        return set(self.values.get(key, ()))

    def scores(self, key: str) -> dict[str, float]:
        """Give a sorted set as a dictionary."""
        return self.values.get(key, {})

    def hash(self, key: str) -> dict[str, str]:
        """Give a hash; empty if there is no such key."""
        return self.values.get(key, {})

    def records(self, kind: str) -> dict[str, dict[str, str]]:
        """Give all records of a kind by their id."""
        return {
            row["id"]: row
            for key, row in self.values.items()
            if self.kinds[key] == "hash" and key == f"{kind}:{row.get('id')}"
        }

    def keys(self, start: str) -> Iterable[str]:
        """Give the keys that begin so."""
        return (key for key in self.values if key.startswith(start))


def check(dump: Dump) -> None:
    """Assert all invariants."""
    jobs = dump.records("job")
    check_places(dump, jobs)
    check_sets(dump, jobs)
    check_workers(dump, jobs)
    check_licences(dump, jobs)
    check_attempts(dump, jobs)
    check_batches(dump, jobs)
    check_runs(dump)
    check_events(dump)
    check_members(dump)


def check_places(dump: Dump, jobs: dict[str, dict[str, str]]) -> None:
    """A job is in exactly one place, the one that its record and its state name."""
    found = defaultdict(list)
    rows = {key for key in dump.keys("ready:") if dump.kinds[key] == "zset"}
    for key in rows:
        for job in dump.members(key):
            found[job].append("ready")
            assert key == f"ready:{jobs[job]['queue']}:{jobs[job]['owner']}"
            rank = (9 - int(jobs[job]["priority"])) * 1e14 + int(jobs[job]["sequence"])
            assert dump.scores(key)[job] == rank
    for place in ("delayed", "offered", "leased"):
        for job in dump.members(place):
            found[job].append(place)
    for job, row in jobs.items():
        assert found[job] == ([row["place"]] if row["place"] else []), f"{job} stands in {found[job]}"
        assert row["place"] in PLACES.get(row["state"], {""}), f"{job} is {row['state']} in {row['place']}"
    for key in dump.keys("ready:"):
        if dump.kinds[key] == "set":
            assert dump.members(key) == {row.removeprefix(f"{key}:") for row in rows if row.startswith(f"{key}:")}
    assert {f"ready:{queue}" for queue in dump.members("queues")} == {k for k in dump.keys("ready:") if k not in rows}


def check_sets(dump: Dump, jobs: dict[str, dict[str, str]]) -> None:
    """The sets of the listings hold what the records say."""
    expected = defaultdict(set)
    for job, row in jobs.items():
        expected["jobs"].add(job)
        expected[f"state:{row['state']}"].add(job)
        expected[f"owner:{row['owner']}"].add(job)
        if row["state"] not in ENDED:
            expected[f"queue:{row['queue']}"].add(job)
        if row["run"]:
            expected[f"run-jobs:{row['run']}"].add(job)
    kept = [key for start in ("state:", "owner:", "queue:", "run-jobs:") for key in dump.keys(start)]
    assert {key: dump.members(key) for key in ("jobs", *kept) if dump.members(key)} == dict(expected)


def check_workers(dump: Dump, jobs: dict[str, dict[str, str]]) -> None:
    """A worker holds exactly its offers and leases, and never more than it has."""
    for worker, row in dump.records("worker").items():
        held = dump.hash(f"worker:{worker}:held")
        reserved = {job for job, r in jobs.items() if r["place"] in ("offered", "leased") and r["worker"] == worker}
        assert set(held) == reserved
        assert all(held[job] == f"{jobs[job]['cores']} {jobs[job]['memory_mb']} {jobs[job]['owner']}" for job in held)
        assert sum(int(jobs[job]["cores"]) for job in held) <= int(row["cores"])
        assert sum(int(jobs[job]["memory_mb"]) for job in held) <= int(row["memory_mb"])


def check_licences(dump: Dump, jobs: dict[str, dict[str, str]]) -> None:
    """Every licence is held by exactly the jobs that are offered or run with it, and by no more than there are."""
    holders = defaultdict(set)
    for job, row in jobs.items():
        if row["place"] in ("offered", "leased") and row["licence"]:
            holders[f"licence:{row['licence']}"].add(job)
    assert {key: dump.members(key) for key in dump.keys("licence:")} == dict(holders)
    for row in dump.records("worker").values():
        for licence in json.loads(row["licences"]).values():
            assert len(holders[f"licence:{licence['name']}"]) <= licence["count"]


def check_attempts(dump: Dump, jobs: dict[str, dict[str, str]]) -> None:
    """Only the newest attempt of a RUNNING job is open; failures are counted once; a result is of a real attempt."""
    for job, row in jobs.items():
        newest = int(row["attempt"])
        hows = [dump.hash(f"attempt:{job}:{n}").get("how") for n in range(1, newest + 1)]
        assert f"attempt:{job}:{newest + 1}" not in dump.values
        assert None not in hows
        assert hows.count("open") == (1 if row["state"] == "RUNNING" else 0)
        assert row["state"] != "RUNNING" or hows[-1] == "open"
        assert int(row["failures"]) <= hows.count("failed")
        accepted = int(row.get("accepted_attempt", 0))
        assert bool(accepted) == (row["state"] == "SUCCEEDED")
        assert not accepted or hows[accepted - 1] == ("done" if accepted == newest else "lost")
        waits = row["state"] in ("QUEUED", "HELD", "PARKED")
        assert not (waits and row["cancel_requested"] == "1"), f"{job} waits although its cancel was accepted"


def check_batches(dump: Dump, jobs: dict[str, dict[str, str]]) -> None:
    """The open set is what has not ended; complete is sealed and empty, and its waiter knows."""
    runs = dump.records("run")
    for batch, row in dump.records("batch").items():
        members = {job for job, r in jobs.items() if r["batch"] == batch}
        waiting = {job for job in members if jobs[job]["state"] not in ENDED}
        assert dump.members(f"batch:{batch}:jobs") == members
        assert dump.members(f"batch:{batch}:open") == waiting
        for state in ENDED:
            assert int(row[state.lower()]) == sum(jobs[job]["state"] == state for job in members)
        complete = row["sealed"] == "1" and not waiting
        assert ("complete_ms" in row) == complete, f"batch {batch} is complete: {complete}, told: {not complete}"
        run, parent = runs.get(row["waiter_run"]), jobs.get(row["waiter_job"])
        told = f"batch:{batch}" in dump.members(f"run:{row['waiter_run']}:seen")
        assert not told or complete
        if run:
            assert told or not complete or run["state"] in ENDED
            unmarked_end = run["state"] in ENDED and not complete and row["cancel_mark"] == "0"
            assert not unmarked_end, f"run {run['id']} has ended, its batch {batch} goes on"
        if parent:
            assert not (complete and parent["state"] == "PARKED" and parent["parked_on"] == batch)
            orphans = parent["state"] in ("FAILED", "CANCELLED") and not complete and row["cancel_mark"] == "0"
            assert not orphans, f"{parent['id']} has ended, its children go on"


def check_runs(dump: Dump) -> None:
    """A run is in the sets of its state, and does not wait while its inbox holds something."""
    expected, ready, leased = defaultdict(set), set(), set()
    for run, row in dump.records("run").items():
        expected[f"runs:state:{row['state']}"].add(run)
        ready |= {run} if row["state"] == "QUEUED" else set()
        leased |= {run} if row["state"] == "ACTIVE" else set()
        inbox = dump.values.get(f"run:{run}:inbox", [])
        assert len(inbox) == len(set(inbox))
        assert not inbox or row["state"] in ("QUEUED", "ACTIVE")
    assert {key: dump.members(key) for key in dump.keys("runs:state:")} == dict(expected)
    assert (dump.members("runs:ready"), dump.members("runs:leased")) == (ready, leased)


def check_events(dump: Dump) -> None:
    """The events of a run have no gaps and no doubles, and whoever has ended has said so last, and keeps no keys."""
    for name, run in dump.records("run").items():
        numbers = [int(row[0].partition("-")[0]) for row in dump.values.get(f"run:{name}:events", ())]
        newest = int(run.get("events", 0))
        assert numbers == list(range(newest - len(numbers) + 1, newest + 1)), name
        kinds = [row[1][row[1].index("kind") + 1] for row in dump.values.get(f"run:{name}:events", ())]
        assert "done" not in kinds[:-1], name
        if kinds and run["state"] in ENDED:
            assert kinds[-1] == "done", name
            assert f"run:{name}:told" not in dump.values, name


def check_members(dump: Dump) -> None:
    """Every process that has joined is known with its version, which is not above the installation's."""
    versions = dump.hash("member-versions")
    assert set(versions) == dump.members("members")
    kept = int(dump.hash("protocol").get("number", 0))
    assert all(int(version.split()[1]) <= kept for version in versions.values())
