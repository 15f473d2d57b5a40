from __future__ import annotations

import struct
import zlib
from pathlib import Path

from orchestrator.agents import JobResult
from orchestrator.state import StepStatus
from tasks.results import Artifact, Failure, Ranked, SwarmResult
from tasks.specs import QuantumSpec, SwarmSpec
from tasks.workspace import write_artifact
from tests.unit.orchestrator.agents.conftest import Walk, result

ASKED = "Design piperidinium cations for the backbone PBF_BB_1 and verify the best 2"
DMP, ETHYL = "C[N+]1(C)CCCCC1", "CC[N+]1(C)CCCCC1"


def picture() -> bytes:
    """Give the smallest PNG: one white point."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\xff")) + chunk(b"IEND", b"")


def found(spec: SwarmSpec, workspace: Path) -> JobResult:
    """Give a swarm that ended well, with its figures in the workspace."""
    values = {"lumo_ev": -1.74, "gap_ev": 10.04, "iec_mmol_per_g": 3.55, "molar_mass_g_per_mol": 114.2}
    ranking = (
        Ranked(smiles=DMP, score=0.84, values=values),
        Ranked(smiles=ETHYL, score=0.79, values={**values, "lumo_ev": -1.9}),
        Ranked(smiles="CCC[N+]1(C)CCCCC1", score=0.75, values={**values, "lumo_ev": -2.0}),
    )
    swarm = SwarmResult(ranking=ranking, steps=8, particles=24, seed=42, evaluations=71, failed=2, recovered_steps=1,
                        engine="pso", engine_version="tblite 0.8.0", level="GFN2-xTB (ALPB water)")  # fmt: skip
    artifacts: list[Artifact] = []
    for role, name in (("progress_figure", "progress.png"), ("structures_figure", "top_structures.png")):
        artifacts.append(write_artifact(workspace / "jobs" / "ab" / name, picture(), workspace, role))
    return JobResult(
        job_id="j", spec=spec, state="SUCCEEDED", result=swarm, artifacts=tuple(artifacts), compute_seconds=3
    )


def designed(workspace: Path) -> Walk:
    """Give a design whose swarm has ended."""
    walk = Walk(ASKED, workspace)
    (spec,) = walk.begin(1).specs
    assert isinstance(spec, SwarmSpec) and spec.label
    walk.end(1, [found(spec, workspace)])
    return walk


def test_the_best_candidates_become_the_molecules_of_the_run(workspace: Path) -> None:
    walk = designed(workspace)
    assert [(one.name, one.smiles, one.charge) for one in walk.species] == [
        ("candidate 1", DMP, 1),
        ("candidate 2", ETHYL, 1),
    ]
    (finding,) = walk.findings
    assert "Of 71 different piperidinium cations on PBF_BB_1" in finding.summary
    assert finding.table and len(finding.table.rows) == 3
    assert finding.table.rows[0][:3] == ("1", DMP, "0.840")
    text = " ".join(finding.notes)
    for said in ("no predictions", "seed 42", "2 without a result (score 0)", "timed out", "proxies", "weight 2"):
        assert said in text
    assert all((workspace / picture.file.path).is_file() for picture in finding.pictures)


def test_the_design_loop_ends_in_a_report_with_ranking_figures_and_dft(workspace: Path) -> None:
    walk = designed(workspace)
    walk.begin(2)
    assert all(one.geometry for one in walk.species)
    for number in (3, 4):
        specs = walk.begin(number).specs
        assert len(specs) == 2
        assert all(isinstance(s, QuantumSpec) and s.solvent == "water" and s.charge == 1 for s in specs)
        walk.end(number, [result(s, homo_ev=-8.0 - i, lumo_ev=-0.5 * i, gap_ev=8.0) for i, s in enumerate(specs)])
    work = walk.begin(5)
    assert work.finding and walk.plan.step(5).status is StepStatus.DONE
    assert DMP in work.finding.summary and "candidate 1 has the higher LUMO" in work.finding.summary
    report = (workspace / "runs" / "run-1" / "report.md").read_text()
    for said in ("figures/swarm-progress.png", "figures/swarm-structures.png", "figures/levels.png", "Clerc", "ALPB",
                 "Rank", "B3LYP/def2-SVP//GFN2-xTB in water"):  # fmt: skip
        assert said in report, said
    figures = [a for a in work.finding.artifacts if a.role == "figure"]
    assert len(figures) == 3


def test_a_swarm_that_failed_is_said_with_its_reason(workspace: Path) -> None:
    walk = Walk(ASKED, workspace)
    (spec,) = walk.begin(1).specs
    why = Failure(error_class="step_timeout", message="Step 3 timed out twice.", remedy="Raise step_seconds.")
    work = walk.end(1, [JobResult(job_id="j", spec=spec, state="FAILED", failure=why)])
    assert work.error == "the swarm gave no candidates: Step 3 timed out twice. [step_timeout] Raise step_seconds."
