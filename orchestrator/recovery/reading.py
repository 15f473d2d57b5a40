"""What recovery reads of the store: the records of a step's rounds, in the order of their manifests."""

from __future__ import annotations

from orchestrator.recovery.classify import Round, newest_round
from orchestrator.state import Step
from tasks import listing
from tasks.records import JobRecord
from tasks.store import AsyncStore


async def read_rounds(store: AsyncStore, step: Step) -> tuple[Round, ...]:
    """Read the newest round of a step and what was made to repair it."""
    return tuple([Round(batch=b, records=await read_records(store, b.batch_id)) for b in newest_round(step)])


async def read_records(store: AsyncStore, batch: str) -> tuple[JobRecord, ...]:
    """Read all jobs of a batch."""
    whole = listing.WholeBatch(batch)
    while call := whole.following():
        whole.take(await store.run(call))
    return tuple(whole.records)
