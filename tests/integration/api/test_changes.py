"""Hold, release, retry, rerun and cancel over the API: of named jobs, of all that fit filters, or only shown."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from orchestrator.dispatch import job_id
from tasks import jobs, listing
from tasks.jobs import Token
from tasks.records import JobRecord, JobState
from tasks.results import Artifact, Checkpoint, Failure
from tasks.store import Store
from tests.integration.api.conftest import register
from tests.integration.api.test_jobs import submit

POINT = Checkpoint(number=7, text="after step 7", files=(Artifact(path="jobs/c7", size_bytes=1, sha256="00"),))
BROKEN = Failure(error_class="program_failed", message="it failed", permanent=True)


async def change(client: httpx.AsyncClient, verb: str, **body: Any) -> dict[str, Any]:
    """Change jobs."""
    answer = await client.post(f"/jobs/{verb}", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def answers(done: dict[str, Any]) -> dict[str, str]:
    """Give what became of each job."""
    return {row["job"]: row["answer"] for row in done["changes"]}


def read(store: Store, job: str) -> JobRecord:
    """Read a job that must exist."""
    record = store.run(listing.job(job))
    assert record
    return record


def start(store: Store, job: str) -> Token:
    """Claim a job that was offered."""
    claimed = store.run(jobs.claim(job, "w1", "c1", read(store, job).task_id, store.settings))
    assert claimed.token, claimed.answer
    return claimed.token


def fail(store: Store, job: str) -> None:
    """Let a job write a restart point and fail."""
    token = start(store, job)
    assert store.run(jobs.renew(token, store.settings, checkpoint=POINT)) == "ok"
    store.run(jobs.finish(token, JobState.FAILED, store.settings, failure=BROKEN))


async def test_holding_and_releasing_by_name_and_by_filter(client: httpx.AsyncClient, store: Store) -> None:
    register(store, queues=("program.count",), cores=1)
    running, second, third = await submit(client, "a", "b", "c")
    start(store, running)
    assert answers(await change(client, "hold", jobs=[running, second])) == {running: "refused", second: "ok"}
    assert answers(await change(client, "hold", jobs=[second])) == {second: "already"}
    # A filter takes only what the verb fits
    assert answers(await change(client, "hold", batch="b1")) == {third: "ok"}
    assert [read(store, one).state for one in (running, second, third)] == ["RUNNING", "HELD", "HELD"]
    assert answers(await change(client, "release", all=True)) == {second: "ok", third: "ok"}
    assert answers(await change(client, "release", jobs=[third])) == {third: "refused"}


@pytest.mark.parametrize(
    ("filters", "fits"),
    [
        ({"owner": "ana"}, {"b1-0", "b1-1", "b2-0"}),
        ({"batch": "b2"}, {"b2-0"}),
        ({"queue": "program.other"}, {"b1-1"}),
        ({"state": "HELD"}, {"b2-0"}),
        ({"run": "r9"}, set()),
        ({"owner": "ana", "queue": "program.count"}, {"b1-0", "b2-0"}),
        ({"owner": "bob", "batch": "b1"}, set()),
    ],
)
async def test_each_filter_takes_only_the_jobs_that_fit_it(
    client: httpx.AsyncClient, store: Store, filters: dict[str, str], fits: set[str]
) -> None:
    register(store, queues=("program.count", "program.other"), cores=1)
    rows = {"b1": ("ana", ["count", "other"]), "b2": ("ana", ["count"]), "b3": ("bob", ["count"])}
    names = {}
    for batch, (owner, programs) in rows.items():
        specs = [{"program": program, "parameters": {"steps": 3}} for program in programs]
        answer = await client.post("/batches", json={"id": batch, "owner": owner, "jobs": specs})
        assert answer.status_code == 200, answer.text
        names |= {job_id(batch, index): f"{batch}-{index}" for index in range(len(programs))}
    await change(client, "hold", batch="b2")
    done = await change(client, "cancel", **filters)
    assert {names[job] for job in answers(done)} == fits
    assert {names[job] for job in names if read(store, job).state == "CANCELLED"} == fits


async def test_a_dry_run_lists_what_would_be_touched_and_changes_nothing(
    client: httpx.AsyncClient, store: Store
) -> None:
    register(store, queues=("program.count",), cores=1)
    first, second = await submit(client, "a", "b")
    await change(client, "cancel", jobs=[second])
    for verb, touched in (("hold", {first}), ("cancel", {first}), ("retry", {second}), ("rerun", {second})):
        done = await change(client, verb, dry_run=True, owner="ana")
        assert (set(answers(done)), done["dry_run"], done["batch"]) == (touched, True, ""), verb
        assert set(answers(done).values()) == {"would"}
    assert answers(await change(client, "cancel", dry_run=True, jobs=[first, second])) == {
        first: "would",
        second: "already",
    }
    assert (read(store, first).state, read(store, second).state) == ("QUEUED", "CANCELLED")
    assert len((await client.get("/batches")).json()["batches"]) == 1


async def test_a_retry_is_a_new_job_that_begins_with_the_old_ones_checkpoint_and_a_rerun_does_not(
    client: httpx.AsyncClient, store: Store
) -> None:
    register(store, queues=("program.count",), cores=1)
    (old,) = await submit(client, "one")
    fail(store, old)
    for verb, point in (("retry", POINT), ("rerun", None)):
        done = await change(client, verb, jobs=[old], id=f"b-{verb}")
        new = read(store, done["changes"][0]["new_job"])
        assert (new.id != old, new.retry_of, new.batch, new.owner) == (True, old, f"b-{verb}", "ana")
        assert (new.spec, new.label, new.priority) == (read(store, old).spec, "one", 5)
        assert (new.checkpoint, new.attempt, new.failures) == (point, 0, 0)
    assert read(store, old).state == "FAILED"


async def test_repeating_a_retry_makes_nothing_twice_although_more_jobs_fit_by_then(
    client: httpx.AsyncClient, store: Store
) -> None:
    register(store, queues=("program.count",), cores=1)
    first, second = await submit(client, "a", "b")
    fail(store, first)
    once = await change(client, "retry", batch="b1", id="again")
    fail(store, second)
    twice = await change(client, "retry", batch="b1", id="again")
    assert once == twice
    assert answers(once) == {first: "ok"}
    assert len((await client.get("/jobs")).json()["jobs"]) == 3
    # and the id of a batch that is something else is refused
    conflict = await client.post("/jobs/retry", json={"jobs": [first], "id": "b1"})
    assert (conflict.status_code, conflict.json()["kind"]) == (409, "Conflict")


async def test_what_has_not_ended_is_neither_retried_nor_rerun(client: httpx.AsyncClient, store: Store) -> None:
    register(store, queues=("program.count",), cores=1)
    (job,) = await submit(client, "one")
    for verb in ("retry", "rerun"):
        done = await change(client, verb, jobs=[job], id="again")
        assert (answers(done), done["batch"]) == ({job: "refused"}, "")
    assert (await client.get("/batches/again")).status_code == 404


async def test_a_retry_of_the_jobs_of_several_owners_is_refused(client: httpx.AsyncClient, store: Store) -> None:
    register(store, queues=("program.count",), cores=1)
    spec = {"program": "count", "parameters": {"steps": 3}}
    for owner in ("ana", "bob"):
        await client.post("/batches", json={"id": f"of-{owner}", "owner": owner, "jobs": [spec]})
    await change(client, "cancel", all=True)
    refused = await client.post("/jobs/rerun", json={"all": True, "id": "again"})
    assert (refused.status_code, refused.json()["field"]) == (422, "owner")
    assert len(answers(await change(client, "rerun", owner="bob", id="again"))) == 1


async def test_cancelling_many_is_harmless_when_repeated(client: httpx.AsyncClient, store: Store) -> None:
    register(store, queues=("program.count",), cores=1)
    running, second, third = await submit(client, "a", "b", "c")
    start(store, running)
    done = await change(client, "cancel", run="", owner="ana")
    assert answers(done) == {running: "requested", second: "ok", third: "ok"}
    again = await change(client, "cancel", jobs=[running, second])
    assert answers(again) == {running: "requested", second: "already"}


@pytest.mark.parametrize(
    ("body", "field"),
    [({}, "jobs"), ({"jobs": ["a"], "owner": "ana"}, "jobs"), ({"state": "BROKEN"}, "state"), ({"all": 3}, "all")],
)
async def test_a_selection_that_makes_no_sense_is_refused(
    client: httpx.AsyncClient, body: dict[str, Any], field: str
) -> None:
    answer = await client.post("/jobs/cancel", json=body)
    assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert (await client.post("/jobs/hold", json={"jobs": ["nope"]})).status_code == 404
    assert (await client.post("/jobs/shred", json={"all": True})).status_code == 422


async def test_an_id_that_was_used_for_other_jobs_is_refused(client: httpx.AsyncClient, store: Store) -> None:
    register(store, queues=("program.count",))
    first, second = await submit(client, "a", "b")
    for job in (first, second):
        fail(store, job)
    await change(client, "retry", jobs=[first], id="again")
    refused = await client.post("/jobs/retry", json={"jobs": [second], "id": "again"})
    assert (refused.status_code, f"is a retry of other jobs than {second}" in refused.text) == (409, True)


@pytest.mark.parametrize("path", ["/jobs?state=DONE", "/runs?state=DONE", "/jobs?cursor=abc", "/runs?cursor=abc"])
async def test_a_listing_by_what_there_is_not_is_refused(client: httpx.AsyncClient, path: str) -> None:
    assert (await client.get(path)).status_code == 422
