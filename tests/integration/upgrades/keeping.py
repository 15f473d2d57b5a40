"""A run that waits, as a file: every key of it in Redis, and its folder in the workspace.

    python -m tests.integration.upgrades.keeping tests/fixtures/upgrades/state-<N>.json

writes one with the code of today. Run it before ``SCHEMA_VERSION`` or the layout of the keys changes; a file that was
written once is never written again. In it a batch of five waits: one job has succeeded, one has failed and waits for
its next attempt, two are running with checkpoints, one is queued; their worker is gone by the time it is loaded.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any, cast

import redis

from orchestrator.stack.redis_server import RedisServer
from tasks import listing
from tasks.records import JobState
from tasks.settings import Settings
from tasks.store import Store
from tests.chaos.processes import running
from tests.conftest import eventually, settings_for
from tests.integration.orchestrator.conftest import create, holding, run_in
from tests.integration.upgrades.counting import AGENTS, plan_two_steps
from tests.integration.worker.conftest import RunningWorker, job, prepare

#: keys of LangGraph's checkpoints, which have no prefix of ours
_CHECKPOINTS = ("checkpoint", "write_keys_zset")

#: all keys at one moment, each with its type and value
_DUMP = """
local read = { hash = {'HGETALL'}, set = {'SMEMBERS'}, zset = {'ZRANGE', 0, -1, 'WITHSCORES'}, list = {'LRANGE', 0, -1},
  string = {'GET'}, ['ReJSON-RL'] = {'JSON.GET'} }
local rows = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  local kind = redis.call('TYPE', key).ok
  local command = read[kind]
  if command then rows[#rows + 1] = { key, kind, redis.call(command[1], key, unpack(command, 2)) } end
end
return rows
"""


def dump(client: redis.Redis, settings: Settings) -> dict[str, Any]:
    """Give all keys of an installation that are ours, and the files of its workspace."""
    starts = (settings.key_prefix, *_CHECKPOINTS)
    rows = cast(list[Any], client.eval(_DUMP, 0))
    broker = f"{settings.key_prefix}celery:"
    ours = (row for row in rows if row[0].startswith(starts) and not row[0].startswith(broker))
    keys = {key: [kind, value] for key, kind, value in ours}
    files = {
        str(path.relative_to(settings.workspace)): path.read_text()
        for path in sorted(settings.workspace.rglob("*"))
        if path.is_file()
    }
    return {"keys": keys, "files": files}


def load(client: redis.Redis, settings: Settings, kept: Path) -> None:
    """Put a kept run into an empty installation."""
    found = json.loads(kept.read_text())
    for key, (kind, value) in found["keys"].items():
        match kind:
            case "hash":
                client.hset(key, mapping=dict(zip(value[::2], value[1::2], strict=True)))
            case "zset":
                client.zadd(key, {m: float(s) for m, s in zip(value[::2], value[1::2], strict=True)})
            case "set":
                client.sadd(key, *value)
            case "list":
                client.rpush(key, *value)
            case "string":
                client.set(key, value)
            case "ReJSON-RL":
                client.execute_command("JSON.SET", key, "$", value)
            case _:
                raise ValueError(f"{kept.name}: {key} is a {kind}")
    for name, text in found["files"].items():
        path = settings.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _counting(settings: Settings, store: Store) -> list[int]:
    """Give the programs that have told progress, once there are two."""
    found = [one.simulation for one in running(settings.scratch) if one.simulation and job(store, one.job).progress]
    return found if len(found) == 2 else []


def _as_described(store: Store) -> bool:
    rows = {row.id: row for row in store.run(listing.jobs(run="r1")).rows}
    states = [row.state for row in rows.values()]
    busy = [job(store, row.id) for row in rows.values() if row.state is JobState.RUNNING]
    return (
        states.count(JobState.SUCCEEDED) == 1
        and states.count(JobState.QUEUED) == 2
        and any(job(store, row.id).place == "delayed" for row in rows.values())
        and len(busy) == 2
        and all(record.checkpoint and record.progress for record in busy)
    )


async def _record(settings: Settings, store: Store) -> dict[str, Any]:
    worker = RunningWorker(settings, "one", 2)
    try:
        create(store, "count in two steps")
        async with holding(settings, agents=AGENTS, plan=plan_two_steps) as holder:
            await run_in(holder.store, "r1", "WAITING")
            await asyncio.to_thread(eventually, lambda: _counting(settings, store), what="two count")
            os.kill(_counting(settings, store)[0], signal.SIGKILL)
            await asyncio.to_thread(eventually, lambda: _as_described(store), what="the jobs are as described")
            return dump(store.client, settings)
    finally:
        worker.kill()


def main() -> None:
    """Write a run that waits to the file of the command line."""
    target = Path(sys.argv[1])
    if target.exists():
        sys.exit(f"{target} exists: a kept run stays as it was written")
    with tempfile.TemporaryDirectory() as folder:
        server = RedisServer(Path(folder) / "redis", fsync="everysec")
        server.start()
        try:
            settings = settings_for(server, Path(folder) / "home", retry_delay_seconds=30.0)
            settings.home.mkdir()
            found = asyncio.run(_record(settings, prepare(settings)))
        finally:
            server.stop()
    text = json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True)
    for here, then in ((socket.gethostname(), "host"), (sys.executable, "/python"), (folder, "/folder")):
        text = text.replace(here, f"{then}-of-then")
    target.write_text(text + "\n")


if __name__ == "__main__":
    main()
