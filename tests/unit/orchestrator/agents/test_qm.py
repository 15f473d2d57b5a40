from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.agents.compare import compare
from orchestrator.recovery.refused import lost_structures
from orchestrator.state import Quantity, RunState
from tasks.elements import parse_xyz, write_xyz
from tasks.specs import QuantumSpec
from tests.unit.orchestrator.agents.conftest import Walk, failure, result


def _specs(walk: Walk, number: int) -> list[QuantumSpec]:
    specs = [spec for spec in walk.begin(number).specs if isinstance(spec, QuantumSpec)]
    assert specs
    return specs


def test_each_molecule_is_optimised_from_its_structure_and_computed_at_the_optimised_one(workspace: Path) -> None:
    walk = Walk("Compare the HOMO and LUMO of TMA and DMP", workspace)
    walk.begin(1)
    specs = _specs(walk, 2)
    assert [(s.label, s.task, s.method, s.engine, s.charge, s.multiplicity) for s in specs] == [
        ("tetramethylammonium", "optimisation", "GFN2-xTB", "xtb", 1, 1),
        ("N,N-dimethylpiperidinium", "optimisation", "GFN2-xTB", "xtb", 1, 1),
    ]
    moved = [write_xyz([a._replace(x=a.x + 0.1) for a in parse_xyz(s.molecule.xyz or "")], "opt") for s in specs]
    work = walk.end(2, [result(s, xyz=xyz, optimisation_steps=9) for s, xyz in zip(specs, moved, strict=True)])
    assert work.finding is not None
    assert [a.path for a in work.finding.artifacts] == [
        "runs/run-1/structures/tetramethylammonium-step2.xyz",
        "runs/run-1/structures/n-n-dimethylpiperidinium-step2.xyz",
    ]
    assert walk.species[0].geometry_level == "GFN2-xTB"
    later = _specs(walk, 3)
    assert [s.molecule.xyz for s in later] == moved
    assert [(s.task, s.method, s.basis, s.engine) for s in later] == [
        ("single_point", "B3LYP", "def2-SVP", "pyscf")
    ] * 2


def test_results_become_a_table_with_units_and_a_comparison(workspace: Path) -> None:
    walk = Walk("Compare the HOMO, LUMO and dipole of TMA and DMP", workspace)
    walk.begin(1)
    walk.end(2, [result(s) for s in _specs(walk, 2)])
    tma, dmp = _specs(walk, 3)
    # Tetramethylammonium as measured in FACTS, section 6.
    values = {"energy_hartree": -213.998136, "homo_ev": -15.58, "lumo_ev": -3.86, "dipole_debye": 0.0004}
    other = {"energy_hartree": -330.5, "homo_ev": -13.1, "lumo_ev": -3.6, "dipole_debye": 1.25}
    work = walk.end(3, [result(dmp, **other), result(tma, **values)])
    assert work.finding is not None
    assert work.finding.table is not None
    heads = [f"{c.title} / {c.unit}" if c.unit else c.title for c in work.finding.table.columns]
    assert heads == ["Molecule", "Total energy / Eh", "HOMO / eV", "LUMO / eV", "Gap / eV", "Dipole moment / D"]
    assert work.finding.table.rows == (
        ("tetramethylammonium", "−213.998136", "−15.580", "−3.860", "11.720", "0.000"),
        ("N,N-dimethylpiperidinium", "−330.500000", "−13.100", "−3.600", "9.500", "1.250"),
    )
    assert "N,N-dimethylpiperidinium has the higher HOMO, by 2.480 eV" in work.finding.summary
    assert (
        "N,N-dimethylpiperidinium has the higher LUMO, by 0.260 eV: −3.600 eV against −3.860 eV" in work.finding.summary
    )
    assert "N,N-dimethylpiperidinium has the larger dipole moment, by 1.250 D" in work.finding.summary
    assert work.finding.compute_seconds == 4.0
    assert work.finding.level == "B3LYP, pyscf 1.0"
    assert {(v.species, v.name): v.value for v in work.finding.values}[("tetramethylammonium", "lumo")] == -3.86


def test_what_failed_is_said_and_the_rest_goes_on(workspace: Path) -> None:
    walk = Walk("Compare the HOMO of TMA and DMP", workspace)
    walk.begin(1)
    tma, dmp = _specs(walk, 2)
    work = walk.end(2, [failure(tma), result(dmp)])
    assert not work.error
    assert work.finding is not None
    assert (
        "tetramethylammonium failed: The SCF did not converge in 100 cycles [scf_not_converged]" in work.finding.summary
    )
    assert walk.species[0].error.startswith("step 2: The SCF did not converge")
    assert [s.label for s in _specs(walk, 3)] == ["N,N-dimethylpiperidinium"]


def test_a_step_fails_only_when_all_of_it_failed(workspace: Path) -> None:
    walk = Walk("Compare the HOMO of TMA and DMP", workspace)
    walk.begin(1)
    work = walk.end(2, [failure(s, "Out of memory.") for s in _specs(walk, 2)])
    assert work.finding is None
    assert work.error.count("Out of memory [scf_not_converged]") == 2
    assert "no molecule is left to compute" in walk.begin(3).error


def test_a_cancelled_or_missing_job_is_said(workspace: Path) -> None:
    walk = Walk("HOMO of TMA and DMP and BTMA", workspace)
    walk.begin(1)
    first, second, _ = _specs(walk, 2)
    cancelled = failure(first)
    cancelled = type(cancelled)(job_id="x", spec=first, state="CANCELLED")
    walk.end(2, [cancelled, result(second)])
    assert [one.error for one in walk.species] == ["step 2: was cancelled", "", "step 2: was not computed"]


def test_a_molecule_that_came_apart_is_not_passed_over_in_silence(workspace: Path) -> None:
    walk = Walk("Optimise TMA", workspace)
    walk.begin(1)
    (spec,) = _specs(walk, 2)
    atoms = parse_xyz(spec.molecule.xyz or "")
    atoms[0] = atoms[0]._replace(x=atoms[0].x + 5)
    work = walk.end(2, [result(spec, xyz=write_xyz(atoms))])
    assert work.finding is not None
    assert any("no longer this molecule: C1-N2" in note for note in work.finding.notes)


def test_a_single_atom_is_not_optimised(workspace: Path) -> None:
    walk = Walk("HOMO of chloride", workspace)
    walk.begin(1)
    assert [s.task for s in _specs(walk, 2)] == ["single_point"]
    walk.end(2, [result(s) for s in _specs(walk, 2)])
    assert walk.species[0].geometry_level == "ETKDGv3, no force field"


def test_charges_are_summed_up_with_their_extremes(workspace: Path) -> None:
    walk = Walk("Mulliken charges of water", workspace)
    walk.begin(1)
    walk.end(2, [result(s) for s in _specs(walk, 2)])
    (spec,) = _specs(walk, 3)
    work = walk.end(3, [result(spec, mulliken_charges=(-0.3, 0.1, 0.2))])
    assert work.finding is not None
    assert work.finding.table is not None
    assert work.finding.table.rows[0][-2:] == ("O1 −0.300", "H3 0.200")
    assert "water, Mulliken charges (e): O1 −0.300; 2 H together 0.300." in work.finding.notes


@pytest.mark.parametrize("damage", ["no longer in", "changed"])
def test_a_structure_that_is_not_what_was_recorded_is_refused(workspace: Path, damage: str) -> None:
    walk = Walk("HOMO of water", workspace)
    walk.begin(1)
    assert walk.species[0].geometry is not None
    path = workspace / walk.species[0].geometry.path
    path.unlink()
    if damage == "changed":
        path.write_text("1\n\nHe 0 0 0\n")
    assert damage in walk.begin(2).error


def test_three_molecules_are_put_in_order_and_equal_ones_called_equal() -> None:
    values = [Quantity(species=s, name="lumo", value=v, unit="eV") for s, v in (("a", -3.0), ("b", -6.5), ("c", -4.0))]
    assert compare(values, ("lumo", "homo")) == [
        "a has the highest LUMO, 3.500 eV above b; in order, in eV: a (−3.000) > c (−4.000) > b (−6.500)."
    ]
    same = [value.model_copy(update={"value": -1.0}) for value in values]
    assert compare(same, ("lumo",)) == ["The LUMO is the same to 0.001 eV."]
    assert compare(values[:1], ("lumo",)) == []


def test_only_what_was_asked_for_is_in_the_table(workspace: Path) -> None:
    walk = Walk("energy of water", workspace)
    walk.begin(1)
    walk.end(2, [result(s) for s in _specs(walk, 2)])
    work = walk.end(3, [result(s, homo_ev=-8.0, lumo_ev=1.0, dipole_debye=2.0) for s in _specs(walk, 3)])
    assert work.finding is not None
    assert work.finding.table is not None
    assert [column.title for column in work.finding.table.columns] == ["Molecule", "Total energy"]
    assert len(work.finding.values) == 5


def test_a_molecule_whose_structure_is_lost_does_not_stop_the_others(workspace: Path) -> None:
    walk = Walk("HOMO of water and methanol", workspace)
    walk.begin(1)
    assert walk.species[0].geometry is not None
    (workspace / walk.species[0].geometry.path).unlink()
    assert [s.label for s in _specs(walk, 2)] == ["methanol"]
    assert walk.species[0].error.startswith("step 2: geometry: ")


def test_frequencies_and_heat_become_columns_with_units_and_notes(workspace: Path) -> None:
    """1 Eh is 2625.4996 kJ/mol: 0.0200 Eh are 52.51 kJ/mol, 7.2e-5 Eh/K are 189.04 J/(mol K)."""
    walk = Walk("Frequencies and Gibbs energy, entropy and zero-point energy of water at 350 K", workspace)
    walk.begin(1)
    walk.end(2, [result(s) for s in _specs(walk, 2)])
    (spec,) = _specs(walk, 3)
    assert (spec.task, spec.temperature_kelvin) == ("optimisation_frequencies", 350.0)
    found = {
        "energy_hartree": -76.3,
        "frequencies_per_cm": (-45.3, 1650.0, 3700.1, 3800.2),
        "imaginary_modes": 1,
        "largest_gradient_hartree_per_bohr": 1e-5,
        "symmetry_number": 2,
        "zero_point_energy_hartree": 0.02,
        "entropy_hartree_per_kelvin": 7.2e-5,
        "gibbs_energy_hartree": -76.31,
        "temperature_kelvin": 350.0,
        "pressure_pascal": 101_325.0,
        "optimisation_steps": 4,
    }
    finding = walk.end(3, [result(spec, **found)]).finding
    assert finding is not None and finding.table is not None
    heads = [f"{c.title} / {c.unit}" if c.unit else c.title for c in finding.table.columns]
    assert heads == [
        "Molecule",
        "Total energy / Eh",
        "Zero-point energy / kJ/mol",
        "Entropy / J/(mol K)",
        "Gibbs energy / Eh",
        "Lowest frequency / cm⁻¹",
        "Imaginary modes",
        "Optimisation steps",
    ]
    assert finding.table.rows == (("water", "−76.300000", "52.51", "189.04", "−76.310000", "−45.3", "1", "4"),)
    notes = "\n".join(finding.notes)
    assert "harmonic frequencies (cm⁻¹, imaginary ones negative): −45.3, 1650.0, 3700.1, 3800.2." in notes
    assert "at 350 K and 101325 Pa, symmetry number 2" in notes
    assert "1 imaginary mode is left out of the thermochemistry" in notes
    assert walk.species[0].geometry_level == "B3LYP"


def test_frequencies_of_a_geometry_that_is_not_stationary_are_said_to_be_doubtful(workspace: Path) -> None:
    walk = Walk("Frequencies of water at B3LYP without optimisation", workspace)
    walk.begin(1)
    (spec,) = _specs(walk, 2)
    assert spec.task == "frequencies"
    found = {"frequencies_per_cm": (-45.3, 3800.2), "largest_gradient_hartree_per_bohr": 0.012}
    finding = walk.end(2, [result(spec, **found)]).finding
    assert finding is not None
    assert any("not stationary at this level (largest gradient 1.2e-02 Eh/bohr)" in note for note in finding.notes)


def test_molecules_of_different_levels_are_not_compared(workspace: Path) -> None:
    walk = Walk("Compare the HOMO energies of water and methane with B3LYP/def2-TZVP//GFN2-xTB", workspace)
    walk.begin(1)
    first = walk.begin(2)
    walk.end(2, [result(spec) for spec in first.specs])
    one, other = walk.begin(3).specs
    assert isinstance(other, QuantumSpec)
    coarser = other.model_copy(update={"basis": "def2-SVP"})
    work = walk.end(3, [result(one, homo_ev=-8.0), result(coarser, homo_ev=-10.0)])
    assert work.finding
    assert "not all computed at one level, and are not compared" in work.finding.summary
    assert "higher" not in work.finding.summary


def test_levels_side_by_side_share_a_geometry_and_each_number_names_its_level(workspace: Path) -> None:
    walk = Walk("Compare the gap of TMA at PBE0 and at B3LYP", workspace)
    walk.begin(1)
    (optimisation,) = _specs(walk, 2)
    walk.end(2, [result(optimisation, xyz=_moved(optimisation), level="GFN2-xTB")])
    specs = [_specs(walk, number)[0] for number in (3, 4)]
    assert [spec.method for spec in specs] == ["PBE0", "B3LYP"]
    assert {spec.molecule.xyz for spec in specs} == {_moved(optimisation)}
    # They end in any order; what is said of them follows the plan.
    for number, spec, gap in reversed(list(zip((3, 4), specs, (10.0, 9.25), strict=True))):
        walk.end(number, [result(spec, homo_ev=-12.0, lumo_ev=gap - 12.0, gap_ev=gap)])
    summary = walk.begin(5).finding
    assert summary
    assert "tetramethylammonium: PBE0/def2-SVP//GFN2-xTB has the larger gap, by 0.750 eV" in summary.summary
    report = (workspace / "runs/run-1/report.md").read_text()
    for level, gap in (("PBE0", "10.000"), ("B3LYP", "9.250")):
        row = next(line for line in report.splitlines() if line.startswith(f"| tetramethylammonium | {level}/def2-SVP"))
        assert gap in row
    assert report.index("### Step 3") < report.index("### Step 4")
    assert report.index("| PBE0/def2-SVP") < report.index("| B3LYP/def2-SVP")
    assert "PBE0/def2-SVP//GFN2-xTB; B3LYP/def2-SVP//GFN2-xTB (properties // geometry)" in report


def test_a_molecule_begins_at_the_structure_of_the_step_that_its_goal_names(workspace: Path) -> None:
    walk = Walk("Optimise TMA at PBE0 and at B3LYP", workspace)
    walk.begin(1)
    (first,) = _specs(walk, 2)
    walk.end(2, [result(first, xyz=_moved(first), level="PBE0")])
    # The second optimisation begins where it began, not at what the first one made meanwhile.
    (second,) = _specs(walk, 3)
    assert second.molecule.xyz == first.molecule.xyz != _moved(first)


def test_what_fails_at_one_level_is_computed_at_the_other(workspace: Path) -> None:
    walk = Walk("Compare the gap of TMA at PBE0 and at B3LYP", workspace)
    walk.begin(1)
    (optimisation,) = _specs(walk, 2)
    walk.end(2, [result(optimisation)])
    (pbe0,), (b3lyp,) = _specs(walk, 3), _specs(walk, 4)
    assert walk.end(3, [failure(pbe0)]).error
    finding = walk.end(4, [result(b3lyp, homo_ev=-12.0, lumo_ev=-2.0, gap_ev=10.0)]).finding
    assert finding and finding.table and finding.table.rows
    assert [one.error.partition(":")[0] for one in walk.species] == ["step 3"]


def _moved(spec: QuantumSpec) -> str:
    return write_xyz([a._replace(x=a.x + 0.1) for a in parse_xyz(spec.molecule.xyz or "")])


def test_a_structure_that_is_gone_is_missed_by_the_step_that_begins_at_it(workspace: Path) -> None:
    walk = Walk("Optimise TMA at PBE0 and at B3LYP", workspace)
    walk.begin(1)
    (first,) = _specs(walk, 2)
    walk.end(2, [result(first, xyz=_moved(first), level="PBE0")])
    (identified,) = walk.findings[0].produced
    assert identified.geometry and walk.species[0].geometry != identified.geometry
    (workspace / identified.geometry.path).unlink()
    state = RunState(plan=walk.plan, species=walk.species, findings=walk.findings)
    work = walk.begin(3)
    assert identified.geometry.path in lost_structures(state, walk.step(3), work)
