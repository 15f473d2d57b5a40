"""An attempt under way: what is known of it, and what its supervisor has decided."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import structlog

from tasks.jobs import Token
from tasks.records import JobRecord
from tasks.results import Checkpoint
from worker.engines.base import Bench, Engine
from worker.pulse import Pulse
from worker.staging import CheckpointStager

log = structlog.get_logger()


class Verdict(StrEnum):
    """What became of an offer or attempt, as far as Celery and its events are concerned."""

    GONE = "gone"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REQUEUED = "requeued"
    CANCELLED = "cancelled"
    FENCED = "fenced"


class Order(StrEnum):
    """Why the supervisor ends a program that has not ended by itself."""

    NONE = ""
    FENCED = "fenced"
    CANCEL = "cancel"
    PREEMPT = "preempted"
    WALLTIME = "walltime"
    CUT_OFF = "cut_off"


@dataclass(kw_only=True)
class Attempt:
    """Everything about the attempt that is under way."""

    pulse: Pulse
    record: JobRecord
    engine: Engine[Any]
    bench: Bench[Any]
    folder: Path
    stager: CheckpointStager
    started_from: Checkpoint | None
    began: float = field(default_factory=time.monotonic)
    order: Order = Order.NONE

    @property
    def token(self) -> Token:
        """The fencing token."""
        return self.pulse.token


def stage_checkpoint(attempt: Attempt) -> None:
    """Copy the program's newest restart point to the workspace, if there is a newer one than the last."""
    snapshot = attempt.engine.snapshot(attempt.bench)
    if not snapshot:
        return
    try:
        staged = attempt.stager.stage(snapshot)
    except OSError as error:
        log.warning("checkpoint_not_copied", job=attempt.token.job, error=str(error))
        return
    if staged:
        attempt.pulse.checkpoint = staged
        attempt.pulse.renew()
