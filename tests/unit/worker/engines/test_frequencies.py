"""Frequencies of PySCF and xtb: the numbers, what is said of saddle points, and being killed half-way."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pytest
from pyscf import gto, scf
from pyscf.hessian import thermo

from tasks.elements import parse_xyz
from tasks.results import QuantumResult
from tasks.specs import QuantumSpec, parse_spec
from tests.conftest import eventually
from tests.unit.worker.harness import METHYLAMMONIUM, WATER, bench_for, corrected, keep, run, start
from worker.engines.base import Bench, Exit
from worker.engines.pyscf import PySCF
from worker.engines.quantum import OwnProgram
from worker.engines.xtb import XTB
from worker.programs.common import HESSIAN_FILE

PLANAR_AMMONIA = "4\nammonia\nN 0 0 0\nH 0 1.00 0\nH 0.86603 -0.50 0\nH -0.86603 -0.50 0\n"
SMALL = {"method": "HF", "basis": "STO-3G"}
TIGHT_BINDING = {"method": "GFN2-xTB", "basis": None, "engine": "xtb"}


def spec(xyz: str = WATER, **fields: object) -> QuantumSpec:
    given = {"molecule": {"xyz": xyz}, "charge": 0, "engine": "pyscf", "task": "frequencies"}
    parsed = parse_spec({**given, **fields})
    assert isinstance(parsed, QuantumSpec)
    return parsed


def finish(engine: OwnProgram, bench: Bench[QuantumSpec]) -> QuantumResult:
    exits = run(engine, bench)
    assert engine.ended_well(bench, exits), engine.diagnose(bench, exits)
    collected = engine.collect(bench)
    assert collected.files["hessian"].stat().st_size
    assert isinstance(collected.result, QuantumResult)
    return collected.result


def pieces(bench: Bench[QuantumSpec]) -> int:
    """Count the pieces of the Hessian that a program has computed itself."""
    return (bench.scratch / "output.log").read_text().count("\nHessian: ")


def test_water_has_the_published_frequencies_and_the_thermochemistry_of_an_independent_program(
    pyscf: PySCF, tmp_path: Path
) -> None:
    """Hehre, Radom, Schleyer, Pople, Ab Initio Molecular Orbital Theory (1986), HF/3-21G: 1799, 3812, 3946 per cm.

    Thermochemistry by ``pyscf.hessian.thermo`` from PySCF's own Hessian, at 350 K and 2 bar; its masses are also
    averages over isotopes.
    """
    asked = spec(
        task="optimisation_frequencies", method="HF", basis="3-21G", density_fitting=False,
        temperature_kelvin=350.0, pressure_pascal=2e5,
    )  # fmt: skip
    result = finish(pyscf, bench_for(asked, tmp_path / "scratch"))
    assert result.energy_hartree == pytest.approx(-75.58596, abs=1e-5)
    assert result.frequencies_per_cm == pytest.approx((1799, 3812, 3946), abs=3)
    assert (result.imaginary_modes, result.symmetry_number) == (0, 2)
    assert result.largest_gradient_hartree_per_bohr is not None
    assert result.largest_gradient_hartree_per_bohr < 4.5e-4
    atoms = [(atom.symbol, atom[1:]) for atom in parse_xyz(result.xyz or "")]
    mf = scf.RHF(gto.M(atom=atoms, basis="3-21g", verbose=0)).run(conv_tol=1e-12)
    modes = thermo.harmonic_analysis(mf.mol, mf.Hessian().kernel())
    mf.mol.symmetry_number = 2
    known = thermo.thermo(mf, modes["freq_au"], 350.0, 2e5)
    assert result.frequencies_per_cm == pytest.approx(modes["freq_wavenumber"], abs=0.5)
    assert result.zero_point_energy_hartree == pytest.approx(known["ZPE"][0], abs=1e-6)
    assert result.enthalpy_hartree == pytest.approx(known["H_tot"][0], abs=2e-6)
    # PySCF detects no symmetry unless asked: a symmetry number of 2 is R ln 2 less.
    rotations = known["sym_number"][0]
    less = 3.1668115634556e-6 * np.log(2 / rotations)
    assert result.entropy_hartree_per_kelvin == pytest.approx(known["S_tot"][0] - less, abs=1e-8)
    assert result.gibbs_energy_hartree == pytest.approx(known["G_tot"][0] + 350 * less, abs=4e-6)
    assert (result.temperature_kelvin, result.pressure_pascal) == (350.0, 2e5)


def test_tight_binding_water_has_the_frequencies_of_the_xtb_program(xtb: XTB, tmp_path: Path) -> None:
    """xtb 6.5.1, ``xtb water.xyz --gfn 2 --ohess``: 1538.96, 3643.73 and 3652.41 per cm, total enthalpy -5.046635 Eh,
    total free energy -5.068034 Eh at 298.15 K and 1 atm, rotational number 2.
    """
    result = finish(xtb, bench_for(spec(task="optimisation_frequencies", **TIGHT_BINDING), tmp_path / "scratch"))
    assert result.frequencies_per_cm == pytest.approx((1538.96, 3643.73, 3652.41), abs=3)
    assert (result.imaginary_modes, result.symmetry_number) == (0, 2)
    assert result.enthalpy_hartree == pytest.approx(-5.046635, abs=2e-5)
    assert result.gibbs_energy_hartree == pytest.approx(-5.068034, abs=3e-5)


def test_a_geometry_that_is_not_stationary_is_said_to_be_none(xtb: XTB, tmp_path: Path) -> None:
    bench = bench_for(spec("3\nbent too far\nO 0 0 0\nH 0 0 1.2\nH 0 1.2 0\n", **TIGHT_BINDING), tmp_path / "scratch")
    result = finish(xtb, bench)
    assert result.largest_gradient_hartree_per_bohr is not None
    assert result.largest_gradient_hartree_per_bohr > 0.01
    assert "NOT STATIONARY" in (bench.scratch / "output.log").read_text()


@pytest.mark.parametrize("which", ["pyscf", "xtb"])
def test_frequencies_of_a_saddle_point_are_given_with_its_imaginary_mode(
    which: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Planar ammonia, close to its saddle point: one imaginary mode, and the others real."""
    engine = request.getfixturevalue(which)
    fields = SMALL if which == "pyscf" else TIGHT_BINDING
    result = finish(engine, bench_for(spec(PLANAR_AMMONIA, **fields), tmp_path / "scratch"))
    assert result.frequencies_per_cm is not None
    assert result.imaginary_modes == 1
    assert result.frequencies_per_cm[0] < -300
    assert result.frequencies_per_cm[1] > 500
    assert result.symmetry_number == 6


@pytest.mark.parametrize("which", ["pyscf", "xtb"])
def test_an_optimisation_on_a_saddle_point_is_moved_off_it_and_ends_in_the_minimum(
    which: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    engine = request.getfixturevalue(which)
    fields = {"task": "optimisation_frequencies", **(SMALL if which == "pyscf" else TIGHT_BINDING)}
    bench = bench_for(spec(PLANAR_AMMONIA, **fields), tmp_path / "scratch")
    exits = run(engine, bench)
    failure = engine.diagnose(bench, exits)
    assert (failure.error_class, failure.permanent) == ("imaginary_mode", False)
    correction = engine.correct(bench, failure)
    assert correction is not None
    assert correction.changes == {"displacements": 1}
    result = finish(engine, corrected(engine, bench, correction))
    assert result.imaginary_modes == 0
    assert result.symmetry_number == 3
    used_up = bench_for(bench.spec, tmp_path / "used up")
    both = (correction, correction.model_copy(update={"changes": {"displacements": 2}}))
    assert engine.correct(Bench(**{**vars(used_up), "corrections": both}), failure) is None


def test_an_atom_has_thermochemistry_and_no_frequencies(pyscf: PySCF, xtb: XTB, tmp_path: Path) -> None:
    """Sackur and Tetrode for argon at 298.15 K and 1 bar: 154.846 J/(K mol) (CODATA key values, 1989)."""
    argon = {"xyz": "1\nAr\nAr 1 2 3\n", "pressure_pascal": 1e5}
    for engine, fields in ((pyscf, SMALL), (xtb, TIGHT_BINDING)):
        bench = bench_for(spec(**argon, **fields), tmp_path / engine.name)
        exits = run(engine, bench)
        assert engine.ended_well(bench, exits), engine.diagnose(bench, exits)
        result = engine.collect(bench).result
        assert isinstance(result, QuantumResult)
        assert result.frequencies_per_cm == ()
        assert result.entropy_hartree_per_kelvin == pytest.approx(154.846 / 2_625_499.639, rel=1e-5)


def killed_half_way(engine: OwnProgram, bench: Bench[QuantumSpec], count: int) -> None:
    (command,) = engine.prepare(bench)
    process = start(command, bench.scratch)

    def done() -> int:
        assert process.poll() is None, (bench.scratch / "output.log").read_text()
        progress = engine.progress(bench)
        return progress.step or 0 if progress and progress.stage == "frequencies" else 0

    eventually(lambda: done() >= count, seconds=120)
    process.send_signal(signal.SIGKILL)
    exits = [Exit(code=process.wait())]
    assert not engine.ended_well(bench, exits)
    assert engine.diagnose(bench, exits).error_class == "killed"


@pytest.mark.parametrize(
    ("which", "xyz", "fields", "total", "at"),
    [
        # Three atoms are 18 displacements, eight are 48; without a solvent PySCF takes them one by one.
        ("pyscf", WATER, {**SMALL, "solvent": "water"}, 18, 5),
        pytest.param(
            "pyscf", METHYLAMMONIUM, {"method": "HF", "basis": "6-31G", "charge": 1}, 8, 3, marks=pytest.mark.slow
        ),
        ("xtb", METHYLAMMONIUM, {**TIGHT_BINDING, "charge": 1}, 48, 5),
    ],
)
def test_frequencies_killed_half_way_lose_at_most_one_piece_of_the_hessian(
    which: str, xyz: str, fields: dict[str, object], total: int, at: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    engine = request.getfixturevalue(which)
    asked = spec(xyz, **fields)
    whole = finish(engine, bench_for(asked, tmp_path / "undisturbed"))
    first = bench_for(asked, tmp_path / "killed")
    killed_half_way(engine, first, at)
    reached = pieces(first)
    assert reached >= at
    checkpoint = keep(engine, first, tmp_path / "checkpoint")
    assert (checkpoint / HESSIAN_FILE).exists()
    second = bench_for(asked, tmp_path / "continued", checkpoint)
    result = finish(engine, second)
    # One more may have been kept that was not told of any more.
    partial = 1 if which == "pyscf" and "solvent" not in fields else 0
    assert total - reached - 1 <= pieces(second) - partial <= total - reached
    assert pieces(second) < total
    assert result.energy_hartree == pytest.approx(whole.energy_hartree, abs=1e-6)
    assert result.frequencies_per_cm == pytest.approx(whole.frequencies_per_cm, abs=0.5)
    assert result.gibbs_energy_hartree == pytest.approx(whole.gibbs_energy_hartree, abs=1e-6)


def test_pieces_of_another_geometry_or_a_damaged_file_are_not_used(xtb: XTB, tmp_path: Path) -> None:
    first = bench_for(spec(**TIGHT_BINDING), tmp_path / "first")
    finish(xtb, first)
    folder = keep(xtb, first, tmp_path / "checkpoint")
    moved = spec(WATER.replace("0.119262", "0.129262"), **TIGHT_BINDING)
    assert pieces_after(xtb, moved, tmp_path / "moved", folder) == 18
    (folder / HESSIAN_FILE).write_bytes(b"PK\x03\x04 not all of it")
    assert pieces_after(xtb, first.spec, tmp_path / "damaged", folder) == 18


def pieces_after(engine: OwnProgram, asked: QuantumSpec, scratch: Path, restart: Path) -> int:
    bench = bench_for(asked, scratch, restart)
    finish(engine, bench)
    return pieces(bench)
