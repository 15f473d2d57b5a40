"""What is done to whom and when: drawn from the seed alone, so that a seed gives the same schedule again."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

Target = Literal["worker", "pool child", "warden", "simulation", "orchestrator", "redis"]
Blow = Literal["KILL", "TERM", "STOP"]
TARGETS: tuple[Target, ...] = get_args(Target)
BLOWS: tuple[Blow, ...] = get_args(Blow)

#: Redis is hit more rarely: after each outage nothing is taken back for one whole lease
_WEIGHTS = {"worker": 5, "pool child": 4, "warden": 4, "simulation": 5, "orchestrator": 4, "redis": 2}


@dataclass(frozen=True, kw_only=True)
class Strike:
    """One blow.

    Attributes
    ----------
    at
        Seconds after the beginning.
    choice
        Which of the candidates that are there then, as a fraction.
    """

    at: float
    target: Target
    blow: Blow
    choice: float


def schedule(seed: int, seconds: float, mean_pause: float) -> Iterator[Strike]:
    """Draw the strikes of so many seconds."""
    draw = random.Random(seed)
    at = 2.0
    while True:
        at += draw.uniform(0.4, 1.6) * mean_pause
        if at >= seconds:
            return
        yield Strike(
            at=at,
            target=draw.choices(TARGETS, [_WEIGHTS[target] for target in TARGETS])[0],
            blow=draw.choices(BLOWS, (5, 3, 3))[0],
            choice=draw.random(),
        )
