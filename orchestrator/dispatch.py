"""Putting a batch into the store: opened, filled in chunks, sealed. Doing it twice is doing it once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from tasks import batches
from tasks.batches import CHUNK, NewJob, Owner
from tasks.settings import Settings
from tasks.specs import dump_spec, spec_hash
from tasks.store import AsyncStore


def job_id(batch: str, index: int) -> str:
    """Give the id of a job of a user's batch: always the same, and spread over the workspace's folders."""
    return hashlib.sha256(f"{batch}/{index}".encode()).hexdigest()[:20]


def manifest_hash(jobs: Sequence[NewJob]) -> str:
    """Give the hash of the exact specs of a batch, with their ids and in their order."""
    return spec_hash([[job.id, dump_spec(job.spec)] for job in jobs])


async def dispatch(
    store: AsyncStore,
    settings: Settings,
    batch_id: str,
    owner: Owner,
    jobs: Sequence[NewJob],
    *,
    label: str = "",
    manifest: str = "",
) -> None:
    """Submit jobs as one batch.

    Raises
    ------
    LeaseLost
        If the run that the batch belongs to is no longer held by the caller.
    Conflict
        If the batch exists with other specs.
    Refused
        If Redis is too full.
    """
    digest = manifest_hash(jobs)
    if len(jobs) <= CHUNK:
        whole = batches.submit_whole(
            batch_id, owner, jobs, settings, manifest_hash=digest, manifest=manifest, label=label
        )
        await store.run(whole)
        return
    await store.run(
        batches.open_batch(batch_id, owner, count=len(jobs), manifest_hash=digest, manifest=manifest, label=label)
    )
    for first in range(0, len(jobs), CHUNK):
        chunk = jobs[first : first + CHUNK]
        await store.run(batches.submit(batch_id, owner, chunk, settings, first_index=first))
    await store.run(batches.seal(batch_id, owner))
