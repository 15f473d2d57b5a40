"""Routes of the memory of recoveries and of the policy: looked at, recalled, revoked, promoted, rolled back."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from orchestrator.api.context import Api, Context
from orchestrator.api.shapes import Count, Cursor, Promotion, Revocation, Rollback
from orchestrator.recovery import episodes, policy
from tasks import memory
from tasks.errors import InputError, NotFound
from tasks.memory import Episode

router = APIRouter()
EpisodeId = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,159}$")]
Signature = Annotated[str, Query(max_length=300)]


@router.get("/memory/episodes")
async def index(
    api: Context,
    signature: Signature = "",
    status: str = "",
    action: str = "",
    run: str = "",
    cursor: Cursor = "",
    count: Count = 50,
) -> dict[str, Any]:
    """List episodes, newest first."""
    if status and status not in list(memory.EpisodeStatus):
        raise InputError("status", status, "is none", f"There are {', '.join(memory.EpisodeStatus)}.")
    found = await api.store.run(
        memory.episodes(signature=signature, status=status, action=action, run=run, cursor=cursor, count=count)
    )
    return {"episodes": [row.model_dump(mode="json") for row in found.rows], "cursor": found.cursor}


@router.get("/memory/episodes/{episode}")
async def show(episode: EpisodeId, api: Context) -> dict[str, Any]:
    """Read one episode, and why it is not recalled, if it is not."""
    found = await _find(episode, api)
    refused = await episodes.why_not(api.store, found, api.settings.memory_min_trust)
    return {"episode": found.model_dump(mode="json"), "not_recalled": refused}


@router.post("/memory/episodes/{episode}/revoke")
async def revoke(episode: EpisodeId, body: Revocation, api: Context) -> dict[str, str]:
    """Take an episode out of what is recalled, for good."""
    if not body.why.strip():
        raise InputError("why", body.why, "is empty", "Say why, for the record.")
    answer = await api.store.run(memory.revoke_episode(episode, body.by, body.why.strip()))
    return {"episode": episode, "answer": answer}


@router.get("/memory/recall")
async def recall(api: Context, signature: Signature = "", run: str = "", step: int = 0) -> dict[str, Any]:
    """Say what memory and policy would have tried for a signature, or for the failures of a run's step."""
    signatures = [signature] if signature else await _of_step(run, step, api)
    rows = []
    for one in signatures:
        trust = api.settings.memory_min_trust
        found = [*await episodes.recall(api.store, one, trust), *await policy.resolve(api.store, one, trust)]
        rows += [
            {"signature": one, "action": p.action, "parameters": p.parameters, "source": p.source, "by": p.by}
            for p in found
        ]
    return {"signatures": signatures, "proposals": rows}


@router.get("/policy")
async def read(api: Context, audit: Annotated[int, Query(ge=0, le=1000)] = 0) -> dict[str, Any]:
    """Read the active rules, all versions, and the newest lines of the memory's account."""
    found = await api.store.run(memory.read_policy(audit))
    return found.model_dump(mode="json")


@router.post("/policy/promote")
async def promote(body: Promotion, api: Context) -> dict[str, Any]:
    """Make a rule out of the verified successes of a signature, in a new active version."""
    version, rule = await policy.promote(api.store, body.signature, body.by, api.settings.memory_min_trust)
    return {"version": version, "signature": body.signature, "rule": rule.model_dump(mode="json")}


@router.post("/policy/rollback")
async def rollback(body: Rollback, api: Context) -> dict[str, Any]:
    """Make an earlier version the active one; 0 is the empty policy."""
    if not body.why.strip():
        raise InputError("why", body.why, "is empty", "Say why, for the record.")
    answer = await api.store.run(memory.rollback(body.version, body.by, body.why.strip()))
    return {"version": body.version, "answer": answer}


async def _find(episode: str, api: Api) -> Episode:
    found = await api.store.run(memory.episode(episode))
    if found is None:
        raise NotFound(f"there is no episode {episode}")
    return found


async def _of_step(run: str, step: int, api: Api) -> list[str]:
    if not run:
        raise InputError("signature", "", "is missing", "Give a signature, or a run (and its step).")
    recoveries = (await api.view(run)).recoveries
    found = list(dict.fromkeys(r.signature for r in recoveries if not step or r.step == step))
    if not found:
        raise NotFound(f"run {run} had no failure{f' in step {step}' if step else ''} that recovery looked at")
    return found
