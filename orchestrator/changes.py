"""What people do to many jobs at once: hold, release, retry, rerun, cancel; or only see which ones that would be.

A retry (from the last checkpoint) or rerun (from scratch) makes new jobs, in one new batch of the same owner. Its
manifest names the old jobs, so doing it twice makes nothing twice, also when other jobs fit the filters by then.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from orchestrator.dispatch import dispatch, job_id
from orchestrator.problems import known_state
from orchestrator.views import Change, Changed
from tasks import jobs, listing
from tasks.batches import NewJob, Owner
from tasks.errors import Conflict, InputError, NotFound
from tasks.jobs import Ended
from tasks.records import JobRecord, JobState
from tasks.scripts import Call
from tasks.settings import Settings
from tasks.specs import canonical_json, parse_spec
from tasks.store import AsyncStore

_PAGE = 1000


class Verb(StrEnum):
    """What can be done to jobs."""

    HOLD = "hold"
    RELEASE = "release"
    RETRY = "retry"
    RERUN = "rerun"
    CANCEL = "cancel"


_ENDED = (JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED)
#: states in which a verb can do something
FITTING: dict[Verb, tuple[JobState, ...]] = {
    Verb.HOLD: (JobState.QUEUED,),
    Verb.RELEASE: (JobState.HELD,),
    Verb.RETRY: (JobState.FAILED, JobState.CANCELLED),
    Verb.RERUN: _ENDED,
    Verb.CANCEL: (JobState.QUEUED, JobState.HELD, JobState.RUNNING, JobState.PARKED),
}


class Selection(Protocol):
    """Which jobs: named, or all that fit every given filter."""

    jobs: list[str]
    state: str
    owner: str
    run: str
    batch: str
    queue: str
    all: bool
    dry_run: bool
    id: str


async def change(store: AsyncStore, settings: Settings, verb: Verb, selection: Selection) -> Changed:
    """Do something to many jobs; every part of it may be repeated.

    Raises
    ------
    InputError
        If no jobs are selected, or two ways to select contradict each other; if those of a retry have several owners.
    NotFound
        If a job that is named does not exist; nothing was changed.
    Conflict
        If the id of a retry's batch was used for something else.
    """
    _check(selection)
    makes = verb in (Verb.RETRY, Verb.RERUN)
    if makes and not selection.dry_run:
        if not selection.id:
            raise InputError("id", "", "is missing", "Choose an id for the batch of the new jobs.")
        if (before := await _made_before(store, verb, selection.id)) is not None:
            if others := sorted(set(selection.jobs) - set(before)):
                raise Conflict(
                    f"batch {selection.id} exists, and is a {verb} of other jobs than {', '.join(others[:5])}"
                )
            # What was sent before is finished, and nothing else that fits by now is taken along.
            return await _make(store, settings, verb, selection.id, await _named(store, before))
    records = await (_named(store, selection.jobs) if selection.jobs else _filtered(store, verb, selection))
    if makes and len(owners := {record.owner for record in records}) > 1:
        told = ", ".join(sorted(owners)[:5])
        raise InputError("owner", told, "own these jobs, and a new batch has one owner", "Give --owner.")
    if selection.dry_run:
        rows = [_row(one, "would" if one.state in FITTING[verb] else _why_not(verb)) for one in records]
        return Changed(changes=tuple(rows), dry_run=True)
    if makes:
        return await _make(store, settings, verb, selection.id, records)
    return Changed(changes=tuple([await _do(store, settings, verb, record) for record in records]))


def _check(selection: Selection) -> None:
    filters = [name for name in ("state", "owner", "run", "batch", "queue") if getattr(selection, name)]
    if selection.jobs and (filters or selection.all):
        raise InputError("jobs", selection.jobs[0], "is named beside a filter", "Name jobs, or give filters.")
    if not (selection.jobs or filters or selection.all):
        remedy = "Name jobs, or give --state, --owner, --run, --batch, --queue or --all."
        raise InputError("jobs", "", "selects nothing", remedy)
    known_state(selection.state, JobState)


async def _named(store: AsyncStore, ids: Sequence[str]) -> list[JobRecord]:
    records = []
    for one in dict.fromkeys(ids):
        record = await store.run(listing.job(one))
        if not record:
            raise NotFound(f"there is no job {one}")
        records.append(record)
    return records


async def _filtered(store: AsyncStore, verb: Verb, selection: Selection) -> list[JobRecord]:
    """Give the jobs that fit and that the verb can do something to, oldest first."""
    found: list[JobRecord] = []
    for state in [JobState(selection.state)] if selection.state else FITTING[verb]:
        cursor, more = "", state in FITTING[verb]
        while more:
            page = await store.run(
                listing.jobs(
                    state=state,
                    owner=selection.owner,
                    run=selection.run,
                    batch=selection.batch,
                    queue=selection.queue,
                    cursor=cursor,
                    count=_PAGE,
                )
            )
            found += page.rows
            cursor, more = page.cursor, bool(page.cursor)
    return sorted(found, key=lambda record: record.sequence)


def _row(record: JobRecord, answer: str, state: str = "", new_job: str = "") -> Change:
    return Change(
        job=record.id,
        answer=answer,
        state=state or record.state,
        label=record.label,
        owner=record.owner,
        new_job=new_job,
    )


def _why_not(verb: Verb) -> str:
    return "already" if verb is Verb.CANCEL else "refused"


async def _do(store: AsyncStore, settings: Settings, verb: Verb, record: JobRecord) -> Change:
    scripts = {Verb.HOLD: jobs.hold, Verb.RELEASE: jobs.unhold, Verb.CANCEL: jobs.cancel}
    call: Call[Ended] = scripts[verb](record.id, settings)
    ended = await store.run(call)
    after = {Verb.HOLD: JobState.HELD, Verb.RELEASE: JobState.QUEUED, Verb.CANCEL: JobState.CANCELLED}[verb]
    return _row(record, ended.answer, ended.state or after)


async def _made_before(store: AsyncStore, verb: Verb, batch: str) -> list[str] | None:
    """Give the old jobs that the batch of this id was made of; None: there is no such batch yet."""
    record = await store.run(listing.batch(batch))
    if not record:
        return None
    try:
        manifest = json.loads(record.manifest or "null")
    except ValueError:
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("verb") != verb or not isinstance(manifest.get("of"), list):
        raise Conflict(f"batch {batch} exists, and is no {verb} of jobs")
    return [str(one) for one in manifest["of"]]


async def _make(store: AsyncStore, settings: Settings, verb: Verb, batch: str, records: Sequence[JobRecord]) -> Changed:
    """Submit new jobs for old ones that have ended; what cannot be done again is refused and said."""
    fitting = [record for record in records if record.state in FITTING[verb]]
    if not fitting:
        return Changed(changes=tuple(_row(record, "refused") for record in records))
    made = {record.id: _new(verb, job_id(batch, index), record) for index, record in enumerate(fitting)}
    manifest = canonical_json({"verb": verb.value, "of": list(made)})
    label = fitting[0].label if len(fitting) == 1 else f"{verb} of {len(fitting)} jobs"
    owner = Owner(owner=fitting[0].owner)
    await dispatch(store, settings, batch, owner, list(made.values()), label=label, manifest=manifest)
    rows = [
        _row(record, "ok", new_job=made[record.id].id) if record.id in made else _row(record, "refused")
        for record in records
    ]
    return Changed(changes=tuple(rows), batch=batch)


def _new(verb: Verb, new_id: str, old: JobRecord) -> NewJob:
    goes_on = verb is Verb.RETRY
    return NewJob(
        id=new_id,
        spec=parse_spec(old.spec),
        priority=old.priority,
        retry_of=old.id,
        checkpoint=old.checkpoint if goes_on else None,
        checkpoint_before=old.checkpoint_before if goes_on else None,
    )
