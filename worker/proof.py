"""Whether this host sees the workspace of its installation: the token in its proof file is the one in Redis."""

from __future__ import annotations

from redis.exceptions import RedisError

from tasks.errors import Unreachable
from tasks.settings import Settings
from tasks.store import Store
from tasks.workspace import PROOF_FILE


def workspace_trouble(store: Store, settings: Settings) -> str | None:
    """Say why this host does not see its installation's workspace; empty: it does; None: there is no proof yet.

    Raises
    ------
    Unreachable
        If Redis does not answer.
    """
    try:
        token = store.client.get(f"{settings.key_prefix}workspace:token")
    except RedisError as error:
        raise Unreachable(f"Redis does not answer ({type(error).__name__})") from error
    if not token:
        return None
    proof = settings.workspace / PROOF_FILE
    try:
        found = proof.read_text().strip()
    except OSError as error:
        return (
            f"the workspace is not to be seen: {proof}: {error.strerror or error}. Mount it here, or set"
            " SIMRELAY_WORKSPACE to where it is"
        )
    if found != token:
        return f"{settings.workspace} is the workspace of another installation. Set SIMRELAY_WORKSPACE to the right one"
    return ""
