"""Fault points: named places in the code where a test has its process killed or frozen, once.

    SIMRELAY_FAULT=after_claim:kill  SIMRELAY_FAULT_MARKER=/folder/fired

The process that comes there first and creates the marker file dies; every later one goes on. With nothing armed, which
is always so outside of tests, ``fault_point`` is a function that does nothing.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Literal, get_args

from tasks.errors import ConfigurationError

Point = Literal[
    "before_claim",
    "after_claim",
    "running",
    "writing_checkpoint",
    "children_opened",
    "before_park",
    "after_park",
    "finishing",
    "outcome_written",
    "after_post",
    "node_start",
    "gate_opened",
    "heard",
    "dispatching",
    "dispatching_repair",
    "dispatched",
    "recovery_validated",
    "recovery_judged",
    "recovery_decided",
    "before_checkpoint",
    "before_release",
    "after_release",
]
#: ``kill``, ``stop``, ``terminate`` are for the process that comes there, ``…_parent`` for the one that started it
Kind = Literal["kill", "stop", "terminate", "exit", "kill_parent", "stop_parent", "terminate_parent"]

_SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP, "terminate": signal.SIGTERM}


def _nothing(point: Point) -> None:
    """Go on: no fault is armed."""


def arm(armed: str, marker: str) -> Callable[[Point], None]:
    """Give the function that fires the fault ``POINT:KIND`` once, or one that does nothing if ``armed`` is empty.

    Raises
    ------
    ConfigurationError
        If there is no such point or kind, or no marker file is named.
    """
    if not armed:
        return _nothing
    name, _, kind = armed.partition(":")
    if name not in get_args(Point) or kind not in get_args(Kind) or not marker:
        raise ConfigurationError(f"SIMRELAY_FAULT: {armed} is not POINT:KIND, or SIMRELAY_FAULT_MARKER is not set")

    def fire(point: Point) -> None:
        if point != name:
            return
        try:
            os.close(os.open(marker, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        if kind == "exit":
            os._exit(1)
        what, _, of_parent = kind.partition("_")
        os.kill(os.getppid() if of_parent else os.getpid(), _SIGNALS[what])

    return fire


fault_point: Callable[[Point], None] = arm(
    os.environ.get("SIMRELAY_FAULT", ""), os.environ.get("SIMRELAY_FAULT_MARKER", "")
)
