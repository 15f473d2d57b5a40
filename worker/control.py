"""The worker's remote control: a ``revoke`` that somebody broadcasts cancels the job, and kills nothing by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import structlog
from celery import Celery
from celery.worker.control import Panel

from tasks.celery_app import BROKER_ERRORS
from tasks.errors import Unreachable
from tasks.revoking import revoke
from tasks.store import Store

log = structlog.get_logger()


def take_over_revoke(app: Celery, store: Callable[[], Store]) -> None:
    """Put our cancel in the place of Celery's commands that drop an offer or kill a pool child."""

    def on_revoke(state: object, task_id: str | Sequence[str], **_: Any) -> dict[str, object]:
        """Cancel the jobs of these tasks."""
        try:
            return {"ok": revoke(store(), app, [task_id] if isinstance(task_id, str) else task_id)}
        except (Unreachable, *BROKER_ERRORS) as error:
            log.warning("revoke_failed", task=task_id, error=str(error))
            return {"error": str(error)}

    Panel.register(on_revoke, name="revoke", variadic="task_id", signature="[id1 [id2 [... [idN]]]]")
    Panel.register(
        on_revoke, name="terminate", args=[("signal", str)], variadic="task_id", signature="<signal> [id1 [... [idN]]]"
    )
