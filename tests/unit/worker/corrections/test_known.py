"""Corrections with the real programs: what failed goes on, and ends with the same energy as without the failure."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tasks.results import Failure, QuantumResult
from tasks.specs import QuantumSpec, parse_spec
from tests.unit.worker.harness import METHYLAMMONIUM, WATER, bench_for, corrected, run
from worker.corrections.known import CORRECTIONS
from worker.engines.base import Bench, Exit
from worker.engines.pyscf import PySCF
from worker.engines.quantum import OwnProgram
from worker.engines.xtb import XTB
from worker.programs.common import JOB_FILE

SMALL = {"method": "HF", "basis": "STO-3G", "engine": "pyscf"}
TIGHT_BINDING = {"method": "GFN2-xTB", "engine": "xtb"}


def spec(xyz: str = WATER, **fields: object) -> QuantumSpec:
    parsed = parse_spec({"molecule": {"xyz": xyz}, "charge": 0, **fields})
    assert isinstance(parsed, QuantumSpec)
    return parsed


def result_of(
    engine: OwnProgram, bench: Bench[QuantumSpec], edit: Callable[[Path], None] | None = None
) -> QuantumResult:
    exits = run(engine, bench, edit)
    assert engine.ended_well(bench, exits), engine.diagnose(bench, exits)
    result = engine.collect(bench).result
    assert isinstance(result, QuantumResult)
    return result


def changing(**change: object) -> Callable[[Path], None]:
    def edit(scratch: Path) -> None:
        prepared = json.loads((scratch / JOB_FILE).read_text())
        (scratch / JOB_FILE).write_text(json.dumps({**prepared, **change}))

    return edit


@pytest.mark.parametrize(
    ("which", "fields", "change", "error_class"),
    [
        ("pyscf", {**SMALL, "task": "single_point"}, {"max_scf_cycles": 2}, "scf_not_converged"),
        ("pyscf", {**SMALL, "task": "optimisation"}, {"max_optimisation_steps": 2}, "optimisation_not_converged"),
        ("xtb", {**TIGHT_BINDING, "task": "single_point"}, {"max_scf_cycles": 3}, "scf_not_converged"),
        ("xtb", {**TIGHT_BINDING, "task": "optimisation"}, {"max_optimisation_steps": 2}, "optimisation_not_converged"),
    ],
)
def test_what_failed_is_corrected_once_and_ends_with_the_same_energy(
    which: str,
    fields: dict[str, object],
    change: dict[str, object],
    error_class: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    engine = request.getfixturevalue(which)
    whole = result_of(engine, bench_for(spec(**fields), tmp_path / "undisturbed"))
    bench = bench_for(spec(**fields), tmp_path / "scratch")
    exits = run(engine, bench, changing(**change))
    failure = engine.diagnose(bench, exits)
    assert (failure.error_class, failure.permanent) == (error_class, False)
    correction = engine.correct(bench, failure)
    assert correction is not None
    assert correction.name == error_class
    if engine.snapshot(bench) is None:  # xtb keeps nothing of a single point
        assert which == "xtb"
        bench = replace(bench, corrections=(correction,))
    else:
        bench = corrected(engine, bench, correction)
    result = result_of(engine, bench)
    assert result.energy_hartree == pytest.approx(whole.energy_hartree, abs=1e-6)


@pytest.mark.parametrize("task", ["single_point", "optimisation_frequencies"])
def test_the_second_order_solver_gives_the_same_energy(pyscf: PySCF, tmp_path: Path, task: str) -> None:
    whole = result_of(pyscf, bench_for(spec(**SMALL, task=task), tmp_path / "undisturbed"))
    failure = Failure(error_class="scf_not_converged", message="")
    bench = bench_for(spec(**SMALL, task=task), tmp_path / "scratch")
    for _ in range(2):
        correction = pyscf.correct(bench, failure)
        assert correction is not None
        bench = replace(bench, corrections=(*bench.corrections, correction))
    assert pyscf.job(bench).second_order
    assert pyscf.job(bench).level_shift_hartree == 0.0
    result = result_of(pyscf, bench)
    assert result.energy_hartree == pytest.approx(whole.energy_hartree, abs=1e-6)
    assert "Newton solver" in (bench.scratch / "output.log").read_text()
    assert pyscf.correct(bench, failure) is None


def test_a_level_shift_changes_the_way_and_not_the_end(pyscf: PySCF, tmp_path: Path) -> None:
    bench = bench_for(spec(METHYLAMMONIUM, **{**SMALL, "charge": 1}), tmp_path / "plain")
    plain = result_of(pyscf, bench)
    correction = CORRECTIONS["scf_not_converged"]("pyscf", ())
    assert correction is not None
    shifted = replace(bench_for(bench.spec, tmp_path / "shifted"), corrections=(correction,))
    slow = result_of(pyscf, shifted)
    assert slow.energy_hartree == pytest.approx(plain.energy_hartree, abs=1e-6)
    assert slow.lumo_ev == pytest.approx(plain.lumo_ev, abs=1e-2)
    assert (slow.scf_cycles or 0) > (plain.scf_cycles or 0)


def test_out_of_memory_is_corrected_once_by_a_smaller_share(pyscf: PySCF, xtb: XTB, tmp_path: Path) -> None:
    bench = bench_for(spec(**SMALL), tmp_path / "scratch")
    (bench.scratch / "output.log").write_text("MemoryError: Unable to allocate 40.0 GiB\n")
    failure = pyscf.diagnose(bench, [Exit(code=1)])
    correction = pyscf.correct(bench, failure)
    assert correction is not None
    again = replace(bench, corrections=(correction,))
    assert pyscf.job(again).memory_share == pytest.approx(0.3)
    assert result_of(pyscf, again).energy_hartree < -74
    assert pyscf.correct(again, failure) is None
    assert xtb.correct(bench_for(spec(**TIGHT_BINDING), tmp_path / "xtb"), failure) is None


@pytest.mark.parametrize("engine", ["pyscf", "xtb"])
@pytest.mark.parametrize("name", sorted(CORRECTIONS))
def test_every_correction_has_a_cap_and_changes_something(engine: str, name: str) -> None:
    made = []
    while correction := CORRECTIONS[name](engine, made):
        assert correction.name == name
        assert correction.changes and correction.text
        assert correction not in made
        made.append(correction)
        assert len(made) <= 3


def test_a_failure_whose_corrections_are_used_up_is_final(pyscf: PySCF, tmp_path: Path) -> None:
    bench = bench_for(spec(**SMALL), tmp_path / "scratch")
    failure = Failure(error_class="scf_not_converged", message="no", evidence=("no",))
    (bench.scratch / "failure.json").write_text(failure.model_dump_json())
    assert not pyscf.diagnose(bench, [Exit(code=3)]).permanent
    while correction := pyscf.correct(bench, failure):
        assert not pyscf.diagnose(bench, [Exit(code=3)]).permanent
        bench = replace(bench, corrections=(*bench.corrections, correction))
    assert pyscf.diagnose(bench, [Exit(code=3)]).permanent
