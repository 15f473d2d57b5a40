"""A particle swarm in NumPy: asked for positions, told their scores; the same seed gives the same path.

Constriction form: Clerc and Kennedy, IEEE Trans. Evol. Comput. 6 (2002) 58; bests of the whole swarm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: bounds of every coordinate
LOW, HIGH = -1.0, 1.0
#: the fastest a coordinate changes in a step
FASTEST = 0.6 * (HIGH - LOW)


@dataclass(kw_only=True)
class Swarm:
    """Particles that look for the highest score in the cube from ``LOW`` to ``HIGH``.

    Attributes
    ----------
    positions, velocities, best_positions
        Of all particles, shape (particles, dimensions).
    best_scores
        The best that each particle has met, shape (particles,); minus infinity before it was told one.
    lost
        Chance of each coordinate, at each step, to be drawn anew: keeps a swarm of choices from standing still.
    """

    positions: Array
    velocities: Array
    best_positions: Array
    best_scores: Array
    generator: np.random.Generator
    inertia: float
    cognitive: float
    social: float
    lost: float = 0.0

    @classmethod
    def begin(cls, particles: int, dimensions: int, seed: int, **factors: float) -> Self:
        """Place particles evenly at random."""
        generator = np.random.Generator(np.random.PCG64(seed))
        positions = generator.uniform(LOW, HIGH, (particles, dimensions))
        return cls(
            positions=positions,
            velocities=generator.uniform(-FASTEST, FASTEST, (particles, dimensions)) / 2,
            best_positions=positions.copy(),
            best_scores=np.full(particles, -np.inf),
            generator=generator,
            **factors,
        )

    def tell(self, scores: Array) -> None:
        """Take the scores of the present positions."""
        better = scores > self.best_scores
        self.best_positions[better] = self.positions[better]
        self.best_scores[better] = scores[better]

    def move(self) -> None:
        """Go to the next positions; who meets a wall turns round at half his speed."""
        shape = self.positions.shape
        own, common = self.generator.random(shape), self.generator.random(shape)
        leader = self.best_positions[int(np.argmax(self.best_scores))]
        self.velocities = np.clip(
            self.inertia * self.velocities
            + self.cognitive * own * (self.best_positions - self.positions)
            + self.social * common * (leader - self.positions),
            -FASTEST,
            FASTEST,
        )
        self.positions = self.positions + self.velocities
        outside = (self.positions < LOW) | (self.positions > HIGH)
        self.velocities[outside] *= -0.5
        self.positions = np.clip(self.positions, LOW, HIGH)
        if self.lost:
            drawn = self.generator.random(shape) < self.lost
            self.positions[drawn] = self.generator.uniform(LOW, HIGH, shape)[drawn]

    def state(self) -> dict[str, Any]:
        """Give all of it as plain JSON values; ``restore`` goes on exactly there."""
        return {
            "positions": self.positions.tolist(),
            "velocities": self.velocities.tolist(),
            "best_positions": self.best_positions.tolist(),
            # JSON knows no infinity
            "best_scores": [None if np.isneginf(score) else float(score) for score in self.best_scores],
            "generator": self.generator.bit_generator.state,
        }

    @classmethod
    def restore(cls, state: dict[str, Any], **factors: float) -> Self:
        """Give the swarm that ``state`` was taken of."""
        bits = np.random.PCG64()
        bits.state = state["generator"]
        scores = [-np.inf if score is None else score for score in state["best_scores"]]
        return cls(
            positions=np.array(state["positions"], dtype=float),
            velocities=np.array(state["velocities"], dtype=float),
            best_positions=np.array(state["best_positions"], dtype=float),
            best_scores=np.array(scores, dtype=float),
            generator=np.random.Generator(bits),
            **factors,
        )
