"""ORCA's output: every value that it holds, none that it does not hold, and nothing of what did not finish."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.elements import parse_xyz
from tasks.results import QuantumResult
from worker.engines.orca import Orca
from worker.engines.orca_failure import needed_mb, told_failure
from worker.engines.orca_output import OrcaOutput, read_output
from worker.engines.orca_progress import read_progress
from worker.engines.orca_restart import read_hessian

OUTPUTS = Path(__file__).parent / "orca_outputs"


def read(name: str) -> tuple[OrcaOutput, QuantumResult]:
    out = read_output(OUTPUTS / name)
    result = out.result()
    assert result is not None
    return out, result


def failure_of(text: str, tmp_path: Path) -> tuple[str, tuple[str, ...], str]:
    path = tmp_path / "output.log"
    path.write_text(text)
    failure = told_failure(read_output(path), text.splitlines())
    assert failure is not None
    return failure.error_class, failure.evidence, failure.remedy


def test_an_optimisation_with_frequencies_gives_all_values_of_its_last_geometry() -> None:
    out, result = read("optimised_6.out")
    assert (out.version, out.terminated, out.optimised, out.unconverged) == ("6.0.1", True, True, False)
    assert out.marks == []
    assert result.energy_hartree == -76.359000333333
    assert (result.homo_ev, result.lumo_ev) == (-8.1, 1.3)
    assert result.gap_ev == pytest.approx(9.4)
    assert result.dipole_debye == 1.95
    assert result.mulliken_charges == (-0.31, 0.155, 0.155)
    assert result.loewdin_charges == (-0.21, 0.105, 0.105)
    assert (result.scf_cycles, result.optimisation_steps) == (9 + 6 + 4, 2)
    assert parse_xyz(result.xyz or "")[1][1:] == (0.0, 0.757, -0.47)
    assert result.level == "B3LYP/G def2-SVP RIJCOSX def2/J TightSCF Opt Freq"


def test_thermochemistry_agrees_with_a_hand_calculation() -> None:
    """Zero point energy: half of the sum of the frequencies; S = TS/T; G = H - TS (any textbook)."""
    _, result = read("optimised_6.out")
    assert result.frequencies_per_cm == (1640.0, 3750.0, 3850.0)
    zero_point = sum(result.frequencies_per_cm) / 2 / 219474.6313632
    assert result.zero_point_energy_hartree == pytest.approx(zero_point, abs=1e-8)
    assert (result.imaginary_modes, result.symmetry_number) == (0, 2)
    assert result.temperature_kelvin == 298.15
    assert result.pressure_pascal == 101_325.0
    entropy = result.entropy_hartree_per_kelvin
    assert entropy == pytest.approx(0.02145 / 298.15)
    assert result.enthalpy_hartree is not None and entropy is not None
    assert result.gibbs_energy_hartree == pytest.approx(result.enthalpy_hartree - 298.15 * entropy, abs=2e-8)


def test_a_radical_has_the_frontier_orbitals_of_both_spins_in_orca_5() -> None:
    out, result = read("radical_5.out")
    assert out.version == "5.0.4"
    # HOMO: spin up, -9.2519; LUMO: spin down, -1.3606.
    assert (result.homo_ev, result.lumo_ev) == (-9.2519, -1.3606)
    assert result.mulliken_charges == (-0.25, 0.25)
    assert result.loewdin_charges == (-0.18, 0.18)
    absent = ("frequencies_per_cm", "gibbs_energy_hartree", "temperature_kelvin", "optimisation_steps")
    assert [getattr(result, name) for name in absent] == [None] * 4


def test_an_optimisation_out_of_cycles_keeps_nothing_of_an_earlier_geometry() -> None:
    parsed = Orca.parse(OUTPUTS / "out_of_cycles_6.out")
    assert parsed.state == "failed"
    assert parsed.failure is not None
    assert parsed.failure.error_class == "optimisation_not_converged"
    result = parsed.result
    assert isinstance(result, QuantumResult)
    assert result.energy_hartree == -76.358900222222
    assert parse_xyz(result.xyz or "")[1].y == 0.758
    # Printed for the first geometry only.
    assert (result.homo_ev, result.mulliken_charges, result.dipole_debye) == (None, None, None)


@pytest.mark.parametrize("name", ["optimised_6.out", "radical_5.out"])
def test_an_output_cut_anywhere_gives_only_values_that_were_complete(name: str, tmp_path: Path) -> None:
    text = (OUTPUTS / name).read_text()
    energies = {-76.358000111111, -76.358900222222, -76.359000333333, -75.612345678901, None}
    charges = {(-0.30, 0.15, 0.15), (-0.31, 0.155, 0.155), (-0.25, 0.25), None}
    homos = {-8.0, -8.1, -9.2519, None}
    dipoles, geometries = {1.95, 1.8, None}, {0.763239, 0.758, 0.757, 0.0, None}
    path = tmp_path / "cut.out"
    for end in range(0, len(text) - 100, 11):
        path.write_text(text[:end])
        out = read_output(path)
        step = out.step
        assert not out.terminated
        assert step.energy_hartree in energies, end
        assert step.mulliken in charges, end
        assert step.homo_ev in homos, end
        assert step.dipole_debye in dipoles, end
        assert (step.geometry[1].y if step.geometry else None) in geometries, end
        assert step.frequencies_per_cm in ((1640.0, 3750.0, 3850.0), None), end
        assert len(step.thermochemistry) in (0, 6, 7), end
        assert Orca.parse(path).state == "unfinished", end


def test_words_of_the_user_s_own_input_are_no_marks(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    path.write_text("|  1> ! HF STO-3G\n|  2> # ****ORCA TERMINATED NORMALLY**** HURRAY*** INPUT ERROR\n")
    out = read_output(path)
    assert (out.terminated, out.optimised, out.marks, out.keywords) == (False, False, [], ["HF STO-3G"])


GRADIENT = "MAX gradient                       ...    0.0012287748"
STEP = "* GEOMETRY OPTIMIZATION CYCLE   4  *"
SCF_CYCLE = "    1    -382.0027940390585854     0.00e+00  4.51e-03  4.25e-02  7.65e-02  0.700   1.1\n"


@pytest.mark.parametrize(
    ("text", "error_class", "evidence", "remedy"),
    [
        (
            "  !!!\n  INPUT ERROR\n  UNRECOGNIZED OR DUPLICATED KEYWORD(S) IN SIMPLE INPUT LINE\n  XTB9\n  !!!\n",
            "bad_input",
            "XTB9",
            "Check charge",
        ),
        (
            "Error : multiplicity (2) is even and number of electrons (10) is even -> impossible\n",
            "bad_input",
            "multiplicity (2) is even",
            "multiplicity",
        ),
        (
            "  Error  (ORCA_SCF): Not enough memory available!\n   Memory available for SCF calculation:  8 MB\n"
            "   Memory needed (estimated) :  289 MB\n   ====>  Please increase MaxCore to more than:  289 MB\n",
            "out_of_memory",
            "Please increase MaxCore to more than:  289 MB",
            "to at least 386 MB for each core",
        ),
        (SCF_CYCLE + "  SCF NOT CONVERGED AFTER 125 CYCLES\n", "scf_not_converged", "AFTER 125 CYCLES", "geometry"),
        ("sh: 1: mpirun: not found\n .... aborting the run\n", "mpi_start", "mpirun: not found", "engines.toml"),
        (
            SCF_CYCLE + "ORCA finished by error termination in SCF gradient\n  .... aborting the run\n",
            "program_failed",
            "ORCA finished by error termination in SCF gradient",
            "Read the output",
        ),
        (
            SCF_CYCLE + "mpirun noticed that process rank 1 exited on signal 9 (Killed).\n  .... aborting the run\n",
            "killed",
            "exited on signal 9",
            "",
        ),
        ("no orbitals found in the .gbw file\n  .... aborting the run\n", "restart_unreadable", "no orbitals", ""),
    ],
)
def test_each_failure_has_its_class_its_decisive_lines_and_what_to_try(
    text: str, error_class: str, evidence: str, remedy: str, tmp_path: Path
) -> None:
    found, lines, what = failure_of(text, tmp_path)
    assert found == error_class
    assert any(evidence in line for line in lines), lines
    assert remedy in what


def test_memory_that_is_needed_is_read_from_the_failure() -> None:
    assert needed_mb(["Memory needed (estimated) :  289 MB", "increase MaxCore to more than:  301.5 MB"]) == 301.5
    assert needed_mb(["out of memory"]) is None


@pytest.mark.parametrize(
    ("lines", "optimises", "text", "step"),
    [
        ([SCF_CYCLE], False, "SCF cycle 1, -382.00279 Eh", 1),
        (
            ["* GEOMETRY OPTIMIZATION CYCLE   3  *", SCF_CYCLE],
            True,
            "optimisation step 3, SCF cycle 1, -382.00279 Eh",
            3,
        ),
        (
            [
                "MAX gradient                       ...    0.0012287748",
                "* GEOMETRY OPTIMIZATION CYCLE   4  *",
                SCF_CYCLE,
            ],
            True,
            "optimisation step 4, SCF cycle 1, -382.00279 Eh, largest gradient 1.2e-03 Eh/bohr",
            4,
        ),
        ([SCF_CYCLE, "  ORCA SCF HESSIAN"], False, "second derivatives, -382.00279 Eh", None),
        (["  0   -75.983312345678   0.000000000000 0.06250 0.002 0.1 0.7000"], False, "SCF cycle 0, -75.98331 Eh", 0),
    ],
)
def test_progress_tells_cycle_step_energy_and_gradient(
    lines: list[str], optimises: bool, text: str, step: int | None
) -> None:
    progress = read_progress(lines, optimises=optimises)
    assert progress is not None
    assert (progress.text, progress.step) == (text, step)


def test_there_is_no_progress_before_the_first_cycle() -> None:
    assert read_progress(["Program Version 6.0.1", "Iteration    Energy (Eh)"], optimises=False) is None


HESSIAN = """$orca_hessian_file

$vibrational_frequencies
6
    0        0.000000
    1        0.000000
    2        0.000000
    3        0.000000
    4        0.000000
    5     -320.500000

$normal_modes
6 6
                  0          1          2          3          4
    0       1.0 0.0 0.0 0.0 0.0
    1       0.0 1.0 0.0 0.0 0.0
    2       0.0 0.0 1.0 0.0 0.0
    3       0.0 0.0 0.0 1.0 0.0
    4       0.0 0.0 0.0 0.0 1.0
    5       0.0 0.0 0.0 0.0 0.0
                  5
    0       0.1
    1       0.2
    2       0.3
    3       0.4
    4       0.5
    5       0.6

$end
"""


def test_modes_are_read_from_a_whole_hessian_file_only(tmp_path: Path) -> None:
    path = tmp_path / "job.hess"
    path.write_text(HESSIAN)
    hessian = read_hessian(path)
    assert hessian is not None
    assert hessian.frequencies_per_cm[5] == -320.5
    assert hessian.modes[5] == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    assert hessian.modes[1] == (0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    path.write_text(HESSIAN.removesuffix("\n$end\n"))
    assert read_hessian(path) is None
    path.write_text(HESSIAN.replace("    5       0.6\n", ""))
    assert read_hessian(path) is None
    assert read_hessian(tmp_path / "none.hess") is None
