"""Routes of batches that a user submits, and of all batches for reading."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastapi import APIRouter

from orchestrator.api.context import Api, Context
from orchestrator.api.shapes import Count, Cursor, Id, NewBatch, batch_row
from orchestrator.dispatch import dispatch, job_id
from tasks import batches, listing
from tasks.batches import CHUNK, NewJob, Owner
from tasks.errors import Conflict, NotFound
from tasks.records import BatchRecord, JobRecord
from tasks.results import Artifact
from tasks.settings import Settings
from tasks.specs import AnySpec, canonical_json, dump_spec, parse_spec, spec_hash
from tasks.workspace import intact, write_artifact

router = APIRouter(prefix="/batches")


@router.post("")
async def create(body: NewBatch, api: Context) -> dict[str, Any]:
    """Submit a batch: checked as a whole first, so either all of its jobs are queued or none."""
    asked = spec_hash(body.model_dump(mode="json", exclude={"dry_run", "wait_for_worker"}))
    existing = await api.store.run(listing.batch(body.id))
    if existing:
        if not _same(existing, asked):
            raise Conflict(f"batch {body.id} exists with other jobs")
        if existing.sealed and not body.dry_run:
            return {"answer": "exists", **await _shown(body.id, api)}
    if existing and not body.dry_run:
        # It was cut off while it was filled: its other jobs are those of then, whatever workers offer by now.
        specs = await asyncio.to_thread(_read_frozen, existing, api.settings.workspace)
    else:
        specs = await api.intake.check(body.jobs, wait_for_worker=body.wait_for_worker)
    if body.dry_run:
        return {"answer": "valid", "batch": {"id": body.id, "count": len(specs)}}
    jobs = [NewJob(id=job_id(body.id, index), spec=spec, priority=body.priority) for index, spec in enumerate(specs)]
    owner, manifest = Owner(owner=body.owner), existing.manifest if existing else ""
    if not manifest:
        # What is put into the store in one call is there whole, or not at all.
        frozen = await asyncio.to_thread(_freeze, body.id, specs, api.settings) if len(jobs) > CHUNK else {}
        manifest = canonical_json({"request": asked, **frozen})
    await dispatch(api.store, api.settings, body.id, owner, jobs, label=body.label, manifest=manifest)
    return {"answer": "created", **await _shown(body.id, api)}


def _freeze(batch: str, specs: Sequence[AnySpec], settings: Settings) -> dict[str, Any]:
    path = settings.workspace / "batches" / f"{batch}.json"
    content = canonical_json([dump_spec(spec) for spec in specs])
    return {"specs": write_artifact(path, content, settings.workspace, "manifest").model_dump(mode="json")}


def _read_frozen(batch: BatchRecord, workspace: Path) -> list[AnySpec]:
    """Read the specs of a batch as they were when it was opened; raises Conflict if they are not there any more."""
    file = Artifact.model_validate(json.loads(batch.manifest)["specs"])
    if not intact(file, workspace):
        raise Conflict(f"batch {batch.id} was cut off, and {file.path} with its jobs is gone or was changed")
    return [parse_spec(spec) for spec in json.loads((workspace / file.path).read_text())]


def _same(batch: BatchRecord, asked: str) -> bool:
    try:
        manifest = json.loads(batch.manifest or "null")
    except ValueError:
        return False
    return isinstance(manifest, dict) and manifest.get("request") == asked


@router.get("")
async def index(api: Context, owner: str = "", run: str = "", cursor: Cursor = "", count: Count = 50) -> dict[str, Any]:
    """List batches, newest first."""
    page = await api.store.run(listing.batches(owner=owner, run=run, cursor=cursor, count=count))
    return {"batches": [batch_row(batch) for batch in page.rows], "cursor": page.cursor}


@router.get("/{batch_id}")
async def show(batch_id: Id, api: Context) -> dict[str, Any]:
    """Give a batch with its counts."""
    return await _shown(batch_id, api)


@router.get("/{batch_id}/results")
async def results(batch_id: Id, api: Context, cursor: Cursor = "", count: Count = 500) -> dict[str, Any]:
    """Give what came out of a batch's jobs, page by page from its end."""
    await _record(batch_id, api)
    page = await api.store.run(listing.jobs(batch=batch_id, cursor=cursor, count=count))
    return {"results": [_result(job) for job in page.rows], "cursor": page.cursor}


def _result(job: JobRecord) -> dict[str, Any]:
    result = (
        job.result.model_dump(mode="json", exclude={"xyz", "mulliken_charges", "loewdin_charges"})
        if job.result
        else None
    )
    molecule = job.spec.get("molecule") or {}
    return {
        "index": job.batch_index,
        "job": job.id,
        "label": job.label,
        "smiles": molecule.get("smiles", ""),
        "engine": job.engine,
        "task": job.task,
        "state": job.state.value,
        "result": result,
        "failure": job.failure.model_dump(mode="json") if job.failure else None,
        "compute_seconds": job.compute_seconds,
        "artifacts": [artifact.model_dump(mode="json") for artifact in job.artifacts],
    }


@router.post("/{batch_id}/cancel")
async def cancel(batch_id: Id, api: Context) -> dict[str, Any]:
    """Cancel all jobs of a batch that have not ended."""
    answer = await api.store.run(batches.cancel_batch(batch_id))
    await api.store.run(batches.sweep(api.settings))
    return {"answer": answer, **await _shown(batch_id, api)}


async def _record(batch_id: str, api: Api) -> BatchRecord:
    record = await api.store.run(listing.batch(batch_id))
    if not record:
        raise NotFound(f"there is no batch {batch_id}")
    return record


async def _shown(batch_id: str, api: Api) -> dict[str, Any]:
    return {"batch": batch_row(await _record(batch_id, api)), "workspace": str(api.settings.workspace)}
