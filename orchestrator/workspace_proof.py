"""Proof that a worker sees the orchestrator's workspace: a random token, in Redis and as a file in that folder."""

from __future__ import annotations

import asyncio
import secrets

from tasks.errors import ConfigurationError
from tasks.settings import Settings
from tasks.store import AsyncStore
from tasks.workspace import PROOF_FILE, write_file


def token_key(settings: Settings) -> str:
    """Give the key under which Redis keeps the token."""
    return f"{settings.key_prefix}workspace:token"


async def read_token(store: AsyncStore, settings: Settings) -> str:
    """Give the token that Redis holds; empty if none was made yet."""
    raw = await store.client.get(token_key(settings))
    return raw.decode() if isinstance(raw, bytes) else str(raw or "")


def holds_proof(settings: Settings, token: str) -> bool:
    """Tell whether the workspace that is to be seen here is the one of that token."""
    try:
        return (settings.workspace / PROOF_FILE).read_text().strip() == token
    except OSError:
        return False


async def prove_workspace(store: AsyncStore, settings: Settings) -> str:
    """Make sure that the token stands in Redis and in the workspace; gives it. The first one made stays for ever.

    Raises
    ------
    ConfigurationError
        If this installation has worked in a workspace that is not to be seen here: a mount that is missing must not
        be taken for an empty workspace.
    """
    await store.client.set(token_key(settings), secrets.token_hex(16), nx=True)
    token = await read_token(store, settings)
    if not holds_proof(settings, token):
        path = settings.workspace / PROOF_FILE
        if await store.client.exists(f"{settings.key_prefix}jobs", f"{settings.key_prefix}runs"):
            raise ConfigurationError(
                f"{settings.workspace} is not the workspace that this installation has worked in: {path} does not hold"
                f" its token. Mount it or correct SIMRELAY_WORKSPACE; to go on in this folder without the files of"
                f" earlier jobs, write {token} into {path}"
            )
        settings.workspace.mkdir(parents=True, exist_ok=True)
        await asyncio.to_thread(write_file, path, token)
    return token
