"""Mean square displacements and diffusion coefficients of molecules in a periodic box, with errors from blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import tidynamics
from MDAnalysis.lib.distances import minimize_vectors
from numpy.typing import NDArray

Array = NDArray[np.float64]
#: nm² per ps in m² per s
_M2_PER_S = 1e-6


@dataclass(frozen=True, kw_only=True)
class Fit:
    """The slope of a mean square displacement as a diffusion coefficient, in m²/s."""

    coefficient: float
    error: float


class Unwrapper:
    """Follows molecules through the walls of a box whose size may fluctuate.

    Centres of mass are followed by their shortest displacements from frame to frame, which gives the right diffusion
    also at constant pressure (von Bülow, Bullerjahn, Hummer, J. Chem. Phys. 153 (2020) 021101), as long as no molecule
    moves half a box between two frames.
    """

    def __init__(self, molecules: list[NDArray[np.int64]], masses: Array) -> None:
        self._first = np.array([atoms[0] for atoms in molecules])
        self._atoms = np.concatenate(molecules)
        self._owner = np.repeat(np.arange(len(molecules)), [len(atoms) for atoms in molecules])
        self._weight = masses[self._atoms]
        self._total = np.bincount(self._owner, self._weight)
        self._before: Array | None = None
        self._now = np.zeros((len(molecules), 3))
        #: largest extent of a molecule from its first atom so far, in ångström
        self.extent = 0.0

    def __call__(self, positions: NDArray[np.float32], box: NDArray[np.float32]) -> Array:
        """Give the unwrapped centres of one frame, shape (molecules, 3), in ångström."""
        from_first = positions[self._atoms] - positions[self._first][self._owner]
        from_first = minimize_vectors(np.ascontiguousarray(from_first, dtype=np.float32), box)
        self.extent = max(self.extent, float(np.sqrt((from_first**2).sum(axis=1).max())))
        centre = np.array(
            [np.bincount(self._owner, self._weight * from_first[:, axis]) / self._total for axis in range(3)]
        ).T
        wrapped = positions[self._first] + centre
        if self._before is None:
            self._now = wrapped.astype(np.float64)
        else:
            moved = minimize_vectors(np.ascontiguousarray(wrapped - self._before, dtype=np.float32), box)
            self._now = self._now + moved
        self._before = wrapped
        return self._now


def mean_square_displacement(centres: NDArray[np.floating]) -> Array:
    """Give the mean over molecules and time origins, shape (frames,), in the square of the unit of ``centres``.

    Parameters
    ----------
    centres
        Unwrapped, shape (frames, molecules, 3). Computed by the fast correlation algorithm (tidynamics).
    """
    each = [
        tidynamics.msd(np.ascontiguousarray(centres[:, one, :], dtype=np.float64)) for one in range(centres.shape[1])
    ]
    mean = np.asarray(np.mean(each, axis=0), dtype=np.float64)
    mean[0] = 0.0  # up to the rounding of the transform
    return mean


def slope(times: Array, displacement: Array, window: tuple[float, float]) -> float:
    """Give the slope of the line through the points of a window, by least squares."""
    inside = (times >= window[0] - 1e-6) & (times <= window[1] + 1e-6)
    return float(np.polyfit(times[inside], displacement[inside], 1)[0])


def diffusion(centres_nm: NDArray[np.floating], spacing_ps: float, window_ps: tuple[float, float], blocks: int) -> Fit:
    """Fit Einstein's relation in three dimensions, MSD = 6 D t.

    The value is that of the whole trajectory; the error is the standard error of the mean over blocks, each fitted in
    the same window.
    """
    times: Array = np.arange(len(centres_nm), dtype=np.float64) * spacing_ps
    whole = slope(times, mean_square_displacement(centres_nm), window_ps) / 6 * _M2_PER_S
    length = len(centres_nm) // blocks
    parts = []
    for block in range(blocks):
        part = centres_nm[block * length : (block + 1) * length + 1]
        parts.append(slope(times[: len(part)], mean_square_displacement(part), window_ps) / 6 * _M2_PER_S)
    return Fit(coefficient=whole, error=float(np.std(parts, ddof=1) / np.sqrt(blocks)))


def block_mean(values: Array, blocks: int) -> tuple[float, float | None]:
    """Give the mean of a series, and its standard error from the means of blocks; None: fewer values than blocks."""
    mean = float(np.mean(values))
    if len(values) < blocks:
        return mean, None
    means = [float(np.mean(part)) for part in np.array_split(values, blocks)]
    return mean, float(np.std(means, ddof=1) / np.sqrt(blocks))
