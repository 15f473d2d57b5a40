from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import missing

try:
    from worker.programs.diffusion import Unwrapper, block_mean, diffusion, mean_square_displacement
except ImportError:
    missing("the extra md (MDAnalysis, tidynamics)")


def walk(steps: int, walkers: int, length_nm: float, seed: int = 7) -> np.ndarray:
    """Give a random walk with steps of a normal distribution, shape (steps, walkers, 3), in nm."""
    generator = np.random.default_rng(seed)
    return np.cumsum(generator.normal(scale=length_nm, size=(steps, walkers, 3)), axis=0)


def test_the_displacement_is_that_of_its_definition() -> None:
    path = walk(60, 4, 0.1)
    expected = [np.mean(((path[lag:] - path[: len(path) - lag]) ** 2).sum(axis=2)) for lag in range(1, 60)]
    assert mean_square_displacement(path)[0] == 0
    assert mean_square_displacement(path)[1:] == pytest.approx(expected, rel=1e-6)


def test_a_random_walk_has_its_diffusion_coefficient_within_its_error() -> None:
    # Each step of 1 ps adds 0.1² nm² in each of three directions: MSD = 3 * 0.01 t = 6 D t, D = 5e-9 m²/s.
    fit = diffusion(walk(2001, 40, 0.1), 1.0, (5, 40), 5)
    assert fit.coefficient == pytest.approx(5e-9, abs=4 * fit.error)
    assert 0 < fit.error < 0.5e-9


def test_molecules_are_followed_through_the_walls_of_a_box_that_fluctuates() -> None:
    # Two molecules of two atoms each in ångström, wrapped atom by atom into a box that breathes by 2 %.
    path = walk(200, 2, 1.0) + 10
    bond = np.array([[0.5, 0.0, 0.0], [-0.5, 0.0, 0.0]])
    unwrap = Unwrapper([np.array([0, 1]), np.array([2, 3])], np.ones(4))
    edges = 20 + 0.2 * np.sin(np.arange(200))
    found = []
    for centres, edge in zip(path, edges, strict=True):
        atoms = (centres[:, None, :] + bond).reshape(4, 3) % edge
        box = np.array([edge, edge, edge, 90, 90, 90], dtype=np.float32)
        found.append(unwrap(atoms.astype(np.float32), box))
    moved = np.diff(np.array(found), axis=0)
    # A crossing of a wall in a box of another size than the frame before is off by that difference, and no more.
    assert np.abs(moved - np.diff(path, axis=0)).max() < 0.8
    assert np.abs(moved).max() < 6
    assert unwrap.extent == pytest.approx(1.0, abs=1e-4)


def test_the_error_of_a_mean_comes_from_its_blocks() -> None:
    # Blocks of means 1, 2 and 3: their standard deviation is 1, that of the mean 1/√3.
    assert block_mean(np.array([1.0, 1, 2, 2, 3, 3]), 3) == (2.0, pytest.approx(1 / np.sqrt(3)))
    assert block_mean(np.array([1.0, 3]), 3) == (2.0, None)
