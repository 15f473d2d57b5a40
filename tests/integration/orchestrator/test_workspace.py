"""An orchestrator whose workspace is not to be seen: it takes no run, writes nothing elsewhere, and goes on after."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.workspace_proof import prove_workspace
from tasks import listing
from tasks.errors import ConfigurationError
from tasks.settings import Settings
from tasks.store import Store
from tests.integration.orchestrator.conftest import async_store, create, holding, run_in, until
from tests.integration.worker.conftest import StartWorker


async def test_runs_wait_for_a_workspace_that_is_away(
    settings: Settings, submitting: Store, start_worker: StartWorker, tmp_path: Path
) -> None:
    settings.workspace.rename(tmp_path / "elsewhere")
    create(submitting, "count 1 times to 1 pausing 0 in 1 rounds")
    start_worker()
    (worker,) = submitting.run(listing.workers()).rows
    assert (worker.state, "not to be seen" in worker.reason) == ("quarantined", True)
    store = async_store(settings)
    async with holding(settings) as holder:

        async def has_looked() -> bool:
            return bool(holder.token)

        await until(has_looked, what="it looks for its workspace")
        record = submitting.run(listing.run("r1"))
        assert record
        assert (record.state.value, record.epoch) == ("QUEUED", 0)
        assert not settings.workspace.exists()
        (tmp_path / "elsewhere").rename(settings.workspace)
        submitting.client.hset(f"{settings.key_prefix}worker:{worker.id}", "state", "active")
        assert (await run_in(store, "r1", "SUCCEEDED", "FAILED")).answer == "1 SUCCEEDED"
    await store.client.aclose()


async def test_a_missing_mount_is_not_taken_for_an_empty_workspace(settings: Settings, store: Store) -> None:
    client = async_store(settings)
    token = await prove_workspace(client, settings)
    proof = settings.workspace / ".simrelay-workspace"
    proof.unlink()
    assert await prove_workspace(client, settings) == token  # nothing was ever computed: it may be any folder
    create(store, "x")
    proof.unlink()
    with pytest.raises(ConfigurationError, match="is not the workspace that this installation has worked in"):
        await prove_workspace(client, settings)
    assert not proof.exists()
    proof.write_text(token + "\n")
    assert await prove_workspace(client, settings) == token
    await client.client.aclose()
