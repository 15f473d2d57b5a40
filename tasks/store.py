"""Connections to Redis, and the two ways to run a script: plain for workers, awaited for the orchestrator."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

import redis
import redis.asyncio
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.exceptions import BusyLoadingError, NoScriptError, OutOfMemoryError, ReadOnlyError
from redis.retry import Retry

from tasks.errors import Refused, Unreachable
from tasks.scripts import Call, Offered, Reply, read_reply
from tasks.settings import Settings

T = TypeVar("T")
Publish = Callable[[tuple[Offered, ...]], None]
#: how Redis begins to say that it takes no writes: its disk is full, it lacks replicas, it is a replica itself
_TAKES_NOTHING = ("MISCONF", "NOREPLICAS", "READONLY", "MASTERDOWN", "CLUSTERDOWN")


def connect(settings: Settings) -> redis.Redis:
    """Open a plain client; a call ends within the renewal time-out, and only a broken connection is tried again."""
    timeout = settings.renew_timeout_seconds
    url = settings.redis_url.get_secret_value()
    retry = Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,))
    return redis.Redis.from_url(
        url, socket_timeout=timeout, socket_connect_timeout=timeout, retry=retry, decode_responses=True
    )


def connect_async(settings: Settings) -> redis.asyncio.Redis:
    """Open an awaited client with a pool that waits for a free connection instead of failing."""
    url = settings.redis_url.get_secret_value()
    timeout = settings.renew_timeout_seconds
    pool = redis.asyncio.BlockingConnectionPool.from_url(
        url,
        max_connections=32,
        timeout=30,
        socket_timeout=max(timeout, 10),
        retry=AsyncRetry(ExponentialBackoff(cap=1.0, base=0.05), 3),
        socket_connect_timeout=timeout,
    )
    return redis.asyncio.Redis(connection_pool=pool)


class Store:
    """Runs scripts for plain code; offers that a script made are published at once.

    Parameters
    ----------
    publish
        Sends the messages of offers; None: they are left to be made again when nobody took them.
    """

    def __init__(self, client: redis.Redis, settings: Settings, publish: Publish | None = None) -> None:
        self.client, self.settings, self.publish = client, settings, publish

    def run(self, what: Call[T]) -> T:
        """Run a script.

        Raises
        ------
        Unreachable
            If Redis does not answer, or takes nothing now; whether the script ran is then unknown, and every script may
            be repeated.
        Refused
            If Redis has no memory left and the script would bring something new; nothing was changed.
        """
        reply = self._reply(what)
        if reply.offers and self.publish:
            self.publish(reply.offers)
        return what.read(reply)

    def _reply(self, what: Call[Any]) -> Reply:
        keys_and_arguments = (self.settings.key_prefix, *what.arguments)
        try:
            try:
                raw = self.client.evalsha(what.script.sha, 1, *keys_and_arguments)
            except NoScriptError:
                raw = self.client.eval(what.script.text, 1, *keys_and_arguments)
        except redis.RedisError as error:
            if known := _known(error):
                raise known from error
            raise
        return read_reply(cast(str, raw))


def _known(error: redis.RedisError) -> Unreachable | Refused | None:
    """Give the error of ours for Redis that is away, full, or takes nothing; None: a mistake of ours."""
    if isinstance(error, OutOfMemoryError):
        return Refused("Redis has no memory left: nothing new until there is room again")
    if isinstance(error, redis.ConnectionError | redis.TimeoutError | BusyLoadingError):
        return Unreachable(f"Redis does not answer ({type(error).__name__})")
    if isinstance(error, ReadOnlyError) or str(error).startswith(_TAKES_NOTHING):
        return Unreachable(f"Redis takes nothing now: {error}")
    return None


class AsyncStore:
    """Runs scripts for awaited code; offers that a script made are published by ``publish``."""

    def __init__(self, client: redis.asyncio.Redis, settings: Settings, publish: Publish | None = None) -> None:
        self.client, self.settings, self.publish = client, settings, publish

    async def now(self) -> datetime:
        """Give the Redis server's time, which no host's clock can set."""
        seconds, microseconds = await self.client.time()
        return datetime.fromtimestamp(seconds + microseconds / 1e6, UTC)

    async def run(self, what: Call[T]) -> T:
        """Run a script; as ``Store.run``."""
        keys_and_arguments = (self.settings.key_prefix, *what.arguments)
        try:
            try:
                raw = await self.client.evalsha(what.script.sha, 1, *keys_and_arguments)
            except NoScriptError:
                raw = await self.client.eval(what.script.text, 1, *keys_and_arguments)
        except redis.RedisError as error:
            if known := _known(error):
                raise known from error
            raise
        reply = read_reply(raw)
        if reply.offers and self.publish:
            await asyncio.to_thread(self.publish, reply.offers)
        return what.read(reply)
