"""The wavefunction agent: artifacts handed over between steps, tables, sentences and figures."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.image import imread

from orchestrator.agents import JobResult
from orchestrator.state import Source
from tasks.jobspec import InputFile
from tasks.results import Artifact, Failure, Orbital, WavefunctionResult
from tasks.specs import WavefunctionSpec
from tasks.workspace import write_artifact
from tests.unit.orchestrator.agents.conftest import Walk, result
from worker.programs.orbital_picture import _png

WATER = "3\nwater\nO 0 0 0.119262\nH 0 0.763239 -0.477047\nH 0 -0.763239 -0.477047\n"


def quantum_steps(walk: Walk) -> None:
    """Do all steps before the analysis, with a file of orbitals for each molecule of the last."""
    walk.begin(1)
    for step in walk.plan.steps[1:-2]:
        specs = walk.begin(step.number).specs
        artifacts = [
            Artifact(path=f"jobs/{step.number}-{i}/orbitals.chk", size_bytes=7, sha256=f"{i}" * 64, role="orbitals")
            for i in range(len(specs))
        ]
        left = artifacts if step.goal.method == "B3LYP" else [None] * len(specs)
        walk.end(
            step.number,
            [
                replace(result(spec, homo_ev=-15.0, lumo_ev=-4.0), artifacts=(a,) if a else ())
                for spec, a in zip(specs, left, strict=True)
            ],
        )


def analysed(spec: WavefunctionSpec, workspace: Path, **values: object) -> JobResult:
    import numpy as np

    picture = _png(np.full((70, 88, 3), 200, dtype=np.uint8))
    artifacts = tuple(
        write_artifact(workspace / "jobs" / spec.label / f"{name}.png", picture, workspace, f"picture.{name}")
        for name in spec.orbitals
        if "pictures" in spec.analyses
    )
    lumo = Orbital(
        number=6, name="LUMO", occupation=0.0, energy_ev=1.21, atom_shares=(-0.07, 0.53, 0.54), shell_shares={}
    )
    base = WavefunctionResult(
        xyz=WATER, charge=0, multiplicity=1, homo_ev=-7.92, lumo_ev=1.21, orbitals=(lumo,), engine="wavefunction",
        engine_version="2.14.0",
    )  # fmt: skip
    return JobResult(
        job_id=f"a-{spec.label}",
        spec=spec,
        state="SUCCEEDED",
        result=base.model_copy(update=values),
        artifacts=artifacts,
        compute_seconds=3.0,
    )


def test_the_orbitals_of_each_molecule_are_handed_over_as_exact_files(workspace: Path) -> None:
    walk = Walk("Hirshfeld charges and pictures of the LUMO of TMA and DMP at B3LYP/def2-SVP", workspace)
    quantum_steps(walk)
    number = walk.plan.steps[-2].number
    work = walk.begin(number)
    assert not work.error
    files = [spec.inputs["wavefunction"] for spec in work.specs]
    # Those of the DFT step, in the order of the molecules; the tight-binding step left none.
    assert [file.path for file in files] == ["jobs/3-0/orbitals.chk", "jobs/3-1/orbitals.chk"]
    assert [file.sha256[0] for file in files] == ["0", "1"]
    assert [spec.label for spec in work.specs] == ["tetramethylammonium", "N,N-dimethylpiperidinium"]
    (first, _) = work.specs
    assert isinstance(first, WavefunctionSpec)
    assert (first.analyses, first.orbitals, first.engine) == (("hirshfeld", "pictures"), ("LUMO",), "wavefunction")


def test_the_isovalue_that_was_asked_for_is_that_of_the_job(workspace: Path) -> None:
    walk = Walk("Plot the LUMO of water with an isovalue of 0.02", workspace)
    quantum_steps(walk)
    (spec,) = walk.begin(walk.plan.steps[-2].number).specs
    assert isinstance(spec, WavefunctionSpec)
    assert spec.isovalue == 0.02


def test_charges_are_a_table_and_pictures_stand_in_the_report(workspace: Path) -> None:
    walk = Walk("Hirshfeld charges, composition and a picture of the LUMO of water", workspace)
    quantum_steps(walk)
    number = walk.plan.steps[-2].number
    (spec,) = walk.begin(number).specs
    assert isinstance(spec, WavefunctionSpec)
    done = analysed(spec, workspace, hirshfeld_charges=(-0.32, 0.16, 0.16), notes=("Hirshfeld: free atoms.",))
    work = walk.end(number, [done])
    finding = work.finding
    assert finding and finding.table
    assert finding.table.rows[0] == ("water", "O1", "−0.3200")
    assert [column.title for column in finding.table.columns] == ["Molecule", "Atom", "Hirshfeld charge"]
    assert "The LUMO of water at 1.210 eV is on H3 (54%) and H2 (53%)." in finding.summary
    (picture,) = finding.pictures
    shown = imread(io.BytesIO((workspace / picture.file.path).read_bytes()), format="png")
    assert shown.shape[0] > 300
    assert "LUMO of water, B3LYP" in picture.caption
    walk.begin(number + 1)
    report = (workspace / "runs/run-1/report.md").read_text()
    assert f"(figures/orbitals-water-step{number}.png)" in report
    assert "| water | O1 | −0.3200 |" in report
    assert "water: Hirshfeld: free atoms." in report


def test_a_failed_analysis_is_said_and_the_rest_goes_on(workspace: Path) -> None:
    walk = Walk("Löwdin charges of TMA and water", workspace)
    quantum_steps(walk)
    number = walk.plan.steps[-2].number
    first, second = walk.begin(number).specs
    assert isinstance(first, WavefunctionSpec) and isinstance(second, WavefunctionSpec)
    reason = Failure(error_class="menu_mismatch", message="Multiwfn did not answer.", remedy="Take ours.")
    failed = replace(analysed(first, workspace), state="FAILED", result=None, failure=reason)
    work = walk.end(number, [failed, analysed(second, workspace, loewdin_charges=(-0.15, 0.075, 0.075))])
    assert work.finding and work.finding.table
    assert {row[0] for row in work.finding.table.rows} == {"water"}
    assert "tetramethylammonium failed: Multiwfn did not answer [menu_mismatch] (Take ours.)" in work.finding.summary
    assert walk.species[0].error and not walk.species[1].error


def test_without_orbitals_of_the_steps_before_it_says_so(workspace: Path) -> None:
    walk = Walk("Hirshfeld charges of water", workspace)
    walk.begin(1)
    work = walk.begin(walk.plan.steps[-2].number)
    assert "left by none of the steps before" in work.error


def test_an_earlier_job_needs_no_molecule(workspace: Path) -> None:
    walk = Walk("Plot the HOMO and LUMO of the last job", workspace)
    file = InputFile(path="jobs/x/orbitals.chk", sha256="0" * 64, size_bytes=7)
    source = Source(job_id="x-0", label="water", level="HF/STO-3G", file=file)
    step = walk.plan.step(1)
    assert step.goal.source_job == "last"
    walk.plan = walk.plan.replace(step.model_copy(update={"goal": step.goal.model_copy(update={"source": source})}))
    (spec,) = walk.begin(1).specs
    assert isinstance(spec, WavefunctionSpec)
    assert spec.inputs["wavefunction"] == file
    work = walk.end(1, [analysed(spec, workspace)])
    assert work.finding
    assert work.finding.table and [row[1] for row in work.finding.table.rows] == ["HOMO", "LUMO"]
    assert [column.title for column in work.finding.table.columns][2:] == ["Number", "Energy", "Occupation"]
    assert work.finding.table.rows[1][2:] == ("6", "1.210", "0.0")
    # Of orbitals that the result does not list only the energies are known: no columns of dashes.
    work = walk.end(1, [analysed(spec, workspace, orbitals=())])
    assert work.finding and work.finding.table
    assert [row[1:] for row in work.finding.table.rows] == [("HOMO", "−7.920"), ("LUMO", "1.210")]
    assert [column.title for column in work.finding.table.columns] == ["Molecule", "Orbital", "Energy"]
    assert "HOMO and LUMO of water, HF/STO-3G" in work.finding.pictures[0].caption
    walk.begin(2)
    report = (workspace / "runs/run-1/report.md").read_text()
    assert "No simulation was needed" not in report


@pytest.mark.parametrize("count", [1, 2, 4])
def test_panels_hold_all_pictures(workspace: Path, count: int) -> None:
    import numpy as np

    from orchestrator.panels import orbital_panel

    picture = _png(np.full((70, 88, 3), 30, dtype=np.uint8))
    panel = imread(io.BytesIO(orbital_panel([(picture, f"orbital {i}") for i in range(count)])), format="png")
    dark = (panel[..., :3].max(axis=2) < 0.3).mean(axis=0)
    assert panel.shape[1] == min(count, 3) * 660
    assert (dark > 0.4).mean() > 0.95
