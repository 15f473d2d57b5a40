"""The library's work as functions of plain values, for the processes that the service has it done in."""

from __future__ import annotations

from pathlib import Path

from orchestrator.library.answers import Answer
from orchestrator.library.catalogue import Added, open_library
from orchestrator.library.store import Record
from tasks.settings import Settings


def add(settings: Settings, path: Path, name: str, kept_at: str) -> Added:
    """Add a file; as ``Library.add``."""
    with open_library(settings) as library:
        return library.add(path, name, kept_at=kept_at)


def documents(settings: Settings) -> list[Record]:
    """Give all documents."""
    with open_library(settings) as library:
        return library.documents()


def remove(settings: Settings, beginning: str) -> Record:
    """Remove a document; as ``Library.remove``."""
    with open_library(settings) as library:
        return library.remove(beginning)


def ask(settings: Settings, question: str) -> Answer:
    """Answer a question; as ``Library.ask``."""
    with open_library(settings) as library:
        return library.ask(question)


def reindex(settings: Settings) -> tuple[int, str]:
    """Build anew what is searched; give how many passages that were, and how they are searched now."""
    with open_library(settings) as library:
        return library.reindex(), library.store.method
