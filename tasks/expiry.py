"""The reconciler's half in the store: what was not renewed is taken back, by anybody, at any time."""

from __future__ import annotations

from dataclasses import dataclass

from tasks.batches import admission
from tasks.scripts import Call, Reply, call
from tasks.settings import Settings

#: distinct hosts taken down without progress that make a job poison (DESIGN, "Life of a job")
POISON_HOSTS = 3


@dataclass(frozen=True, kw_only=True)
class Lost:
    """An attempt that was closed as lost, with what Celery's events called it."""

    job: str
    attempt: int
    task_id: str
    hostname: str
    host: str
    worker: str


@dataclass(frozen=True, kw_only=True)
class Expired:
    """What one call of ``expire`` took back; guarded: Redis was away, so nothing is taken for one lease."""

    guarded: bool
    lost: tuple[Lost, ...]
    gone_workers: tuple[str, ...]
    runs: tuple[str, ...]


def expire(settings: Settings) -> Call[Expired]:
    """Take back leases that were not renewed, offers that nobody took, and runs whose holder is gone."""

    def read(reply: Reply) -> Expired:
        details = reply.details
        return Expired(
            guarded=details["guarded"],
            lost=tuple(Lost(**row) for row in details["lost"] or ()),
            gone_workers=tuple(details["gone_workers"] or ()),
            runs=tuple(details["runs"] or ()),
        )

    return call("expire", settings.lease_ms(), POISON_HOSTS, *admission(settings), read=read)
