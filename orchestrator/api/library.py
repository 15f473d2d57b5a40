"""Routes of the library: documents in, answers with citations out."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from orchestrator.api.context import Context
from orchestrator.api.shapes import Id
from orchestrator.library import Added, Answer, Record, calls
from orchestrator.library.documents import kind_of
from orchestrator.storage import put_file

router = APIRouter(prefix="/library")

Name = Annotated[str, Query(min_length=1, max_length=255)]
Question = Annotated[str, Query(min_length=1, max_length=2000)]


@router.post("/documents")
async def add(name: Name, request: Request, api: Context) -> Added:
    """Take the body in as a file of that name, and add what it holds; sending it twice adds it once."""
    kind_of(name)
    # The name that the workspace can have is not always the one that people know it by.
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name)[-64:].lstrip("._-") or "document"
    kept = await put_file(api.settings.workspace, safe, request.stream(), api.settings.max_file_bytes)
    return await api.intake.add_document(api.settings.workspace / kept.path, name, kept.path)


@router.get("/documents")
async def index(api: Context) -> dict[str, Any]:
    """List the documents, by title."""
    return {"documents": await api.intake.run(calls.documents, api.settings)}


@router.delete("/documents/{document}")
async def remove(document: Id, api: Context) -> Record:
    """Remove a document by its id, or the beginning of it; its file stays in the workspace."""
    return await api.intake.run(calls.remove, api.settings, document)


@router.get("/answer")
async def answer(question: Question, api: Context) -> Answer:
    """Answer a question by quoting documents."""
    return await api.intake.run(calls.ask, api.settings, question)


@router.post("/reindex")
async def reindex(api: Context) -> dict[str, Any]:
    """Build anew what is searched, with the embeddings that are configured now."""
    passages, method = await api.intake.run(calls.reindex, api.settings)
    return {"passages": passages, "method": method}
