"""How long a failed job waits before it is tried again."""

from __future__ import annotations

from tasks.settings import Settings


def retry_delay_seconds(failures: int, settings: Settings) -> float:
    """Give the wait after the failure that follows ``failures`` earlier ones: doubled each time, an hour at most."""
    return float(min(3600.0, settings.retry_delay_seconds * 2**failures))
