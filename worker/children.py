"""Jobs that a job waits for: submitted as one batch of its own, waited for without a slot, and read when it goes on."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from tasks import batches, jobs, listing
from tasks import workspace as files
from tasks.batches import CHUNK, NewJob, Owner
from tasks.errors import LeaseLost, Refused
from tasks.faults import fault_point
from tasks.results import Failure, Progress
from tasks.settings import Settings
from tasks.specs import dump_spec, parse_spec, spec_hash
from tasks.store import Store
from worker import ending
from worker.attempt import Attempt, Verdict, stage_checkpoint
from worker.engines.base import Child, Children


def read_children(store: Store, settings: Settings, batch: str) -> list[Child]:
    """Read what became of the jobs of a batch, in their order; an outage of Redis is waited for."""
    whole = listing.WholeBatch(batch)
    while call := whole.following():
        whole.take(ending.post(store, settings, call))
    return [
        Child(
            job_id=record.id,
            spec=parse_spec(record.spec),
            state=record.state,
            result=record.result,
            failure=record.failure,
            artifacts=record.artifacts,
        )
        for record in whole.records
    ]


def wait_for_children(store: Store, settings: Settings, attempt: Attempt, children: Children) -> tuple[Verdict, str]:
    """Submit the jobs that an attempt needs, and park it on them; what it knows is in its checkpoint before that.

    A batch of that name that an earlier attempt opened is filled from the manifest that it was opened with
    (DESIGN, rule 8).
    """
    token = attempt.token
    stage_checkpoint(attempt)
    if attempt.stager.newest is None and attempt.started_from is None:
        text = "The restart point of a job that has to wait for others could not be kept."
        failure = Failure(error_class="host", message=text, host_fault=True, remedy="Look at the workspace's disk.")
        return ending.fail(store, settings, token, failure, attempt.record)
    known = attempt.pulse.progress.text if attempt.pulse.progress else ""
    text = f"waits for {len(children.specs)} jobs of its own ({children.name})"
    attempt.pulse.progress = Progress(text="; ".join(filter(None, (known, text))), stage="waiting")
    attempt.pulse.renew_until_answered()
    try:
        count, batch = _submit(store, settings, attempt, children)
    except LeaseLost as error:
        return Verdict.FENCED, str(error)
    except Refused as error:
        failure = Failure(error_class="refused", message=f"The jobs that it needs were not taken: {error}")
        return ending.give_back(store, settings, token, failure)
    fault_point("before_park")
    ended = ending.post(store, settings, jobs.park(token, batch, settings))
    fault_point("after_park")
    return ending.verdict(ended, "requeued", f"waits for {count} jobs of its own ({children.name})")


def _submit(store: Store, settings: Settings, attempt: Attempt, children: Children) -> tuple[int, str]:
    token, workspace = attempt.token, settings.workspace
    batch = _batch_of(token.job, children.name)
    rows: list[dict[str, Any]] = [
        {"id": f"{batch}-{i}", "spec": dump_spec(spec)} for i, spec in enumerate(children.specs)
    ]
    path = attempt.folder / f"children-{children.name}.json"
    kept = files.write_artifact(path, json.dumps(rows), workspace, "manifest")
    owner = Owner(
        owner=attempt.record.owner,
        parent_job=token.job,
        parent_attempt=token.attempt,
        parent_claim=token.claim_id,
    )
    label = f"{attempt.record.label} {children.name}".strip()[:120]
    call = batches.open_batch(
        batch, owner, count=len(rows), manifest_hash=spec_hash(rows), manifest=kept.path, label=label
    )
    opened = ending.post(store, settings, call)
    fault_point("children_opened")
    if not opened.opened:
        rows = json.loads((workspace / opened.manifest).read_text())
    new = [NewJob(id=row["id"], spec=parse_spec(row["spec"]), priority=attempt.record.priority) for row in rows]
    for first in range(0, len(new), CHUNK):
        call_of_chunk = batches.submit(batch, owner, new[first : first + CHUNK], settings, first_index=first)
        ending.post(store, settings, call_of_chunk)
        attempt.pulse()
    ending.post(store, settings, batches.seal(batch, owner))
    return len(new), batch


def _batch_of(job: str, name: str) -> str:
    """Give the id of a batch of a job's own; with it the ids of its jobs stay within the length of a name."""
    parent = job if len(job) + len(name) < 56 else f"{job[:24]}-{hashlib.sha256(job.encode()).hexdigest()[:12]}"
    return f"{parent}.{name}"
