"""How much of everything there is, counted from the sets that the scripts keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from tasks.errors import Unreachable
from tasks.records import JobState, RunState
from tasks.store import AsyncStore


class Counts(BaseModel):
    """Jobs and runs by state, ready and running jobs, and what Redis uses."""

    jobs: dict[str, int]
    runs: dict[str, int]
    #: jobs that have not ended, by queue
    queues: dict[str, int]
    batches: int
    workers: int
    redis_memory_bytes: int = 0
    redis_version: str = ""


class Held(BaseModel):
    """What a worker's offers and leases take of its capacity."""

    jobs: int = 0
    cores: int = 0
    memory_mb: int = 0


async def count(store: AsyncStore) -> Counts:
    """Count everything.

    Raises
    ------
    Unreachable
        If Redis does not answer.
    """
    prefix = store.settings.key_prefix
    job_states, run_states = list(JobState), list(RunState)
    queues = sorted(_text(name) for name in await _ask(store.client.hkeys(f"{prefix}declared")))
    async with store.client.pipeline(transaction=False) as pipe:
        for state in job_states:
            pipe.zcard(f"{prefix}state:{state}")
        for run_state in run_states:
            pipe.zcard(f"{prefix}runs:state:{run_state}")
        for queue in queues:
            pipe.zcard(f"{prefix}queue:{queue}")
        pipe.zcard(f"{prefix}batches")
        pipe.zcard(f"{prefix}workers")
        pipe.info()
        answers = list(await _ask(pipe.execute()))
    info = answers.pop()
    workers, batches = answers.pop(), answers.pop()
    first, second = len(job_states), len(job_states) + len(run_states)
    return Counts(
        jobs=dict(zip(job_states, answers[:first], strict=True)),
        runs=dict(zip(run_states, answers[first:second], strict=True)),
        queues=dict(zip(queues, answers[second:], strict=True)),
        batches=batches,
        workers=workers,
        redis_memory_bytes=info.get("used_memory", 0),
        redis_version=str(info.get("redis_version", "")),
    )


async def held(store: AsyncStore, workers: Sequence[str]) -> dict[str, Held]:
    """Add up what each of these workers holds.

    Raises
    ------
    Unreachable
        If Redis does not answer.
    """
    async with store.client.pipeline(transaction=False) as pipe:
        for worker in workers:
            pipe.hvals(f"{store.settings.key_prefix}worker:{worker}:held")
        answers = await _ask(pipe.execute())
    out = {}
    for worker, rows in zip(workers, answers, strict=True):
        amounts = [_text(row).split(" ", 2)[:2] for row in rows]
        cores, memory = (sum(int(amount[i]) for amount in amounts) for i in (0, 1))
        out[worker] = Held(jobs=len(rows), cores=cores, memory_mb=memory)
    return out


async def _ask(what: Any) -> Any:
    try:
        return await what
    except (RedisConnectionError, RedisTimeoutError) as error:
        raise Unreachable(f"Redis does not answer ({type(error).__name__})") from error


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
