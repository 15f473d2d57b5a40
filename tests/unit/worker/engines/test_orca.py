"""ORCA's process, by a stand-in: its marks, its restart, its failures, and what the engine makes of each."""

from __future__ import annotations

import dataclasses
import os
import re
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from tasks.elements import parse_xyz
from tasks.results import Correction, QuantumResult
from tasks.specs import QuantumSpec, parse_spec
from tests.conftest import eventually
from tests.stand_ins import install
from tests.unit.worker.harness import bench_for, keep, run, start
from worker.engines.base import Bench, Exit
from worker.engines.orca import Orca

#: bonds that the stand-in's springs pull to 1.1 Å
BENT = "3\nstretched\nO 0 0 0\nH 1.5 0 0\nH 1.8 1.4 0\n"


def spec(**fields: object) -> QuantumSpec:
    parsed = parse_spec({"molecule": {"xyz": BENT}, "charge": 0, "engine": "orca", **fields})
    assert isinstance(parsed, QuantumSpec)
    return parsed


def bench(
    asked: QuantumSpec,
    scratch: Path,
    restart: Path | None = None,
    corrections: Sequence[Correction] = (),
    cores: int = 1,
) -> Bench[QuantumSpec]:
    made = bench_for(asked, scratch, restart)
    return dataclasses.replace(made, corrections=tuple(corrections), cores=cores)


def finish(engine: Orca, there: Bench[QuantumSpec]) -> QuantumResult:
    exits = run(engine, there)
    assert engine.ended_well(there, exits), engine.diagnose(there, exits)
    collected = engine.collect(there)
    assert all(path.stat().st_size for path in collected.files.values())
    assert isinstance(collected.result, QuantumResult)
    return collected.result


def correct(engine: Orca, there: Bench[QuantumSpec]) -> tuple[str, Correction | None]:
    """Run to a failure; give its class and what the engine would change."""
    exits = run(engine, there)
    assert not engine.ended_well(there, exits)
    failure = engine.diagnose(there, exits)
    assert failure.evidence
    return failure.error_class, engine.correct(there, failure)


def words_of(scratch: Path) -> list[str]:
    return (scratch / "job.inp").read_text().splitlines()[0].split()


def test_a_job_gives_its_results_and_keeps_no_scratch_file(tmp_path: Path) -> None:
    engine = Orca(install.orca(tmp_path / "orca"))
    asked = spec(task="optimisation_frequencies", pressure_pascal=100_000.0)
    there = bench(asked, tmp_path / "scratch", cores=2)
    result = finish(engine, there)
    assert result.energy_hartree == pytest.approx(-30.0, abs=1e-9)
    assert (result.homo_ev, result.lumo_ev, result.dipole_debye) == (-13.6057, 2.7211, 1.5)
    assert result.frequencies_per_cm == (316.23, 1501.0, 1502.0)
    assert (result.engine, result.engine_version) == ("orca", "6.0.1")
    assert result.level == "B3LYP/def2-SVP (RIJCOSX)"
    # The output has six decimals of the geometry; ORCA's file beside it has all.
    exact = parse_xyz((there.scratch / "job.xyz").read_text())
    assert parse_xyz(result.xyz or "")[1].x == pytest.approx(exact[1].x, abs=1e-8)
    # The output has the pressure with two decimals, 0.99 atm.
    assert result.pressure_pascal == 100_000.0
    kept = engine.collect(there).files
    assert set(kept) == {"log", "input", "geometry", "orbitals", "hessian"}
    assert not [path for path in kept.values() if path.suffix == ".tmp"]


def test_progress_and_restart_point_follow_the_run(tmp_path: Path) -> None:
    engine = Orca(install.orca(tmp_path / "orca", pace=0.02))
    there = bench(spec(task="optimisation"), tmp_path / "scratch")
    (command,) = engine.prepare(there)
    assert engine.progress(there) is None
    assert engine.snapshot(there) is None
    process = start(command, there.scratch)
    # ORCA writes a file of orbitals before it has any: that one must never become a restart point.
    eventually(lambda: (there.scratch / "job.gbw").exists())
    if (early := engine.snapshot(there)) is not None:
        assert engine.progress(there) is not None
        assert early.text.startswith("after ")
    eventually(lambda: (p := engine.progress(there)) is not None and (p.step or 0) >= 3)
    progress = engine.progress(there)
    assert progress is not None
    pattern = r"optimisation step \d+(, SCF cycle \d+)?, -\d\d\.\d{5} Eh, largest gradient \d\.\de-\d\d Eh/bohr"
    assert re.fullmatch(pattern, progress.text)
    assert progress.energy_hartree == pytest.approx(-30.0, abs=1.1)
    snapshot = engine.snapshot(there)
    assert snapshot is not None
    assert [path.name for path in snapshot.files] == ["job.gbw", "job.xyz"]
    assert re.match(r"after optimisation step \d+", snapshot.text)
    process.kill()
    process.wait()


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_what_was_killed_goes_on_from_orbitals_and_last_geometry(tmp_path: Path, end: signal.Signals) -> None:
    engine = Orca(install.orca(tmp_path / "orca", pace=0.01))
    there = bench(spec(task="optimisation"), tmp_path / "killed")
    (command,) = engine.prepare(there)
    process = start(command, there.scratch)
    eventually(lambda: (p := engine.progress(there)) is not None and (p.step or 0) >= 5)
    process.send_signal(end)
    exits = [Exit(code=process.wait())]
    assert not engine.ended_well(there, exits)
    assert engine.diagnose(there, exits).error_class == "killed"
    assert list(there.scratch.glob("job*.tmp"))
    checkpoint = keep(engine, there, tmp_path / "checkpoint")
    again = bench(there.spec, tmp_path / "again", checkpoint)
    result = finish(engine, again)
    whole = finish(engine, bench(there.spec, tmp_path / "whole"))
    assert words_of(again.scratch)[-1] == "MORead"
    assert result.energy_hartree == pytest.approx(whole.energy_hartree, abs=1e-6)
    assert result.scf_cycles and whole.scf_cycles
    assert result.scf_cycles < whole.scf_cycles
    assert (result.optimisation_steps or 0) < (whole.optimisation_steps or 0)


def test_a_geometry_of_another_molecule_or_half_a_file_is_not_taken(tmp_path: Path) -> None:
    engine = Orca(install.orca(tmp_path / "orca"))
    checkpoint = tmp_path / "checkpoint"
    checkpoint.mkdir()
    for number, text in enumerate(("3\n\nO 0 0 0\nH 1", "2\n\nO 0 0 0\nH 0 0 1\n")):
        (checkpoint / "job.xyz").write_text(text)
        there = bench(spec(task="optimisation"), tmp_path / f"scratch{number}", checkpoint)
        engine.prepare(there)
        assert parse_xyz(BENT)[1].x == 1.5
        assert "H       1.50000000" in (there.scratch / "job.inp").read_text()


def test_what_an_earlier_run_left_in_scratch_is_removed(tmp_path: Path) -> None:
    engine = Orca(install.orca(tmp_path / "orca"))
    there = bench(spec(), tmp_path / "scratch")
    for name in ("job.gbw", "job.tmp", "job_D0.tmp", "job.hess", "output.log"):
        (there.scratch / name).write_text("old")
    engine.prepare(there)
    assert sorted(path.name for path in there.scratch.iterdir()) == ["job.inp", "output.log"]


@pytest.mark.parametrize(
    ("how", "error_class", "changes"),
    [
        ({"scf": "slow"}, "scf_not_converged", {"scf": "SlowConv", "max_scf_cycles": 500}),
        ({"needs_mb": 900}, "out_of_memory", {"processes": 1}),
        ({"needs_mb": 9000}, "out_of_memory", None),
        ({"fail": "mpi"}, "mpi_start", {"oversubscribe": True}),
        ({"saddle": True}, "imaginary_mode", {"displacements": 1}),
        ({"fail": "hessian"}, "no_analytical_hessian", {"numerical_frequencies": True}),
        ({"fail": "input"}, "bad_input", None),
        ({"fail": "error"}, "program_failed", None),
        ({"fail": "silent"}, "program_failed", None),
    ],
)
def test_each_failure_is_told_from_the_others_and_corrected_if_something_helps(
    how: dict[str, object], error_class: str, changes: dict[str, object] | None, tmp_path: Path
) -> None:
    engine = Orca(install.orca(tmp_path / "orca", **how))
    found, correction = correct(engine, bench(spec(task="optimisation_frequencies"), tmp_path / "scratch", cores=2))
    assert found == error_class
    assert (correction.changes if correction else None) == changes


@pytest.mark.parametrize(
    ("how", "corrections"),
    [
        ({"scf": "slow"}, 1),
        ({"scf": "second_order"}, 2),
        ({"needs_mb": 900}, 1),
        ({"fail": "mpi"}, 2),
        ({"saddle": True}, 1),
        ({"fail": "hessian"}, 1),
    ],
)
def test_corrections_lead_to_the_result(how: dict[str, object], corrections: int, tmp_path: Path) -> None:
    engine = Orca(install.orca(tmp_path / "orca", **how))
    there = bench(spec(task="optimisation_frequencies"), tmp_path / "0", cores=2)
    for number in range(1, corrections + 1):
        _, correction = correct(engine, there)
        assert correction is not None
        restart = keep(engine, there, tmp_path / f"kept{number}") if engine.snapshot(there) else None
        there = bench(there.spec, tmp_path / str(number), restart, [*there.corrections, correction], cores=2)
    result = finish(engine, there)
    assert result.energy_hartree == pytest.approx(-30.0, abs=1e-6)
    assert min(result.frequencies_per_cm or ()) > 0


def test_an_optimisation_out_of_cycles_goes_on_twice_and_then_fails_for_good(tmp_path: Path) -> None:
    engine = Orca(install.orca(tmp_path / "orca", stiff=0.95, most_steps=15))
    there = bench(spec(task="optimisation"), tmp_path / "0")
    given: list[Correction] = []
    lengths = []
    for number in (1, 2, 3):
        error_class, correction = correct(engine, there)
        assert error_class == "optimisation_not_converged"
        lengths.append(parse_xyz((there.scratch / "job.xyz").read_text())[1].x)
        if correction is None:
            break
        given.append(correction)
        there = bench(there.spec, tmp_path / str(number), keep(engine, there, tmp_path / f"kept{number}"), given)
    assert len(given) == 2
    inputs = [(tmp_path / str(number) / "job.inp").read_text() for number in (0, 1, 2)]
    assert ["Calc_Hess true" in text for text in inputs] == [False, False, True]
    assert lengths[0] > lengths[1] > lengths[2] > 1.1


def test_parallel_processes_that_never_start_put_the_host_under_suspicion(tmp_path: Path) -> None:
    engine = Orca(install.orca(tmp_path / "orca", fail="mpi"))
    tried = [Correction(name="mpi_start", text="", changes={"oversubscribe": True})] * 2
    there = bench(spec(), tmp_path / "scratch", corrections=tried, cores=2)
    exits = run(engine, there)
    assert engine.diagnose(there, exits).before_start


def test_orca_gets_its_own_folder_first_and_ranks_that_are_not_bound(tmp_path: Path) -> None:
    offer = install.orca(tmp_path / "orca")
    (command,) = Orca(offer).prepare(bench(spec(), tmp_path / "scratch"))
    assert command.argv == (str(tmp_path / "orca" / "orca"), "job.inp")
    assert command.environment["PATH"].split(os.pathsep)[0] == str(tmp_path / "orca")
    assert command.environment["OMPI_MCA_hwloc_base_binding_policy"] == "none"
    assert command.environment["OMP_NUM_THREADS"] == "1"


def test_trouble_names_what_is_not_there(tmp_path: Path) -> None:
    offer = install.orca(tmp_path / "orca")
    assert Orca(offer).trouble() == ""
    bare = dataclasses.replace(offer, command=("orca",))
    assert "is not a full path" in Orca(bare).trouble()
    without = dataclasses.replace(offer, environment={"PATH": str(tmp_path)})
    (tmp_path / "orca" / "mpirun").unlink()
    assert "parallel ORCA cannot start" in Orca(without).trouble()
    (tmp_path / "orca" / "orca").unlink()
    assert Orca(offer).trouble() == f"{tmp_path / 'orca' / 'orca'} is not there"


def test_orca_is_found_with_its_version_and_its_mpi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "orca_6_0_1_linux_x86-64"
    install.orca(folder)
    monkeypatch.setenv("PATH", str(folder))
    offer = Orca.detect()
    assert offer is not None
    assert (offer.version, offer.command) == ("6.0.1", (str(folder / "orca"),))
    assert offer.environment["PATH"].split(os.pathsep)[0] == str(folder)
    assert set(offer.tasks) == {"single_point", "optimisation", "frequencies", "optimisation_frequencies"}


def test_the_screen_reader_of_that_name_is_not_orca(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install.orca(tmp_path)
    (tmp_path / "orca_scf").unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Orca.detect() is None
