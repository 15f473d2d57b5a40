"""The orchestrator process: holds runs, reconciles, and serves the API, until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import socket
from collections.abc import Coroutine, Generator
from typing import Any

import structlog
import uvicorn
from fastapi import FastAPI
from redis.exceptions import RedisError

from orchestrator.apart import Apart
from orchestrator.api import Api, make_api
from orchestrator.endpoint import Endpoint, last_endpoint, write_endpoint
from orchestrator.holder import Holder
from orchestrator.intake import Intake
from orchestrator.stack.processes import this_process
from orchestrator.stack.secrets import API_TOKEN, secret
from orchestrator.workspace_proof import prove_workspace
from tasks.celery_app import make_app, publisher
from tasks.errors import ConfigurationError, Unreachable
from tasks.logs import configure_logging
from tasks.protocol import Member, join, part
from tasks.reconcile import reconcile
from tasks.search import ensure_index
from tasks.settings import Settings
from tasks.store import AsyncStore, connect_async

log = structlog.get_logger()

#: how long Redis may take to answer when the service starts
_REDIS_SECONDS = 60.0
#: processes that check what comes in
_MOST_PROCESSES = 4
_WILDCARDS = ("0.0.0.0", "::", "")


class _Server(uvicorn.Server):
    """A server that leaves signals to the service around it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def run_service(settings: Settings) -> None:
    """Run the orchestrator of this installation until SIGTERM or SIGINT.

    Raises
    ------
    ConfigurationError
        If no Redis is named.
    Unreachable
        If that Redis does not answer.
    OtherProtocol
        If this version does not fit the installation's.
    """
    if not settings.redis_url.get_secret_value():
        raise ConfigurationError(
            "SIMRELAY_REDIS_URL is not set: `simrelay up` starts everything on this host, with a Redis of its own"
        )
    configure_logging(settings.log_level)
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    asyncio.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    celery = make_app(settings)
    store = AsyncStore(connect_async(settings), settings, publisher(celery))
    await _wait_for_redis(store, stop)
    if stop.is_set():
        return
    orchestrator_id = f"{socket.gethostname().split('.')[0]}-{secrets.token_hex(4)}"
    member = Member(kind="orchestrator", id=orchestrator_id)
    await store.run(join(member, settings))
    await prove_workspace(store, settings)
    await ensure_index(store)
    holder = Holder(settings, store, orchestrator_id)
    # At least two: one may read a document for minutes.
    apart = Apart(max(2, min(os.cpu_count() or 1, _MOST_PROCESSES)))
    api = Api(
        settings=settings,
        store=store,
        view=holder.view,
        intake=Intake(settings, store, apart, holder.model),
        token=secret(settings.home, API_TOKEN),
        stopping=stop,
    )
    loops = (holder.run(stop), reconcile(store, celery, settings, stop), _stay(store, member, stop))
    try:
        await _run_all(settings, stop, make_api(api), *loops)
    finally:
        apart.close()
    with contextlib.suppress(Unreachable):
        await store.run(part(member))
    await store.client.aclose()


async def _stay(store: AsyncStore, member: Member, stop: asyncio.Event) -> None:
    """Say at every beat that this orchestrator lives; raises OtherProtocol if it has been overtaken meanwhile."""
    while not stop.is_set():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), store.settings.beat_seconds)
        try:
            await store.run(join(member, store.settings))
        except Unreachable as error:
            log.warning("join_failed", orchestrator=member.id, error=str(error))


async def _wait_for_redis(store: AsyncStore, stop: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _REDIS_SECONDS
    while not stop.is_set():
        try:
            await store.client.ping()
        except RedisError as error:
            if loop.time() > deadline:
                raise Unreachable(f"Redis does not answer: {error}") from error
            log.warning("redis_does_not_answer", error=str(error))
        else:
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), 1)


async def _run_all(settings: Settings, stop: asyncio.Event, app: FastAPI, *parts: Coroutine[Any, Any, None]) -> None:
    """Run server and loops together: when one ends, for whatever reason, all are told to stop."""
    listener = _listen(settings)
    server = _Server(
        uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=5)
    )
    tasks = [asyncio.ensure_future(part) for part in (server.serve(sockets=[listener]), *parts)]
    stopping = asyncio.ensure_future(stop.wait())
    mine = Endpoint(url=_url(settings, listener), process=this_process())
    try:
        write_endpoint(settings.home, mine)
        log.info("orchestrator_started", url=mine.url)
        await asyncio.wait([*tasks, stopping], return_when=asyncio.FIRST_COMPLETED)
    finally:
        stop.set()
        server.should_exit = True
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        log.info("orchestrator_stopped")
    for end in ends:
        if isinstance(end, BaseException):
            raise end


def _listen(settings: Settings) -> socket.socket:
    """Open the API's port: the one of the settings, else the one of last time, else any."""
    before = last_endpoint(settings.home)
    ports = [settings.api_port] if settings.api_port else [before.port if before else 0, 0]
    for port in ports:
        listener = socket.socket(socket.AF_INET6 if ":" in settings.api_host else socket.AF_INET)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.api_host, port))
        except OSError as error:
            listener.close()
            if port == ports[-1]:
                raise ConfigurationError(f"SIMRELAY_API_PORT: {settings.api_host}:{port}: {error.strerror}") from error
        else:
            return listener
    raise ConfigurationError("SIMRELAY_API_PORT: no port is free")


def _url(settings: Settings, listener: socket.socket) -> str:
    host = "127.0.0.1" if settings.api_host in _WILDCARDS else settings.api_host
    return f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
