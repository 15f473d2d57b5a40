"""The API in this process, on a real Redis, called over ASGI."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from orchestrator.apart import Apart
from orchestrator.api import Api, make_api
from orchestrator.holder import Holder
from orchestrator.intake import Intake
from tasks import workers
from tasks.search import ensure_index
from tasks.settings import Settings
from tasks.store import AsyncStore, Store, connect_async
from tasks.workers import Registration

TOKEN = "token-of-the-test"
BOUNDED = {
    "command": ["/bin/count", "{steps}"],
    "success": "^done$",
    "parameters": {"steps": {"type": "integer", "minimum": 1, "maximum": 9}},
}


@pytest.fixture(scope="session")
def apart() -> Iterator[Apart]:
    """Processes that check, for all tests: each loads RDKit once."""
    pool = Apart(1)
    yield pool
    pool.close()


@pytest.fixture
async def api(settings: Settings, apart: Apart) -> AsyncIterator[Api]:
    """The parts of a service."""
    store = AsyncStore(connect_async(settings), settings)
    await ensure_index(store)
    holder = Holder(settings, store, "o-test")
    yield Api(settings=settings, store=store, view=holder.view, intake=Intake(settings, store, apart), token=TOKEN)
    holder.apart.close()
    await store.client.aclose()


@pytest.fixture
async def client(api: Api) -> AsyncIterator[httpx.AsyncClient]:
    """A caller with the right token."""
    transport = httpx.ASGITransport(app=make_api(api), raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as caller:
        yield caller


def register(store: Store, name: str = "w1", *, cores: int = 2, queues: tuple[str, ...] = ("xtb",)) -> None:
    """Make a worker known, as a worker process does."""
    declarations = {
        queue: {"engine": "program", "program": queue.removeprefix("program."), "declaration": BOUNDED}
        if queue.startswith("program.")
        else {"engine": queue.partition("@")[0], "version": "1", "tasks": ["single_point"]}
        for queue in queues
    }
    registration = Registration(
        id=name,
        name=name,
        host="h1",
        pid=1,
        boot_id="b",
        cores=cores,
        memory_mb=8000,
        queues=queues,
        engines=(),
        declarations=declarations,
        celery_queue=f"worker.{name}",
        hostname=f"simrelay@{name}",
        version="0",
        workspace_seen=True,
    )
    store.run(workers.register(registration, store.settings))
