"""PySCF: the physics against values found in another way, and what happens when it fails or is stopped."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyscf import dft, gto, scf
from scipy.linalg import sqrtm

from tasks.elements import parse_xyz
from tasks.errors import InputError
from tasks.methods import SOLVENTS
from tasks.results import QuantumResult
from tasks.specs import QuantumSpec, parse_spec
from tests.conftest import eventually
from tests.unit.worker.harness import METHYLAMMONIUM, WATER, bench_for, keep, run, start, water_shape
from worker.engines.base import Exit
from worker.engines.pyscf import PySCF
from worker.programs.common import EXIT_STOPPED, FAILURE_FILE, JOB_FILE, RESULT_FILE, QuantumJob
from worker.programs.pyscf_method import build_method, build_molecule

HYDROXYL = "2\nOH\nO 0 0 0\nH 0 0 0.98\n"
TETRAMETHYLAMMONIUM = """17
RDKit (ETKDG, seed 42), relaxed with UFF
C   0.94020  -0.57618  -0.98672
N  -0.00000  -0.00000   0.00000
C  -1.14833  -0.91567   0.18018
C   0.69361   0.18193   1.29436
C  -0.48549   1.30992  -0.48783
H   1.32194  -1.56426  -0.64442
H   0.44362  -0.72401  -1.97198
H   1.81569   0.09360  -1.14202
H  -1.87322  -0.50604   0.91904
H  -1.68954  -1.07076  -0.78014
H  -0.81122  -1.91100   0.54742
H   0.00807   0.61501   2.05703
H   1.56383   0.86790   1.18780
H   1.07007  -0.78995   1.68541
H  -1.01254   1.20239  -1.46243
H   0.35953   2.02000  -0.63247
H  -1.19622   1.76711   0.23676
"""


def spec(xyz: str = WATER, charge: int = 0, **fields: object) -> QuantumSpec:
    parsed = parse_spec({"molecule": {"xyz": xyz}, "charge": charge, "engine": "pyscf", **fields})
    assert isinstance(parsed, QuantumSpec)
    return parsed


def direct(xyz: str, basis: str, charge: int = 0, spin: int = 0) -> Any:
    """Give PySCF's molecule without any code of ours."""
    atoms = [(atom.symbol, atom[1:]) for atom in parse_xyz(xyz)]
    return gto.M(atom=atoms, basis=basis, charge=charge, spin=spin, verbose=0)


def finish(engine: PySCF, asked: QuantumSpec, scratch: Path, restart: Path | None = None) -> QuantumResult:
    bench = bench_for(asked, scratch, restart)
    exits = run(engine, bench)
    assert engine.ended_well(bench, exits), engine.diagnose(bench, exits)
    collected = engine.collect(bench)
    frequencies = {"hessian"} if asked.task.endswith("frequencies") else set()
    assert {"log", "geometry", "orbitals"} | frequencies == set(collected.files)
    assert all(file.stat().st_size for file in collected.files.values())
    assert isinstance(collected.result, QuantumResult)
    return collected.result


def test_a_single_point_agrees_with_a_direct_computation(pyscf: PySCF, tmp_path: Path) -> None:
    """Reference: PySCF called directly, with the Gaussian form of B3LYP and density fitting."""
    result = finish(pyscf, spec(), tmp_path / "scratch")
    mf = dft.RKS(direct(WATER, "def2-svp"), xc="b3lypg").density_fit().run()
    assert result.energy_hartree == pytest.approx(mf.e_tot, abs=1e-8)
    assert result.homo_ev == pytest.approx(mf.mo_energy[4] * 27.2113862, abs=1e-5)
    assert result.lumo_ev == pytest.approx(mf.mo_energy[5] * 27.2113862, abs=1e-5)
    assert result.gap_ev == pytest.approx((mf.mo_energy[5] - mf.mo_energy[4]) * 27.2113862, abs=1e-5)
    assert result.dipole_debye == pytest.approx(np.linalg.norm(mf.dip_moment(verbose=0)), abs=1e-5)
    assert result.mulliken_charges == pytest.approx(mf.mulliken_pop(verbose=0)[1], abs=1e-6)
    assert (result.engine, result.level) == ("pyscf", "B3LYP/def2-SVP (density fitting)")
    assert result.scf_cycles == mf.cycles
    assert result.optimisation_steps is None


def test_optimised_water_has_the_published_geometry_and_energy(pyscf: PySCF, tmp_path: Path) -> None:
    """Hehre, Radom, Schleyer, Pople, Ab Initio Molecular Orbital Theory (1986), HF/3-21G.

    -75.58596 Eh, 0.967 Å, 107.6 degrees. Density fitting costs 1.6e-4 Eh with this old basis set, which a direct
    computation with exact integrals at the same geometry shows.
    """
    result = finish(pyscf, spec(task="optimisation", method="HF", basis="3-21G"), tmp_path / "scratch")
    length, angle = water_shape(result.xyz or "")
    assert scf.RHF(direct(result.xyz or "", "3-21g")).run().e_tot == pytest.approx(-75.58596, abs=1e-5)
    assert result.energy_hartree == pytest.approx(-75.58596, abs=3e-4)
    assert length == pytest.approx(0.967, abs=1e-3)
    assert angle == pytest.approx(107.6, abs=0.1)
    assert (result.optimisation_steps or 0) > 1


def test_optimised_water_is_stationary_without_density_fitting_too(pyscf: PySCF, tmp_path: Path) -> None:
    """Reference: energy and gradient by PySCF directly with exact integrals at the geometry that came out."""
    result = finish(pyscf, spec(task="optimisation"), tmp_path / "scratch")
    exact = dft.RKS(direct(result.xyz or "", "def2-svp"), xc="b3lypg").run()
    assert result.energy_hartree == pytest.approx(exact.e_tot, abs=1e-4)
    assert np.abs(exact.nuc_grad_method().kernel()).max() < 1e-3
    assert result.energy_hartree < finish(pyscf, spec(), tmp_path / "at the start").energy_hartree


def test_an_open_shell_is_unrestricted_and_takes_the_frontier_of_both_spins(pyscf: PySCF, tmp_path: Path) -> None:
    """Reference: PySCF's UHF called directly. The hydroxyl radical is a doublet, which is also the default."""
    result = finish(pyscf, spec(HYDROXYL, method="HF"), tmp_path / "scratch")
    mf = scf.UHF(direct(HYDROXYL, "def2-svp", spin=1)).density_fit().run()
    (alpha, beta), (n_alpha, n_beta) = mf.mo_energy, mf.nelec
    assert result.energy_hartree == pytest.approx(mf.e_tot, abs=1e-7)
    assert result.homo_ev == pytest.approx(max(alpha[n_alpha - 1], beta[n_beta - 1]) * 27.2113862, abs=1e-3)
    assert result.lumo_ev == pytest.approx(min(alpha[n_alpha], beta[n_beta]) * 27.2113862, abs=1e-3)
    assert result.level == "UHF/def2-SVP (density fitting)"


def test_an_atom_has_nothing_to_relax(pyscf: PySCF, tmp_path: Path) -> None:
    result = finish(pyscf, spec("1\nLi\nLi 5 0 0\n", charge=1, method="HF", task="optimisation"), tmp_path / "scratch")
    assert result.energy_hartree < -7.2
    assert result.optimisation_steps == 0
    assert result.dipole_debye == pytest.approx(0.0, abs=1e-6)


def job(**fields: Any) -> QuantumJob:
    given = {"xyz": WATER, "charge": 0, "multiplicity": 1, "task": "single_point", "method": "HF", "basis": "def2-SVP"}
    return QuantumJob(**{**given, "memory_mb": 2000, **fields})


def energy(asked: QuantumJob) -> float:
    mol = build_molecule(asked, asked.atoms)
    mol.verbose = 0
    return float(build_method(asked, mol).run().e_tot)


def test_b3lyp_is_the_gaussian_form_and_b3lyp5_the_other() -> None:
    """For water they differ by 0.037 Eh: VWN3 lies lower than VWN5."""
    assert energy(job(method="B3LYP5")) - energy(job(method="B3LYP")) == pytest.approx(0.037, abs=0.001)


def test_the_solvation_of_an_ion_follows_born() -> None:
    """Born: the solvation energy of a fixed charge goes with 1 - 1/permittivity (water 78.3553, hexane 1.8819)."""
    lithium = {"xyz": "1\nLi\nLi 0 0 0\n", "charge": 1}
    gas = energy(job(**lithium))
    water, hexane = (energy(job(**lithium, solvent=name)) - gas for name in ("water", "hexane"))
    assert water < 0
    assert water / hexane == pytest.approx((1 - 1 / 78.3553) / (1 - 1 / 1.8819), rel=0.01)


def test_dispersion_of_argon_is_the_formula_with_the_published_parameters() -> None:
    """D3(BJ) by hand for Ar2 at 3.8 Å, that is R = 7.1810 bohr, with B3LYP.

    s8 = 1.9889, a1 = 0.3981, a2 = 4.4211 (Grimme, Ehrlich, Goerigk, J. Comput. Chem. 32 (2011) 1456, table 2); of two
    argon atoms C6 = 64.6462 and Q = 3.44677 (D3's tables), so C8 = 3 C6 Q² = 2304.0 and f = a1 sqrt(C8 / C6) + a2 =
    6.7978: E = -C6 / (R⁶ + f⁶) - s8 C8 / (R⁸ + f⁸) = -6.6819e-4 Eh. The three-body term of two atoms is zero.
    """
    pair = {"xyz": "2\nAr2\nAr 0 0 0\nAr 0 0 3.8\n", "basis": "STO-3G"}
    asked = job(**pair, method="B3LYP", dispersion="D3BJ")
    plain = energy(job(**pair, method="B3LYP"))
    assert energy(asked) - plain == pytest.approx(-6.6819e-4, abs=1e-8)
    assert energy(job(**pair, method="B3LYP", dispersion="D4")) - plain == pytest.approx(-6.3e-4, abs=1e-4)


def test_dispersion_without_parameters_for_the_method_is_refused() -> None:
    with pytest.raises(InputError, match=r"dispersion: 'D3BJ' has no parameters for M06-2X"):
        spec(method="M06-2X", dispersion="D3BJ")


def test_smd_gives_the_hydration_energy_of_water_as_measured() -> None:
    """-6.31 kcal/mol by experiment (Minnesota Solvation Database, 2012), which SMD meets within about 2."""
    gas = energy(job(method="B3LYP", basis="6-31G*"))
    smd = energy(job(method="B3LYP", basis="6-31G*", solvent="water", solvent_model="SMD"))
    assert (smd - gas) * 627.509 == pytest.approx(-6.31, abs=2.5)
    pcm = energy(job(method="B3LYP", basis="6-31G*", solvent="water", solvent_model="CPCM"))
    assert smd != pytest.approx(pcm, abs=1e-4)


@pytest.mark.parametrize("solvent", sorted(SOLVENTS))
def test_smd_knows_every_solvent(solvent: str) -> None:
    asked = job(solvent=solvent, solvent_model="SMD")
    assert build_method(asked, build_molecule(asked, asked.atoms)).with_solvent.solvent


def test_loewdin_charges_are_those_of_the_symmetric_orthogonalisation(pyscf: PySCF, tmp_path: Path) -> None:
    """Reference: the square root of the overlap matrix by SciPy, with PySCF called directly."""
    result = finish(pyscf, spec(method="HF", density_fitting=False), tmp_path / "scratch")
    mf = scf.RHF(direct(WATER, "def2-svp")).run()
    root = sqrtm(mf.get_ovlp()).real
    populations = np.diag(root @ mf.make_rdm1() @ root)
    atoms = [label[0] for label in mf.mol.ao_labels(None)]
    charges = [z - populations[[a == i for a in atoms]].sum() for i, z in enumerate((8, 1, 1))]
    assert result.loewdin_charges == pytest.approx(charges, abs=1e-5)
    assert result.energy_hartree == pytest.approx(mf.e_tot, abs=1e-8)
    assert result.level == "HF/def2-SVP"


def test_heavy_elements_get_their_core_potential() -> None:
    """Iodine keeps 25 of its 53 electrons with def2 (28 in the core potential)."""
    mol = build_molecule(job(xyz="2\nHI\nI 0 0 0\nH 0 0 1.61\n"), parse_xyz("2\nHI\nI 0 0 0\nH 0 0 1.61\n"))
    assert mol.nelectron == 26


@pytest.mark.parametrize(
    ("change", "error_class", "fields"),
    [
        ({"max_scf_cycles": 2}, "scf_not_converged", {}),
        ({"max_scf_cycles": 2}, "scf_not_converged", {"task": "optimisation"}),
        ({"max_optimisation_steps": 1}, "optimisation_not_converged", {"task": "optimisation"}),
        ({"basis": "6-31G", "xyz": "2\nHI\nI 0 0 0\nH 0 0 1.61\n"}, "bad_input", {}),
    ],
)
def test_what_does_not_converge_or_cannot_be_computed_is_a_failure(
    pyscf: PySCF, tmp_path: Path, change: dict[str, object], error_class: str, fields: dict[str, object]
) -> None:
    def edit(scratch: Path) -> None:
        prepared = json.loads((scratch / JOB_FILE).read_text())
        (scratch / JOB_FILE).write_text(json.dumps({**prepared, **change}))

    bench = bench_for(spec(method="HF", basis="STO-3G", **fields), tmp_path / "scratch")
    exits = run(pyscf, bench, edit)
    assert not pyscf.ended_well(bench, exits)
    failure = pyscf.diagnose(bench, exits)
    assert failure.error_class == error_class
    assert failure.evidence
    assert failure.permanent == (error_class == "bad_input")


def test_success_needs_the_mark_as_the_last_line_and_a_complete_result(pyscf: PySCF, tmp_path: Path) -> None:
    bench = bench_for(spec(method="HF", basis="STO-3G"), tmp_path / "scratch")
    exits = run(pyscf, bench)
    log, result = bench.scratch / "output.log", bench.scratch / RESULT_FILE
    assert pyscf.ended_well(bench, exits)

    complete = result.read_bytes()
    result.write_bytes(complete[: len(complete) // 2])
    assert not pyscf.ended_well(bench, [Exit(code=0)])
    result.write_bytes(complete)

    log.write_text(log.read_text() + "a line after the mark\n")
    assert not pyscf.ended_well(bench, [Exit(code=0)])
    assert pyscf.diagnose(bench, [Exit(code=0)]).error_class == "program_failed"
    assert pyscf.diagnose(bench, [Exit(code=-9)]).error_class == "killed"
    log.write_text("MemoryError: Unable to allocate 40.0 GiB\n")
    assert pyscf.diagnose(bench, [Exit(code=1)]).error_class == "out_of_memory"
    log.write_text("ModuleNotFoundError: No module named 'pyscf'\n")
    assert pyscf.diagnose(bench, [Exit(code=1)]).before_start


def test_a_calculation_killed_in_mid_scf_goes_on_from_its_orbitals(pyscf: PySCF, tmp_path: Path) -> None:
    asked = spec(METHYLAMMONIUM, charge=1, basis="6-31G")
    whole = finish(pyscf, asked, tmp_path / "undisturbed")

    bench = bench_for(asked, tmp_path / "killed")
    (command,) = pyscf.prepare(bench)
    process = start(command, bench.scratch)

    def cycles() -> int:
        progress = pyscf.progress(bench)
        return progress.step or 0 if progress else 0

    eventually(lambda: cycles() >= 5, seconds=120)
    process.send_signal(signal.SIGKILL)
    exits = [Exit(code=process.wait())]
    assert not pyscf.ended_well(bench, exits)
    assert pyscf.diagnose(bench, exits).error_class == "killed"

    continued = finish(pyscf, asked, tmp_path / "continued", keep(pyscf, bench, tmp_path / "checkpoint"))
    assert continued.energy_hartree == pytest.approx(whole.energy_hartree, abs=1e-6)
    assert (continued.scf_cycles or 0) < (whole.scf_cycles or 0)
    assert "RESTARTED after SCF cycle" in (tmp_path / "continued" / "output.log").read_text()


def test_sigterm_ends_an_optimisation_at_once_and_it_goes_on_from_its_geometry(pyscf: PySCF, tmp_path: Path) -> None:
    asked = spec(task="optimisation", method="HF", basis="STO-3G")
    bench = bench_for(asked, tmp_path / "stopped")
    (command,) = pyscf.prepare(bench)
    process = start(command, bench.scratch)

    def at_second_step() -> bool:
        snapshot = pyscf.snapshot(bench)
        return snapshot is not None and "step 2" in snapshot.text

    eventually(at_second_step, seconds=120)
    process.send_signal(signal.SIGTERM)
    exits = [Exit(code=process.wait(timeout=10))]
    assert exits == [Exit(code=EXIT_STOPPED)]
    assert not pyscf.ended_well(bench, exits)
    assert pyscf.diagnose(bench, exits).error_class == "killed"
    assert not (bench.scratch / FAILURE_FILE).exists()

    continued = finish(pyscf, asked, tmp_path / "continued", keep(pyscf, bench, tmp_path / "checkpoint"))
    length, angle = water_shape(continued.xyz or "")
    # Hehre, Radom, Schleyer, Pople (1986), HF/STO-3G: -74.96590 Eh, 0.990 Å, 100.0 degrees.
    assert continued.energy_hartree == pytest.approx(-74.96590, abs=1e-4)
    assert length == pytest.approx(0.990, abs=1e-3)
    assert angle == pytest.approx(100.0, abs=0.1)
    point = json.loads((tmp_path / "continued" / "restart.json").read_text())
    assert point["scf_cycles"] > (continued.scf_cycles or 0)


@pytest.mark.parametrize("damage", [b"", b"\x89HDF\r\n\x1a\n of which little is left"])
def test_a_damaged_restart_point_costs_the_start_and_not_the_job(pyscf: PySCF, tmp_path: Path, damage: bytes) -> None:
    checkpoint = tmp_path / "checkpoint"
    checkpoint.mkdir()
    (checkpoint / "restart.chk").write_bytes(damage)
    point = {"text": "after SCF cycle 3", "scf_cycles": 3, "xyz": WATER}
    (checkpoint / "restart.json").write_text(json.dumps(point))
    result = finish(pyscf, spec(method="HF", basis="STO-3G"), tmp_path / "scratch", checkpoint)
    assert result.energy_hartree < -74.9


def test_the_command_is_held_to_its_cores_and_to_scratch(pyscf: PySCF, tmp_path: Path) -> None:
    bench = bench_for(spec(solvent="water"), tmp_path / "scratch", cores=2)
    (command,) = pyscf.prepare(bench)
    prepared = QuantumJob.model_validate_json((bench.scratch / JOB_FILE).read_bytes())
    assert command.environment["OMP_NUM_THREADS"] == command.environment["OPENBLAS_NUM_THREADS"] == "2"
    assert command.environment["PYSCF_TMPDIR"] == str(bench.scratch)
    assert command.argv[-1] == JOB_FILE
    assert (prepared.memory_mb, prepared.solvent, prepared.multiplicity) == (2000, "water", 1)
    assert pyscf.progress(bench) is None
    assert pyscf.snapshot(bench) is None


@pytest.mark.parametrize(
    ("molecule", "fields", "field"),
    [
        ({"smiles": "O"}, {"charge": 0}, "molecule.xyz"),
        ({"smiles": "O", "xyz": WATER}, {}, "charge"),
        ({"xyz": WATER}, {"multiplicity": 2}, "multiplicity"),
        ({"xyz": WATER}, {"method": "GFN2-xTB"}, "method"),
        ({"xyz": WATER.replace("0.763239", "0.000001")}, {"charge": 0}, "molecule.xyz"),
    ],
)
def test_what_cannot_be_computed_is_refused_before_it_starts(
    pyscf: PySCF, tmp_path: Path, molecule: dict[str, str], fields: dict[str, object], field: str
) -> None:
    asked = QuantumSpec.model_validate({"molecule": molecule, **fields})
    with pytest.raises(InputError) as caught:
        pyscf.prepare(bench_for(asked, tmp_path / "scratch"))
    assert caught.value.field == field


@pytest.mark.slow
def test_tetramethylammonium_agrees_with_a_direct_computation(pyscf: PySCF, tmp_path: Path) -> None:
    """Reference: PySCF called directly at the same geometry.

    The project's measured facts have -213.998136 Eh, HOMO -15.58 and LUMO -3.86 eV for this level and an UFF geometry.
    """
    result = finish(pyscf, spec(TETRAMETHYLAMMONIUM, charge=1), tmp_path / "scratch")
    mf = dft.RKS(direct(TETRAMETHYLAMMONIUM, "def2-svp", charge=1), xc="b3lypg").density_fit().run()
    occupied = mf.mo_occ > 0
    assert result.energy_hartree == pytest.approx(mf.e_tot, abs=1e-7)
    assert result.energy_hartree == pytest.approx(-213.998136, abs=1e-5)
    assert (result.homo_ev, result.lumo_ev) == (pytest.approx(-15.58, abs=0.01), pytest.approx(-3.86, abs=0.01))
    assert result.homo_ev == pytest.approx(mf.mo_energy[occupied].max() * 27.2113862, abs=1e-4)
    assert result.lumo_ev == pytest.approx(mf.mo_energy[~occupied].min() * 27.2113862, abs=1e-4)
    for charges in (result.mulliken_charges, result.loewdin_charges):
        assert charges is not None
        assert sum(charges) == pytest.approx(1, abs=1e-6)
    # A tetrahedron has no dipole about its centre of mass, ion or not.
    assert result.dipole_debye == pytest.approx(0.0, abs=0.02)
