"""Driving Multiwfn: a stand-in that asks and answers as the manual says; a real one too, where there is one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tasks.results import WavefunctionResult
from tests.unit.worker.engines.test_wavefunction import analyse, bench_of, folder_of, solve
from tests.unit.worker.harness import WATER, run, start
from worker.engines.base import Exit, Offer
from worker.engines.multiwfn import Multiwfn
from worker.engines.wavefunction import Wavefunction
from worker.programs.cubes import read_cube
from worker.programs.multiwfn_job import read_charges, read_composition

STAND_IN = Path(__file__).parents[3] / "stand_ins" / "multiwfn"
ALL = ["orbitals", "composition", "mulliken", "loewdin", "hirshfeld", "pictures", "density", "potential"]
COARSE = {"spacing_angstrom": 0.4, "margin_angstrom": 2.0}


@pytest.fixture(scope="module")
def water(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    return solve(tmp_path_factory.mktemp("water"), WATER, xc="b3lypg", basis="def2-SVP")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Multiwfn:
    """The engine as it is found, with the stand-in installed as the manual says."""
    monkeypatch.setenv("Multiwfnpath", str(STAND_IN))
    offer = Multiwfn.detect()
    assert offer is not None
    assert offer.command == (str(STAND_IN / "Multiwfn_noGUI"),)
    assert offer.environment["Multiwfnpath"] == str(STAND_IN)
    engine = Multiwfn(offer)
    assert engine.trouble() == ""
    return engine


def misbehaving(how: str) -> Multiwfn:
    environment = {"Multiwfnpath": str(STAND_IN), "STAND_IN_MULTIWFN": how}
    command = (str(STAND_IN / "Multiwfn_noGUI"),)
    return Multiwfn(Offer(engine="multiwfn", version="", command=command, environment=environment))


def test_all_requests_are_driven_and_their_answers_read(engine: Multiwfn, water, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    bench = bench_of(folder_of(water) / "orbitals.chk", tmp_path / "scratch", analyses=ALL, orbitals=["HOMO"], **COARSE)
    exits = run(engine, bench)  # type: ignore[arg-type]
    assert engine.ended_well(bench, exits), (bench.scratch / "output.log").read_text()
    collected = engine.collect(bench)
    result = collected.result
    assert isinstance(result, WavefunctionResult)
    # The stand-in's made-up charges: 0.1, 0 and -0.1, not the ones that it prints before it has normalised them.
    for charges in (result.mulliken_charges, result.loewdin_charges, result.hirshfeld_charges):
        assert charges == pytest.approx((0.1, 0.0, -0.1), abs=1e-6)
    # Energies pass through the molden file that is written for it.
    assert result.homo_ev == pytest.approx(water.mo_energy[4] * 27.211386, abs=1e-3)
    assert result.lumo_ev == pytest.approx(water.mo_energy[5] * 27.211386, abs=1e-3)
    homo = next(one for one in result.orbitals if one.name == "HOMO")
    assert (homo.atom_shares, homo.shell_shares) == ((1.0, 0.0, 0.0), {"p": 1.0})
    assert (result.engine, result.engine_version) == ("multiwfn", "3.8")
    roles = {"log", "charges", "orbital_table", "cube.HOMO", "picture.HOMO", "cube.density", "cube.potential"}
    assert set(collected.files) == roles
    _, coordinates, grid, values = read_cube(collected.files["cube.HOMO"])
    assert coordinates == pytest.approx(water.mol.atom_coords(), abs=1e-5)
    assert grid.spacing == pytest.approx(0.4 * 1.8897261, abs=1e-5)
    assert 0.5 < values.max() <= 1.0


def test_open_shells_have_their_charges_and_their_beta_orbitals(engine: Multiwfn, tmp_path: Path) -> None:
    solve(tmp_path, "2\noxygen\nO 0 0 0\nO 0 0 1.208\n", basis="6-31G", spin=2)
    asked = {"analyses": ["composition", "mulliken", "loewdin"], "orbitals": ["LUMO beta"]}
    result = analyse(engine, tmp_path / "orbitals.molden", tmp_path / "scratch", **asked)
    assert result.mulliken_charges == pytest.approx((0.05, -0.05), abs=1e-5)
    assert result.loewdin_charges == pytest.approx((0.05, -0.05), abs=1e-5)
    (lumo,) = [one for one in result.orbitals if one.atom_shares]
    assert (lumo.name, lumo.spin, lumo.number) == ("LUMO", "beta", 8)
    # 18 alpha orbitals come first in Multiwfn's count.
    assert "typed: 8 1 26 0 -10 q" in (tmp_path / "scratch" / "output.log").read_text()


@pytest.mark.parametrize(
    ("how", "analyses", "error_class", "permanent", "said"),
    [
        ("other_menu", ["hirshfeld"], "menu_mismatch", True, "exit code 2"),
        ("few_atoms", ["mulliken"], "menu_mismatch", True, "not one charge for each of 3 atoms"),
        ("no_file", ["density"], "menu_mismatch", True, "it wrote no density.cub"),
        ("killed", ["loewdin"], "killed", False, "SIGKILL at orbitals"),
        ("crash", ["loewdin"], "program_failed", False, "SIGSEGV"),
    ],
)
def test_what_goes_wrong_is_told_apart(  # type: ignore[no-untyped-def]
    water, tmp_path: Path, how: str, analyses: list[str], error_class: str, permanent: bool, said: str
) -> None:
    engine = misbehaving(how)
    bench = bench_of(folder_of(water) / "orbitals.chk", tmp_path / "scratch", analyses=analyses, **COARSE)
    exits = run(engine, bench)  # type: ignore[arg-type]
    assert not engine.ended_well(bench, exits)
    failure = engine.diagnose(bench, exits)
    assert (failure.error_class, failure.permanent) == (error_class, permanent), failure
    assert said in failure.message
    assert failure.remedy
    assert failure.evidence


def test_a_program_that_is_gone_is_the_host_s_fault(water, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    engine = Multiwfn(Offer(engine="multiwfn", version="", command=("/nowhere/Multiwfn",)))
    assert "/nowhere/Multiwfn is not there" in engine.trouble()
    bench = bench_of(folder_of(water) / "orbitals.chk", tmp_path / "scratch", analyses=["mulliken"])
    failure = engine.diagnose(bench, run(engine, bench))  # type: ignore[arg-type]
    assert failure.before_start
    assert "could not be started" in failure.message


def test_a_driver_that_is_stopped_did_not_end_well(water, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    from tests.conftest import eventually

    engine = misbehaving("hang")
    bench = bench_of(folder_of(water) / "orbitals.chk", tmp_path / "scratch", analyses=["hirshfeld"])
    (command,) = engine.prepare(bench)
    process = start(command, bench.scratch)
    log = bench.scratch / "output.log"
    eventually(lambda: "typed: 8 1 a" in log.read_text(), seconds=60, what="Multiwfn is asked for its orbitals")
    os.killpg(process.pid, 15)
    exits = [Exit(code=process.wait(30))]
    assert not engine.ended_well(bench, exits)
    assert engine.diagnose(bench, exits).error_class == "killed"


def test_missing_settings_are_trouble(tmp_path: Path) -> None:
    program = tmp_path / "Multiwfn"
    program.symlink_to(STAND_IN / "Multiwfn_noGUI")
    environment = {"Multiwfnpath": str(tmp_path)}
    engine = Multiwfn(Offer(engine="multiwfn", version="", command=(str(program),), environment=environment))
    assert "settings.ini is not there" in engine.trouble()


def test_a_table_that_is_cut_short_gives_no_charges() -> None:
    whole = " Population of atoms:\n Atom     1(O )    Population:  8.3    Net charge: -0.3\n"
    assert read_charges(whole, "mulliken", 1) == (-0.3,)
    assert read_charges(whole, "mulliken", 2) is None
    assert read_charges(" Hirshfeld charge of atom     1(O ) is -0.31\n", "hirshfeld", 1) is None
    assert read_composition(" Composition of each atom:\n Atom     1(O ) :    98.03956 %\n", 1) is None


def real_multiwfn() -> Multiwfn | None:
    offer = Multiwfn.detect()
    return Multiwfn(offer) if offer else None


def test_a_real_multiwfn_gives_what_our_own_analysis_gives(water, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    real = real_multiwfn()
    if real is None or real.trouble():
        pytest.skip("Multiwfn is not on this host, and cannot be installed from a package registry")
    own_offer = Wavefunction.detect()
    assert own_offer
    asked = {"analyses": ALL, "orbitals": ["HOMO", "LUMO"], **COARSE}
    source = folder_of(water) / "orbitals.chk"
    theirs = analyse(real, source, tmp_path / "theirs", **asked)
    ours = analyse(Wavefunction(own_offer), source, tmp_path / "ours", **asked)
    assert theirs.homo_ev == pytest.approx(ours.homo_ev, abs=1e-4)
    assert theirs.mulliken_charges == pytest.approx(ours.mulliken_charges, abs=1e-6)
    assert theirs.loewdin_charges == pytest.approx(ours.loewdin_charges, abs=1e-6)
    # Its free atoms are other ones than ours.
    assert theirs.hirshfeld_charges == pytest.approx(ours.hirshfeld_charges, abs=0.01)
    for one, other in zip(theirs.orbitals, ours.orbitals, strict=True):
        assert (one.number, one.name, one.energy_ev) == (
            other.number,
            other.name,
            pytest.approx(other.energy_ev, abs=1e-4),
        )
        if other.atom_shares:
            assert one.atom_shares == pytest.approx(other.atom_shares, abs=1e-5)
    for name in ("HOMO.cube", "density.cube", "potential.cube"):
        grids = [read_cube(tmp_path / who / name)[3] for who in ("theirs", "ours")]
        sign = 1.0 if (grids[0] * grids[1]).sum() > 0 else -1.0
        assert sign * grids[0] == pytest.approx(grids[1], abs=2e-4)
