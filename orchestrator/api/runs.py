"""Routes of runs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from orchestrator.agents import AGENTS
from orchestrator.api.context import Api, Context
from orchestrator.api.shapes import Answer, Count, Cursor, Id, NewRun, Retry, Verdict, batch_row, job_row
from orchestrator.api.verdicts import answerable, decidable
from orchestrator.asking import Options
from orchestrator.model.extract import left_to_model
from orchestrator.problems import known_state
from orchestrator.state import SUMMARY, RunState
from tasks import listing, records, runs
from tasks.errors import Conflict, InputError, NotFound
from tasks.records import InboxEntry, RunRecord

router = APIRouter(prefix="/runs")
#: jobs that are shown with a run; the counts of its batches hold all
_MOST_JOBS = 200


@router.post("")
async def create(body: NewRun, api: Context) -> dict[str, Any]:
    """Make a run, or attach to the unfinished one for the same request; it is planned before anything is queued."""
    existing = await api.store.run(listing.run(body.id))
    if not existing or body.dry_run:
        check_options(body.options)
        try:
            preview = await api.intake.preview(
                body.request, body.owner, wait_for_worker=body.wait_for_worker, options=body.options
            )
        except InputError as error:
            # The run then says what came of it.
            if body.dry_run or not left_to_model(api.settings, body.options, error):
                raise
        else:
            if body.dry_run:
                return preview
    options = body.options.model_dump(mode="json", exclude_defaults=True)
    created = await api.store.run(runs.create(body.id, body.owner, body.request, options=options, attach=not body.new))
    return {"run": created.run, "answer": created.answer}


@router.get("")
async def index(
    api: Context, owner: str = "", state: str = "", cursor: Cursor = "", count: Count = 50
) -> dict[str, Any]:
    """List runs, newest first."""
    known_state(state, records.RunState)
    page = await api.store.run(listing.runs(owner=owner, state=state, cursor=cursor, count=count))
    return {"runs": [run.model_dump(mode="json") for run in page.rows], "cursor": page.cursor}


@router.get("/{run_id}")
async def show(run_id: Id, api: Context) -> dict[str, Any]:
    """Give a run: its record, its newest checkpointed state, its batches and jobs."""
    record = await _record(run_id, api)
    batches = await api.store.run(listing.batches(run=run_id, count=1000))
    jobs = await api.store.run(listing.jobs(run=run_id, count=_MOST_JOBS))
    state = await _state(record, api)
    return {
        "run": record.model_dump(mode="json"),
        "state": state.model_dump(mode="json") if state else None,
        "batches": [batch_row(batch) for batch in reversed(batches.rows)],
        "jobs": [job_row(job) for job in reversed(jobs.rows)],
        "more_jobs": bool(jobs.cursor),
        "workspace": str(api.settings.workspace),
    }


@router.post("/{run_id}/cancel")
async def cancel(run_id: Id, api: Context) -> dict[str, str]:
    """Ask a run to end; repeating it changes nothing."""
    answer = await api.store.run(runs.post(run_id, InboxEntry(id=f"cancel:{run_id}", kind="cancel")))
    return {"run": run_id, "answer": answer, "state": (await _record(run_id, api)).state}


@router.post("/{run_id}/retry")
async def retry(run_id: Id, body: Retry, api: Context) -> dict[str, Any]:
    """Make a run that takes up one which failed or was cancelled: what that one has done stays done."""
    record = await _record(run_id, api)
    if not record.state.ended:
        raise Conflict(f"run {run_id} has not ended: {record.state.value}; only an ended run is taken up again")
    if record.state == "SUCCEEDED":
        raise Conflict(f"run {run_id} succeeded: there is nothing in it to be done again")
    await _state(record, api)  # a state that cannot be read is refused here, not in the new run
    made = runs.create(
        body.id, body.owner, record.request, options=record.options, attach=not body.new, retry_of=run_id
    )
    created = await api.store.run(made)
    return {"run": created.run, "answer": created.answer}


@router.post("/{run_id}/verdict")
async def verdict(run_id: Id, body: Verdict, api: Context) -> dict[str, str]:
    """Decide a gate; repeating it changes nothing, and a gate is decided once."""
    gate = decidable(await _view(run_id, api), body, await api.store.now())
    entry = InboxEntry(
        id=f"gate:{run_id}:{gate.id}",
        kind=body.verdict,
        about=gate.id,
        text=body.text.strip(),
        by=body.by,
        step=body.step,
    )
    answer = await api.store.run(runs.post(run_id, entry))
    return {"run": run_id, "answer": answer, "state": (await _record(run_id, api)).state}


@router.post("/{run_id}/answer")
async def answer(run_id: Id, body: Answer, api: Context) -> dict[str, str]:
    """Answer a question of a run; it is answered once."""
    question, text = answerable(await _view(run_id, api), body)
    entry = InboxEntry(id=f"question:{run_id}:{question.id}", kind="answer", about=question.id, text=text, by=body.by)
    said = await api.store.run(runs.post(run_id, entry))
    return {"run": run_id, "answer": said, "state": (await _record(run_id, api)).state}


def check_options(options: Options) -> None:
    """Refuse agents that nobody can ask, and a named one that is not allowed; raises InputError."""
    for name in filter(None, (options.agent, *options.agents)):
        if name not in AGENTS or name == SUMMARY:
            known = ", ".join(agent for agent in AGENTS if agent != SUMMARY)
            raise InputError("agent", name, "is no agent that can be asked", f"Known are {known}.")
    if options.agent and options.agents and options.agent not in options.agents:
        remedy = f"It may use {', '.join(options.agents)}."
        raise InputError("agent", options.agent, "is not among the agents that this run may use", remedy)


async def _view(run_id: str, api: Api) -> RunState:
    record = await _record(run_id, api)
    if record.state.ended:
        raise Conflict(f"run {run_id} has ended: {record.state.value}")
    return await _state(record, api) or RunState(run_id=run_id)


async def _record(run_id: str, api: Api) -> RunRecord:
    record = await api.store.run(listing.run(run_id))
    if not record:
        raise NotFound(f"there is no run {run_id}")
    return record


async def _state(record: RunRecord, api: Api) -> RunState | None:
    """Read the newest checkpoint; None before the first."""
    if not record.epoch:
        return None
    try:
        return await api.view(record.id)
    except NotFound:
        return None
