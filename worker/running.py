"""Which programs physically run on this host for a worker: noted on disk, and counted against its capacity.

A worker that was cut off may still run what the store has given to others; until that is gone, its cores are not free.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tasks.records import JobRecord
from tasks.settings import Settings


def _folder(settings: Settings, worker: str) -> Path:
    return settings.scratch / "running" / worker


def note_of(settings: Settings, worker: str, record: JobRecord) -> Path:
    """Give the file that says that a worker runs a job."""
    return _folder(settings, worker) / record.id


@contextmanager
def note_running(settings: Settings, worker: str, record: JobRecord) -> Iterator[None]:
    """Note that a job's program runs, as long as the block does."""
    note = note_of(settings, worker, record)
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(json.dumps([record.cores, record.memory_mb]))
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def running(settings: Settings, worker: str) -> dict[str, tuple[int, int]]:
    """Give cores and memory in MB of every job whose program runs here."""
    found: dict[str, tuple[int, int]] = {}
    folder = _folder(settings, worker)
    if folder.is_dir():
        for note in folder.iterdir():
            try:
                cores, memory_mb = json.loads(note.read_text())
            except (FileNotFoundError, ValueError):  # just removed, or just being written
                continue
            found[note.name] = (cores, memory_mb)
    return found
