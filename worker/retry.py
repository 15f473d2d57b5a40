"""How long a failed job waits before it is tried again."""

from __future__ import annotations

from tasks.settings import Settings


def retry_delay_seconds(failures: int, settings: Settings) -> float:
    """Give the wait after the failure that follows ``failures`` earlier ones: doubled each time, an hour at most."""
    return float(min(3600.0, settings.retry_delay_seconds * 2**failures))


def fault_delay_seconds(faults: int, settings: Settings) -> float:
    """Give the wait after a host's fault that follows ``faults`` others in a row: doubled, five minutes at most.

    Short, since a disk that has room again should find work; growing, so that a broken host is not kept busy with it.
    """
    return float(min(300.0, settings.retry_delay_seconds * 2 ** min(faults, 16)))
