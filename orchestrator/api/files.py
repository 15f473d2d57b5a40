"""Route of files that users put into the workspace."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from orchestrator.api.context import Context
from orchestrator.storage import put_file

router = APIRouter(prefix="/files")


@router.put("/{name}")
async def put(name: str, request: Request, api: Context) -> dict[str, Any]:
    """Take the body in as a file; its id is the SHA-256 of its content, so sending it twice is sending it once."""
    taken = await put_file(api.settings.workspace, name, request.stream(), api.settings.max_file_bytes)
    return {"file": taken.sha256, **taken.model_dump()}
