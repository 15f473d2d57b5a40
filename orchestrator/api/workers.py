"""Routes of workers: which there are, and having one drain or take work again."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter

from orchestrator.api.context import Api, Context
from orchestrator.api.shapes import Drain, Id
from tasks import counts, listing, workers
from tasks.errors import Conflict, NotFound
from tasks.records import WorkerRecord

router = APIRouter(prefix="/workers")


@router.get("")
async def index(api: Context) -> dict[str, Any]:
    """List live workers, and what their jobs take of them."""
    rows = (await api.store.run(listing.workers())).rows
    held = await counts.held(api.store, [worker.id for worker in rows])
    return {
        "workers": [worker.model_dump(mode="json") | {"held": held[worker.id].model_dump()} for worker in rows],
        "declared": await api.store.run(listing.declared()),
    }


@router.post("/{worker}/drain")
async def drain(worker: Id, body: Drain, api: Context) -> dict[str, Any]:
    """Have a worker take no more work, give back what it runs (or finish it), and end by itself."""
    record = await _find(worker, api)
    state: Literal["draining", "stopping"] = "draining" if body.finish_current else "stopping"
    answer = await api.store.run(workers.leave(record.id, state, api.settings))
    if answer == "unknown":
        raise NotFound(f"worker {record.id} is gone")
    return {"worker": record.id, "answer": "ok" if record.state == "active" else "already", "state": state}


@router.post("/{worker}/resume")
async def resume(worker: Id, api: Context) -> dict[str, Any]:
    """Let a worker that drains or is quarantined take work again."""
    record = await _find(worker, api)
    answer = await api.store.run(workers.resume(record.id, api.settings))
    if answer == "unknown":
        raise NotFound(f"worker {record.id} is gone")
    if answer == "refused":
        raise Conflict(f"worker {record.id} is stopping, and ends once it has given back what it runs")
    return {"worker": record.id, "answer": "already" if record.state == "active" else "ok", "state": "active"}


async def _find(worker: str, api: Api) -> WorkerRecord:
    """Find a live worker by its id, or by its name if no other has it."""
    rows = (await api.store.run(listing.workers())).rows
    found = [row for row in rows if row.id == worker] or [row for row in rows if row.name == worker]
    if not found:
        raise NotFound(f"there is no live worker {worker}")
    if len(found) > 1:
        raise Conflict(f"several workers are named {worker}: {', '.join(row.id for row in found)}")
    return found[0]
