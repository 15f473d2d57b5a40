"""The library: documents that users add, and passages of them that answer questions, with citations.

Reading, splitting, storing and searching live here; what agents, routes and commands make of it does not. Text of a
document is data: it is stored, found and quoted, and nothing in it is ever followed.
"""

from __future__ import annotations

from orchestrator.library.answers import Answer, Quote, Source
from orchestrator.library.catalogue import Added, Library, open_library
from orchestrator.library.store import Hit, LibraryStore, Record, RedisAway

__all__ = [
    "Added",
    "Answer",
    "Hit",
    "Library",
    "LibraryStore",
    "Quote",
    "Record",
    "RedisAway",
    "Source",
    "open_library",
]
