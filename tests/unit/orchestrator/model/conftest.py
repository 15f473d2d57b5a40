"""Settings and models for a scripted server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from orchestrator.model import Model
from tasks.settings import Settings
from tests.model.server import ScriptedModel

Connect = Callable[..., AbstractAsyncContextManager[Model]]


def settings_of(server: ScriptedModel, home: Path, **changes: object) -> Settings:
    """Give settings with that server as the model."""
    values = {"home": home, "model_url": f"{server.url}/v1", "model": "scripted", "model_key": "secret-key"}
    return Settings.model_validate({**values, "model_retries": 0, "model_timeout_seconds": 10, **changes})


@pytest.fixture
def connect(tmp_path: Path) -> Connect:
    """Connect to a scripted model."""

    @asynccontextmanager
    async def connected(server: ScriptedModel, **changes: object) -> AsyncIterator[Model]:
        model = Model(settings_of(server, tmp_path, **changes))
        try:
            yield model
        finally:
            await model.close()

    return connected
