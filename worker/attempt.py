"""An attempt under way: what is known of it, and what its supervisor has decided."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import structlog

from tasks.faults import fault_point
from tasks.jobs import Token
from tasks.records import JobRecord
from tasks.results import Checkpoint
from worker.engines.base import Bench, Engine
from worker.pulse import Pulse
from worker.staging import CheckpointStager

log = structlog.get_logger()

#: what every engine's program writes to, in scratch and then in the attempt's folder
OUTPUT = "output.log"


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
    #: when its program was over, on the monotonic clock
    computed: float | None = None
    _stopping: float | None = None

    @property
    def computed_seconds(self) -> float:
        """How long it has computed."""
        return (time.monotonic() if self.computed is None else self.computed) - self.began

    def stopping_since(self, now: float) -> float:
        """Give since when its worker is known to stop, on the monotonic clock; ``now`` if that is news."""
        self._stopping = now if self._stopping is None else self._stopping
        return self._stopping

    @property
    def token(self) -> Token:
        """The fencing token."""
        return self.pulse.token


#: how much of a running program's output is shown from the workspace
LOG_TAIL_BYTES = 2**20


def show_log(attempt: Attempt) -> None:
    """Let people read the end of the program's output while it runs; the whole of it is kept at the end."""
    source, target = attempt.bench.scratch / OUTPUT, attempt.folder / OUTPUT
    try:
        with source.open("rb") as stream:
            stream.seek(max(0, source.stat().st_size - LOG_TAIL_BYTES))
            target.write_bytes(stream.read(LOG_TAIL_BYTES))
    except OSError as error:
        log.debug("log_not_shown", job=attempt.token.job, error=str(error))


def last_lines(path: Path) -> tuple[str, ...]:
    """Read the last lines of a program's output, short enough to be told with each renewal; none if there are none."""
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, path.stat().st_size - 2000))
            text = stream.read(2000).decode(errors="replace")
    except OSError:
        return ()
    return tuple(line[:200] for line in text.splitlines()[-5:] if line.strip())


def stage_checkpoint(attempt: Attempt) -> None:
    """Copy the program's newest restart point to the workspace, if there is a newer one than the last."""
    try:
        snapshot = attempt.engine.snapshot(attempt.bench)
        staged = attempt.stager.stage(snapshot) if snapshot else None
    except OSError as error:
        log.warning("checkpoint_not_copied", job=attempt.token.job, error=str(error))
        return
    if staged:
        fault_point("writing_checkpoint")
        attempt.pulse.checkpoint = staged
        if not attempt.pulse.cut_off:
            attempt.pulse.renew()
