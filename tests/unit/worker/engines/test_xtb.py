"""GFN2-xTB and GFN1-xTB against the values in tblite's and xtb's own documentation."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from ase.build import molecule
from ase.io import read

from tasks.elements import Atom, parse_xyz, write_xyz
from tasks.errors import InputError
from tasks.results import QuantumResult
from tasks.specs import QuantumSpec, parse_spec
from tests.conftest import eventually
from tests.unit.worker.harness import METHYLAMMONIUM, WATER, bench_for, keep, run, start, water_shape
from worker.engines.base import Exit
from worker.engines.xtb import ALPB_SOLVENTS, XTB
from worker.programs.common import JOB_FILE, QuantumJob
from worker.programs.xtb_job import ase_atoms, calculator_of

_EV = 27.211386245988


def spec(xyz: str = WATER, charge: int = 0, **fields: object) -> QuantumSpec:
    parsed = parse_spec({"molecule": {"xyz": xyz}, "charge": charge, "method": "GFN2", "engine": "xtb", **fields})
    assert isinstance(parsed, QuantumSpec)
    return parsed


def finish(engine: XTB, asked: QuantumSpec, scratch: Path, restart: Path | None = None) -> QuantumResult:
    bench = bench_for(asked, scratch, restart)
    exits = run(engine, bench)
    assert engine.ended_well(bench, exits), engine.diagnose(bench, exits)
    collected = engine.collect(bench)
    assert all(file.stat().st_size for file in collected.files.values())
    assert isinstance(collected.result, QuantumResult)
    return collected.result


def moved(xyz: str, x: float) -> str:
    return write_xyz([Atom(atom.symbol, atom.x + x, atom.y, atom.z) for atom in parse_xyz(xyz)])


def stretched_chain() -> str:
    """Give 24 carbon atoms in a row with bonds far too long: many steps to relax."""
    return write_xyz([Atom("C", 1.9 * i, 0.6 * (i % 2), 0.0) for i in range(24)])


@pytest.mark.parametrize(("method", "ev"), [("GFN2-xTB", -137.96777594361677), ("GFN1-xTB", -156.96750590276173)])
def test_water_has_the_energy_of_the_documentation(xtb: XTB, tmp_path: Path, method: str, ev: float) -> None:
    """tblite's documentation of ``tblite.ase``, for ``ase.build.molecule("H2O")``."""
    result = finish(xtb, spec(method=method), tmp_path / "scratch")
    assert result.energy_hartree == pytest.approx(ev / _EV, abs=1e-6)
    assert result.level == method
    assert (result.gap_ev or 0) == pytest.approx((result.lumo_ev or 0) - (result.homo_ev or 0))


def test_dipole_and_charges_are_those_of_the_documentation(xtb: XTB, tmp_path: Path) -> None:
    """tblite's documentation of ``tblite.ase``: 0.476020974 e Å, and the charges for GFN1-xTB's water."""
    assert parse_xyz(WATER)[1].y == pytest.approx(molecule("H2O").positions[1][1])
    second = finish(xtb, spec(), tmp_path / "gfn2")
    assert second.dipole_debye == pytest.approx(0.476020974 * 4.80320471, abs=1e-4)
    first = finish(xtb, spec(method="GFN1-xTB"), tmp_path / "gfn1")
    assert first.mulliken_charges == pytest.approx((-0.66558478, 0.33279239, 0.33279239), abs=1e-5)


def test_optimised_water_has_the_energy_that_xtb_prints(xtb: XTB, tmp_path: Path) -> None:
    """xtb's documentation (optimised GFN2-xTB water): -5.070544 Eh; geometry 0.959 Å and 107.2 degrees."""
    result = finish(xtb, spec(task="optimisation"), tmp_path / "scratch")
    length, angle = water_shape(result.xyz or "")
    assert result.energy_hartree == pytest.approx(-5.070544, abs=2e-6)
    assert length == pytest.approx(0.959, abs=0.002)
    assert angle == pytest.approx(107.2, abs=0.5)
    assert (result.optimisation_steps or 0) > 1


def test_an_ion_has_the_same_dipole_wherever_it_lies(xtb: XTB, tmp_path: Path) -> None:
    hydroxide = "2\nOH-\nO 0 0 0\nH 0 0 0.97\n"
    one = finish(xtb, spec(hydroxide, charge=-1), tmp_path / "here")
    two = finish(xtb, spec(moved(hydroxide, 25.0), charge=-1), tmp_path / "there")
    assert one.dipole_debye == pytest.approx(two.dipole_debye, abs=1e-4)


def test_a_radical_is_a_doublet_with_a_gap_above_its_unpaired_electron(xtb: XTB, tmp_path: Path) -> None:
    result = finish(xtb, spec(charge=1), tmp_path / "scratch")
    prepared = QuantumJob.model_validate_json((tmp_path / "scratch" / JOB_FILE).read_bytes())
    assert prepared.multiplicity == 2
    assert (result.gap_ev or 0) > 1.0


def test_water_likes_water_and_every_solvent_that_is_offered_works(xtb: XTB, tmp_path: Path) -> None:
    gas, wet = finish(xtb, spec(), tmp_path / "gas"), finish(xtb, spec(solvent="water"), tmp_path / "wet")
    assert wet.energy_hartree < gas.energy_hartree
    assert wet.level == "GFN2-xTB (ALPB water)"
    for solvent in ALPB_SOLVENTS:
        given = {"xyz": WATER, "charge": 0, "multiplicity": 1, "task": "single_point", "method": "GFN1-xTB"}
        job = QuantumJob.model_validate({**given, "memory_mb": 100, "solvent": solvent})
        assert float(calculator_of(job, ase_atoms(job.atoms)).singlepoint().get("energy")) < -5.7


@pytest.mark.parametrize(
    ("change", "error_class", "task"),
    [
        ({"max_scf_cycles": 2}, "scf_not_converged", "single_point"),
        ({"max_scf_cycles": 2}, "scf_not_converged", "optimisation"),
        ({"max_optimisation_steps": 2}, "optimisation_not_converged", "optimisation"),
        ({"multiplicity": 2}, "bad_input", "single_point"),
    ],
)
def test_what_does_not_converge_is_a_failure(
    xtb: XTB, tmp_path: Path, change: dict[str, object], error_class: str, task: str
) -> None:
    def edit(scratch: Path) -> None:
        prepared = json.loads((scratch / JOB_FILE).read_text())
        (scratch / JOB_FILE).write_text(json.dumps({**prepared, **change}))

    bench = bench_for(spec(task=task), tmp_path / "scratch")
    exits = run(xtb, bench, edit)
    assert not xtb.ended_well(bench, exits)
    assert xtb.diagnose(bench, exits).error_class == error_class


def test_an_optimisation_stopped_by_sigterm_goes_on_from_its_geometry(xtb: XTB, tmp_path: Path) -> None:
    bench = bench_for(spec(stretched_chain(), task="optimisation"), tmp_path / "stopped")
    (command,) = xtb.prepare(bench)
    process = start(command, bench.scratch)
    eventually(lambda: xtb.snapshot(bench) is not None)
    process.send_signal(signal.SIGTERM)
    exits = [Exit(code=process.wait(timeout=10))]
    assert not xtb.ended_well(bench, exits)
    assert xtb.diagnose(bench, exits).error_class == "killed"

    checkpoint = keep(xtb, bench, tmp_path / "checkpoint")
    again = bench_for(bench.spec, tmp_path / "again", checkpoint)
    (command,) = xtb.prepare(again)
    process = start(command, again.scratch)
    last = json.loads((checkpoint / "restart.json").read_text())["optimisation_steps"]
    # The restart point that it begins with lies there from the start.
    eventually(lambda: json.loads((again.scratch / "restart.json").read_text())["optimisation_steps"] > last)
    eventually((again.scratch / "geometry.xyz").exists)
    process.kill()
    process.wait()
    assert "RESTARTED after optimisation step" in (again.scratch / "output.log").read_text()
    assert len(read(again.scratch / "geometry.xyz")) == 24


def test_loewdin_charges_sum_to_the_charge_and_are_milder_than_mullikens(xtb: XTB, tmp_path: Path) -> None:
    """No published values exist: the sum, the symmetry of the molecule, and the sign of each atom are checked."""
    bench = bench_for(spec(METHYLAMMONIUM, charge=1), tmp_path / "scratch")
    exits = run(xtb, bench)
    assert xtb.ended_well(bench, exits)
    result = xtb.collect(bench).result
    assert isinstance(result, QuantumResult)
    loewdin = result.loewdin_charges
    assert loewdin is not None and result.mulliken_charges is not None
    assert sum(loewdin) == pytest.approx(1, abs=1e-6)
    assert loewdin[2:5] == pytest.approx([loewdin[2]] * 3, abs=1e-3)
    assert min(loewdin[2:]) > 0
    assert loewdin != pytest.approx(result.mulliken_charges, abs=0.01)


def test_a_solvent_without_parameters_is_refused(xtb: XTB, tmp_path: Path) -> None:
    asked = spec().model_copy(update={"solvent": "mercury"})
    with pytest.raises(InputError, match=r"solvent: 'mercury' has no parameters in ALPB\. With GFN2-xTB possible are"):
        xtb.prepare(bench_for(asked, tmp_path / "scratch"))
