"""Corrections: each has its own failure and its cap, counted over all attempts."""

from __future__ import annotations

import math

import pytest

from tasks.elements import Atom
from tasks.results import Correction, Failure
from worker.corrections import (
    imaginary_mode,
    mpi_start,
    numerical_hessian,
    optimisation_not_converged,
    out_of_memory,
    restart_unreadable,
    scf_not_converged,
)


def failure(error_class: str) -> Failure:
    return Failure(error_class=error_class, message="")


def rungs(name: str, made: list[Correction]) -> Correction | None:
    """Give the next correction of that name, with the settings of an engine."""
    said = failure(name)
    return {
        "scf_not_converged": lambda: scf_not_converged.correct(made, said, cycles=100, strategies=("slow", "safe")),
        "optimisation_not_converged": lambda: optimisation_not_converged.correct(
            made, said, steps=50, can_calculate_hessian=True
        ),
        "mpi_start": lambda: mpi_start.correct(made, said, processes=4),
        "imaginary_mode": lambda: imaginary_mode.correct(made, said),
        "no_analytical_hessian": lambda: numerical_hessian.correct(made, said),
        "restart_unreadable": lambda: restart_unreadable.correct(made, said),
    }[name]()


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("scf_not_converged", [{"scf": "slow", "max_scf_cycles": 400}, {"scf": "safe", "max_scf_cycles": 400}]),
        (
            "optimisation_not_converged",
            [{"max_optimisation_steps": 50}, {"max_optimisation_steps": 50, "calculate_hessian": True}],
        ),
        ("mpi_start", [{"oversubscribe": True}, {"processes": 1}]),
        ("imaginary_mode", [{"displacement_angstrom": 0.1}, {"displacement_angstrom": -0.2}]),
        ("no_analytical_hessian", [{"numerical_frequencies": True}]),
        ("restart_unreadable", [{"restart_orbitals": False}]),
    ],
)
def test_each_step_is_tried_once_and_then_no_more(name: str, changes: list[dict[str, object]]) -> None:
    made: list[Correction] = [Correction(name="another", text="")]
    for expected in changes:
        correction = rungs(name, made)
        assert correction is not None
        assert (correction.name, correction.changes) == (name, expected)
        assert correction.text.endswith(".")
        made.append(correction)
    assert rungs(name, made) is None


def test_a_correction_leaves_other_failures_alone() -> None:
    said = failure("killed")
    assert scf_not_converged.correct([], said, cycles=100, strategies=("slow",)) is None
    assert out_of_memory.correct([], said, processes=4, usable_mb=3000, needed_mb=None) is None
    assert imaginary_mode.correct([], said) is None


@pytest.mark.parametrize(
    ("processes", "needed_mb", "fewer"),
    [
        (8, None, 4),
        (8, 500.0, 5),  # 3000 / (1.1 * 500) = 5.45
        (8, 350.0, 7),  # 3000 / (1.1 * 350) = 7.8, and at least one less than before
        (2, 2700.0, 1),  # 3000 / (1.1 * 2700) = 1.01
        (2, 2800.0, None),  # 3000 / (1.1 * 2800) = 0.97: not even one
        (1, None, None),
    ],
)
def test_fewer_processes_share_the_same_memory(processes: int, needed_mb: float | None, fewer: int | None) -> None:
    said = failure("out_of_memory")
    correction = out_of_memory.correct([], said, processes=processes, usable_mb=3000, needed_mb=needed_mb)
    assert (correction.changes["processes"] if correction else None) == fewer


def test_memory_is_corrected_a_few_times_only() -> None:
    made = [Correction(name="out_of_memory", text="")] * out_of_memory.MOST
    assert out_of_memory.correct(made, failure("out_of_memory"), processes=64, usable_mb=9, needed_mb=None) is None


def test_one_process_needs_no_mpi() -> None:
    assert mpi_start.correct([], failure("mpi_start"), processes=1) is None


def test_a_displacement_goes_along_the_mode_by_the_length_of_its_largest_part() -> None:
    atoms = [Atom("O", 0.0, 0.0, 0.0), Atom("H", 1.0, 0.0, 0.0)]
    mode = (0.0, 0.0, 1.0, 0.0, 3.0, 4.0)
    moved = imaginary_mode.displaced(atoms, mode, 0.1)
    assert moved[1][1:] == pytest.approx((1.0, 0.06, 0.08))
    assert math.dist(moved[1][1:], atoms[1][1:]) == pytest.approx(0.1)
    assert moved[0][1:] == pytest.approx((0.0, 0.0, 0.02))
    assert imaginary_mode.displaced(moved, mode, -0.1)[1][1:] == pytest.approx(atoms[1][1:])
