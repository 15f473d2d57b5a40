"""Proof that a worker sees the orchestrator's workspace: a random token, in Redis and as a file in that folder."""

from __future__ import annotations

import asyncio
import secrets

import structlog

from tasks.settings import Settings
from tasks.store import AsyncStore
from tasks.workspace import PROOF_FILE, write_file

log = structlog.get_logger()


def token_key(settings: Settings) -> str:
    """Give the key under which Redis keeps the token."""
    return f"{settings.key_prefix}workspace:token"


async def prove_workspace(store: AsyncStore, settings: Settings) -> str:
    """Make sure that the token stands in Redis and in the workspace; gives it. The first one made stays for ever."""
    await store.client.set(token_key(settings), secrets.token_hex(16), nx=True)
    raw = await store.client.get(token_key(settings))
    token = raw.decode() if isinstance(raw, bytes) else str(raw)
    path = settings.workspace / PROOF_FILE
    known = path.read_text().strip() if path.exists() else ""
    if known != token:
        if known:
            log.warning("workspace_of_another_installation", workspace=str(settings.workspace))
        settings.workspace.mkdir(parents=True, exist_ok=True)
        await asyncio.to_thread(write_file, path, token)
    return token
