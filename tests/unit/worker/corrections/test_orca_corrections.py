"""The corrections that ORCA needs besides those of all engines: each has its cap, counted over all attempts."""

from __future__ import annotations

import math

import pytest

from tasks.elements import Atom
from tasks.results import Correction
from worker.corrections import fewer_processes, mpi_start
from worker.corrections.known import CORRECTIONS
from worker.engines.orca_restart import displaced


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("scf_not_converged", [{"scf": "SlowConv", "max_scf_cycles": 500}, {"scf": "TRAH", "max_scf_cycles": 500}]),
        ("optimisation_not_converged", [{"continuations": 1}, {"continuations": 2}]),
        ("mpi_start", [{"oversubscribe": True}, {"processes": 1}]),
        ("imaginary_mode", [{"displacements": 1}, {"displacements": 2}]),
        ("no_analytical_hessian", [{"numerical_frequencies": True}]),
        ("restart_unreadable", [{"restart_orbitals": False}]),
    ],
)
def test_each_step_is_tried_once_and_then_no_more(name: str, changes: list[dict[str, object]]) -> None:
    made: list[Correction] = [Correction(name="another", text="")]

    def following() -> Correction | None:
        return mpi_start.correct(made, processes=4) if name == "mpi_start" else CORRECTIONS[name]("orca", made)

    for expected in changes:
        correction = following()
        assert correction is not None
        assert (correction.name, correction.changes) == (name, expected)
        made.append(correction)
    assert following() is None


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
    correction = fewer_processes.correct([], processes=processes, usable_mb=3000, needed_mb=needed_mb)
    assert (correction.changes["processes"] if correction else None) == fewer


def test_memory_is_corrected_a_few_times_only() -> None:
    made = [Correction(name="out_of_memory", text="")] * fewer_processes.CAP
    assert fewer_processes.correct(made, processes=64, usable_mb=9, needed_mb=None) is None


def test_one_process_needs_no_mpi() -> None:
    assert mpi_start.correct([], processes=1) is None


def test_a_displacement_goes_along_the_mode_by_the_length_of_its_largest_part() -> None:
    atoms = [Atom("O", 0.0, 0.0, 0.0), Atom("H", 1.0, 0.0, 0.0)]
    mode = (0.0, 0.0, 1.0, 0.0, 3.0, 4.0)
    moved = displaced(atoms, mode, 0.1)
    assert moved[1][1:] == pytest.approx((1.0, 0.06, 0.08))
    assert math.dist(moved[1][1:], atoms[1][1:]) == pytest.approx(0.1)
    assert moved[0][1:] == pytest.approx((0.0, 0.0, 0.02))
    assert displaced(moved, mode, -0.1)[1][1:] == pytest.approx(atoms[1][1:])
