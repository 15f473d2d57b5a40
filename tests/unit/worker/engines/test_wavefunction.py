"""Our own analysis of wavefunctions, against PySCF's own other paths and independently computed values."""

from __future__ import annotations

import csv
import hashlib
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from iodata import dump_one, load_one
from pyscf import dft, gto, scf
from pyscf.lo import orth_ao
from pyscf.tools import molden

from tasks.results import WavefunctionResult
from tasks.specs import WavefunctionSpec
from tests.unit.worker.harness import METHYLAMMONIUM, WATER, run, start
from worker.engines.base import Bench, Exit
from worker.engines.wavefunction import Wavefunction
from worker.programs.cubes import read_cube
from worker.programs.orbital_source import read_source

EV = 27.211386245988


@pytest.fixture(scope="module")
def engine() -> Wavefunction:
    offer = Wavefunction.detect()
    assert offer is not None
    engine = Wavefunction(offer)
    assert engine.trouble() == ""
    return engine


@pytest.fixture(scope="module")
def water(tmp_path_factory: pytest.TempPathFactory) -> scf.hf.RHF:
    """Water, B3LYP/def2-SVP, with its checkpoint file and a molden file beside it."""
    return solve(tmp_path_factory.mktemp("water"), WATER, xc="b3lypg", basis="def2-SVP")


def solve(folder: Path, xyz: str, *, basis: str, xc: str = "hf", charge: int = 0, spin: int = 0, cart: bool = False):  # type: ignore[no-untyped-def]
    atoms = "\n".join(xyz.splitlines()[2:])
    mol = gto.M(atom=atoms, basis=basis, charge=charge, spin=spin, cart=cart, verbose=0)
    mf = (dft.UKS if spin else dft.RKS)(mol, xc=xc)
    mf.chkfile = str(folder / "orbitals.chk")
    mf.conv_tol = 1e-10
    mf.kernel()
    assert mf.converged
    molden.from_scf(mf, str(folder / "orbitals.molden"))
    return mf


def bench_of(source: Path, scratch: Path, **asked: object) -> Bench[WavefunctionSpec]:
    """Lay a source out as the worker does."""
    inputs = scratch / "inputs"
    inputs.mkdir(parents=True)
    shutil.copyfile(source, inputs / "wavefunction")
    file = {"path": "x", "sha256": hashlib.sha256(source.read_bytes()).hexdigest(), "size_bytes": 1}
    spec = WavefunctionSpec.model_validate({"inputs": {"wavefunction": file}, **asked})
    return Bench(spec=spec, scratch=scratch, cores=2, memory_mb=2000, inputs=inputs)


def analyse(engine: Wavefunction, source: Path, scratch: Path, **asked: object) -> WavefunctionResult:
    """Run an analysis that must end well."""
    bench = bench_of(source, scratch, **asked)
    exits = run(engine, bench)
    assert engine.ended_well(bench, exits), (scratch / "output.log").read_text()
    result = engine.collect(bench).result
    assert isinstance(result, WavefunctionResult)
    return result


def folder_of(mf: scf.hf.RHF) -> Path:
    return Path(mf.chkfile).parent


@pytest.mark.parametrize("name", ["orbitals.chk", "orbitals.molden"])
def test_charges_and_orbitals_of_water_agree_with_pyscf_s_own_from_both_kinds_of_file(
    engine: Wavefunction, water: scf.hf.RHF, tmp_path: Path, name: str
) -> None:
    asked = ["orbitals", "composition", "mulliken", "loewdin"]
    result = analyse(engine, folder_of(water) / name, tmp_path / "scratch", analyses=asked)
    assert result.homo_ev == pytest.approx(water.mo_energy[4] * EV, abs=1e-5)
    assert result.lumo_ev == pytest.approx(water.mo_energy[5] * EV, abs=1e-5)
    assert result.mulliken_charges == pytest.approx(water.mulliken_pop(verbose=0)[1], abs=1e-5)
    # Löwdin's orthogonal functions by PySCF: populations are the squares in them.
    lowdin = orth_ao(water.mol, "lowdin", pre_orth_ao=None)
    overlap = water.get_ovlp()
    inner = lowdin.T @ overlap @ water.make_rdm1() @ overlap @ lowdin
    populations = [inner.diagonal()[a:b].sum() for _, _, a, b in water.mol.aoslice_by_atom()]
    assert result.loewdin_charges == pytest.approx(water.mol.atom_charges() - populations, abs=1e-5)
    homo = next(one for one in result.orbitals if one.name == "HOMO")
    # The HOMO of water is the lone pair: a pure p function of oxygen out of the plane, but for polarisation functions.
    assert homo.atom_shares and homo.shell_shares
    assert (homo.number, homo.occupation) == (5, 2.0)
    assert homo.atom_shares[0] > 0.95
    assert homo.shell_shares["p"] > 0.99
    assert homo.shell_shares["s"] == pytest.approx(0.0, abs=1e-6)
    assert sum(homo.atom_shares) == pytest.approx(1.0, abs=1e-5)
    assert next(one for one in result.orbitals if one.name == "LUMO+1").number == 7
    rows = list(csv.DictReader((tmp_path / "scratch" / "charges.csv").open()))
    assert [row["element"] for row in rows] == ["O", "H", "H"]
    assert float(rows[0]["mulliken_e"]) == pytest.approx(water.mulliken_pop(verbose=0)[1][0], abs=1e-5)
    assert "hirshfeld_e" not in rows[0]


def test_all_charges_of_a_cation_sum_to_its_charge(engine: Wavefunction, tmp_path: Path) -> None:
    solve(tmp_path, METHYLAMMONIUM, basis="6-31G*", charge=1, cart=True)
    asked = ["mulliken", "loewdin", "hirshfeld"]
    result = analyse(engine, tmp_path / "orbitals.molden", tmp_path / "scratch", analyses=asked)
    assert result.charge == 1
    for charges in (result.mulliken_charges, result.loewdin_charges, result.hirshfeld_charges):
        assert charges and sum(charges) == pytest.approx(1.0, abs=2e-4)
    assert result.integrated_electrons == pytest.approx(18.0, abs=2e-4)
    assert result.hirshfeld_charges
    # By symmetry the three hydrogens of each end are alike.
    assert max(result.hirshfeld_charges[2:5]) == pytest.approx(min(result.hirshfeld_charges[2:5]), abs=2e-3)
    assert result.homo_ev is not None and result.orbitals == ()


def test_hirshfeld_charges_of_water_are_those_of_an_independent_program(
    engine: Wavefunction, water: scf.hf.RHF, tmp_path: Path
) -> None:
    result = analyse(engine, folder_of(water) / "orbitals.molden", tmp_path / "scratch", analyses=["hirshfeld"])
    # By horton-part 1.2.0 (HirshfeldWPart on qc-grid 0.0.9.post1, 120 radial and 302 angular points an atom) from the
    # same density: oxygen -0.3175, hydrogens 0.1587. Its free atoms, unrestricted B3LYP in aug-cc-pVQZ and averaged
    # over all directions, are other ones than ours, which stand in the molecule's own basis set.
    assert result.hirshfeld_charges == pytest.approx((-0.3175, 0.1587, 0.1587), abs=0.008)


def test_an_open_shell_has_alpha_and_beta_orbitals(engine: Wavefunction, tmp_path: Path) -> None:
    mf = solve(tmp_path, "2\noxygen\nO 0 0 0\nO 0 0 1.208\n", basis="def2-SVP", spin=2)
    asked = {"analyses": ["composition", "hirshfeld"], "orbitals": ["HOMO", "lumo BETA", "3"]}
    for name in ("orbitals.chk", "orbitals.molden"):
        result = analyse(engine, tmp_path / name, tmp_path / f"scratch-{name}", **asked)
        assert result.multiplicity == 3
        alpha, beta = mf.mo_energy
        assert result.homo_ev == pytest.approx(max(alpha[8], beta[6]) * EV, abs=1e-4)
        assert result.lumo_ev == pytest.approx(min(alpha[9], beta[7]) * EV, abs=1e-4)
        named = {(one.name, one.spin) for one in result.orbitals if one.atom_shares}
        assert named == {("HOMO", "alpha"), ("LUMO", "beta"), ("HOMO-6", "alpha")}
        assert result.hirshfeld_charges == pytest.approx((0.0, 0.0), abs=1e-4)


def test_the_smallest_open_shell_and_a_formatted_checkpoint_file_are_read(tmp_path: Path) -> None:
    # Two orbitals of two spins: nothing but the shapes tells alpha and beta from two functions.
    mf = solve(tmp_path, "2\nhydrogen\nH 0 0 0\nH 0 0 0.74\n", basis="STO-3G", spin=2)
    data = load_one(str(tmp_path / "orbitals.molden"))
    dump_one(data, str(tmp_path / "orbitals.fchk"), allow_changes=True)
    for name in ("orbitals.chk", "orbitals.molden", "orbitals.fchk"):
        source = read_source(tmp_path / name)
        assert (source.spins, source.electrons) == (("alpha", "beta"), 2.0)
        assert (source.mol.spin, source.mol.charge) == (2, 0)
        assert source.density_matrix == pytest.approx(mf.make_rdm1().sum(axis=0), abs=1e-6)


def test_cubes_hold_normalised_orbitals_all_electrons_and_the_potential_of_the_charges(
    engine: Wavefunction, water: scf.hf.RHF, tmp_path: Path
) -> None:
    asked = {"analyses": ["cubes", "density", "potential"], "orbitals": ["HOMO-1", "LUMO"], "spacing_angstrom": 0.15}
    scratch = tmp_path / "scratch"
    bench = bench_of(folder_of(water) / "orbitals.chk", scratch, margin_angstrom=4.0, **asked)
    exits = run(engine, bench)
    assert engine.ended_well(bench, exits)
    collected = engine.collect(bench)
    assert isinstance(collected.result, WavefunctionResult)
    # What was drawn is named with number, occupation and energy; nothing else is listed.
    found = [(one.number, one.name, one.occupation) for one in collected.result.orbitals]
    assert found == [(4, "HOMO-1", 2.0), (6, "LUMO", 0.0)]
    assert collected.result.orbitals[0].energy_ev == pytest.approx(water.mo_energy[3] * EV, abs=1e-5)
    roles = collected.files
    assert {"cube.HOMO-1", "cube.LUMO", "cube.density", "cube.potential", "log"} == set(roles)
    for role in ("cube.HOMO-1", "cube.LUMO"):
        _, _, grid, values = read_cube(roles[role])
        assert (values**2).sum() * grid.spacing**3 == pytest.approx(1.0, abs=0.04)
    numbers, coordinates, grid, density = read_cube(roles["cube.density"])
    assert list(numbers) == [8, 1, 1]
    assert coordinates == pytest.approx(water.mol.atom_coords(), abs=1e-5)
    places = [(12, 30, 25), (31, 33, 35), (40, 20, 30)]
    points = np.array([grid.origin + grid.spacing * np.array(place) for place in places])
    expected = dft.numint.eval_rho(water.mol, water.mol.eval_gto("GTOval", points), water.make_rdm1())
    assert [density[place] for place in places] == pytest.approx(expected, rel=1e-4, abs=1e-8)
    _, _, grid, potential = read_cube(roles["cube.potential"])
    # At the edge of the box it is that of the dipole moment (PySCF's own), to within the quadrupole.
    dipole = water.dip_moment(unit="AU", verbose=0, origin=coordinates[0])
    corner = grid.origin + grid.spacing * (np.array(grid.shape) - 1)
    for place, value in ((grid.origin, potential[0, 0, 0]), (corner, potential[-1, -1, -1])):
        away = place - coordinates[0]
        expected = dipole @ away / np.linalg.norm(away) ** 3
        assert value == pytest.approx(expected, abs=1e-3)
        assert np.sign(value) == np.sign(expected)


def test_pictures_are_the_same_each_time_and_show_both_signs(
    engine: Wavefunction, water: scf.hf.RHF, tmp_path: Path
) -> None:
    source = folder_of(water) / "orbitals.chk"
    pictures = []
    for name in ("one", "two"):
        asked = {"analyses": ["pictures"], "orbitals": ["HOMO"], "spacing_angstrom": 0.2, "margin_angstrom": 2.5}
        analyse(engine, source, tmp_path / name, **asked)
        pictures.append((tmp_path / name / "HOMO.png").read_bytes())
    assert pictures[0] == pictures[1]
    pixels = read_png(pictures[0])
    red, blue = pixels[..., 0].astype(int), pixels[..., 2].astype(int)
    corner = pixels[0, 0]
    assert corner.tolist() == [255, 255, 255]
    assert (blue - red > 60).mean() > 0.03
    assert (red - blue > 60).mean() > 0.03


def read_png(data: bytes) -> np.ndarray:
    """Read a PNG file with another library than the one that wrote it."""
    import io

    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"))


def test_an_isovalue_that_is_not_reached_is_said(engine: Wavefunction, water: scf.hf.RHF, tmp_path: Path) -> None:
    source = folder_of(water) / "orbitals.chk"
    asked = {"analyses": ["pictures"], "orbitals": ["LUMO"], "spacing_angstrom": 0.3, "isovalue": 5.0}
    result = analyse(engine, source, tmp_path / "scratch", **asked)
    assert any("has no surface" in note for note in result.notes)


@pytest.mark.parametrize(
    ("content", "asked", "said"),
    [
        (b"not orbitals at all\n", {}, "neither PySCF's checkpoint file"),
        (b"\x89HDF\r\n\x1a\nbroken", {}, "holds no orbitals of PySCF"),
        (b"[Molden Format]\n[Atoms] AU\nO 1 8 0 0 0\n", {}, "cannot be read as orbitals"),
        (None, {"analyses": ["composition"], "orbitals": ["HOMO-9"]}, "'HOMO-9' is not among the 24 orbitals"),
        (None, {"analyses": ["cubes"], "orbitals": ["LUMO beta"]}, "the shell is closed"),
        (None, {"analyses": ["density"], "spacing_angstrom": 0.05, "margin_angstrom": 10}, "Raise spacing_angstrom"),
    ],
)
def test_what_cannot_be_done_fails_for_good_with_its_reason(
    engine: Wavefunction, water: scf.hf.RHF, tmp_path: Path, content: bytes | None, asked: dict[str, object], said: str
) -> None:
    source = folder_of(water) / "orbitals.chk"
    if content is not None:
        source = tmp_path / "source"
        source.write_bytes(content)
    bench = bench_of(source, tmp_path / "scratch", **asked)
    exits = run(engine, bench)
    assert not engine.ended_well(bench, exits)
    failure = engine.diagnose(bench, exits)
    assert (failure.error_class, failure.permanent) == ("bad_input", True)
    assert said in f"{failure.message} {failure.remedy}"
    assert failure.remedy


def test_a_molden_file_whose_orbitals_are_not_orthonormal_is_refused(
    engine: Wavefunction, water: scf.hf.RHF, tmp_path: Path
) -> None:
    text = (folder_of(water) / "orbitals.molden").read_text()
    head, mark, orbitals = text.partition("[MO]")
    damaged = tmp_path / "damaged.molden"
    # One coefficient of the first orbital is another one.
    damaged.write_text(head + mark + re.sub(r"(?m)^(\s+1\s+)-?0?\.", r"\g<1>3.", orbitals, count=1))
    assert damaged.read_text() != text
    bench = bench_of(damaged, tmp_path / "scratch")
    exits = run(engine, bench)
    assert not engine.ended_well(bench, exits)
    assert engine.diagnose(bench, exits).error_class == "bad_input"


@pytest.mark.parametrize(("number", "error_class"), [(9, "killed"), (15, "killed")])
def test_a_program_that_is_killed_did_not_end_well(
    engine: Wavefunction, water: scf.hf.RHF, tmp_path: Path, number: int, error_class: str
) -> None:
    bench = bench_of(folder_of(water) / "orbitals.chk", tmp_path / "scratch", analyses=["hirshfeld"])
    (command,) = engine.prepare(bench)
    process = start(command, bench.scratch)
    process.send_signal(number)
    exits = [Exit(code=process.wait(30))]
    assert not engine.ended_well(bench, exits)
    assert engine.diagnose(bench, exits).error_class == error_class
    assert engine.snapshot(bench) is None
