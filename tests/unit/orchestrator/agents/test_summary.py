from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.agents import AGENTS
from orchestrator.report import plan_markdown
from orchestrator.state import Decision, RunState, StepStatus
from tests.unit.orchestrator.agents.conftest import Walk, failure, result


def _whole(text: str, workspace: Path, *, fail_first: bool = False) -> Walk:
    walk = Walk(text, workspace)
    walk.begin(1)
    for step in walk.plan.steps[1:-1]:
        specs = walk.begin(step.number).specs
        jobs = [
            failure(spec) if fail_first and index == 0 else result(spec, homo_ev=-15.0 - index, lumo_ev=-3.0 - index)
            for index, spec in enumerate(specs)
        ]
        walk.end(step.number, jobs)
    return walk


def test_the_report_has_request_plan_tables_figure_level_sources_caveats_and_files(workspace: Path) -> None:
    walk = _whole("Compare the HOMO and LUMO of TMA and DMP", workspace)
    work = walk.begin(4)
    assert work.finding is not None
    assert [a.role for a in work.finding.artifacts] == ["report", "figure"]
    report = (workspace / "runs/run-1/report.md").read_text()
    for expected in (
        "# Compare the HOMO and LUMO of TMA and DMP",
        "> Compare the HOMO and LUMO of TMA and DMP",
        "| Molecule | Total energy / Eh | HOMO / eV | LUMO / eV | Gap / eV |",
        "| tetramethylammonium | −1.000000 | −15.000 | −3.000 | 12.000 |",
        "`C[N+](C)(C)C`",
        "![HOMO and LUMO energies, B3LYP/def2-SVP//GFN2-xTB, in the gas phase",
        "(figures/levels.png)",
        "4. ✅ Compare, and write the report",
        "Stephens, Devlin, Chabalowski, Frisch, J. Phys. Chem. 98 (1994) 11623",
        "Weigend, Ahlrichs, Phys. Chem. Chem. Phys. 7 (2005) 3297",
        "Bannwarth, Ehlert, Grimme, J. Chem. Theory Comput. 15 (2019) 1652",
        "cations in the gas phase",
        "vertical",
        "not the fundamental gap",
        "`runs/run-1/structures/tetramethylammonium-step2.xyz`",
        "0:00:08 on workers (8.0 s",
    ):
        assert expected in report, expected
    assert (workspace / "runs/run-1/figures/levels.png").read_bytes().startswith(b"\x89PNG")


def test_the_answer_is_sentences_a_table_with_units_and_paths(workspace: Path) -> None:
    walk = _whole("Compare the HOMO and LUMO of TMA and DMP", workspace)
    work = walk.begin(4)
    assert work.finding is not None
    answer = work.finding.summary
    assert "tetramethylammonium has the higher LUMO, by 1.000 eV" in answer
    assert "LUMO / eV" in answer
    assert "Level: B3LYP/def2-SVP//GFN2-xTB" in answer
    assert "Report: runs/run-1/report.md" in answer
    assert "Figure: runs/run-1/figures/levels.png" in answer


def test_a_molecule_that_failed_stands_in_the_report(workspace: Path) -> None:
    walk = _whole("Compare the HOMO and LUMO of TMA and DMP", workspace, fail_first=True)
    assert walk.begin(4).finding is not None
    report = (workspace / "runs/run-1/report.md").read_text()
    assert "### Not computed" in report
    assert "- tetramethylammonium: step 2: The SCF did not converge" in report


def test_a_request_without_simulation_has_no_figure_and_says_so(workspace: Path) -> None:
    walk = Walk("molecular weight of TMA", workspace)
    walk.begin(1)
    work = walk.begin(2)
    assert work.finding is not None
    assert [a.role for a in work.finding.artifacts] == ["report"]
    assert "No simulation was needed" in (workspace / "runs/run-1/report.md").read_text()


def test_no_figure_of_orbitals_where_none_was_asked_for(workspace: Path) -> None:
    walk = _whole("dipole moment of water in water", workspace)
    work = walk.begin(4)
    assert work.finding is not None
    assert [a.role for a in work.finding.artifacts] == ["report"]


def test_the_same_findings_give_the_same_files(workspace: Path) -> None:
    walk = _whole("HOMO of TMA", workspace)
    summary = AGENTS["summary_agent"]
    first = summary.plan_jobs(walk.step(4), walk.context).finding
    assert first == summary.plan_jobs(walk.step(4), walk.context).finding


def test_nothing_found_is_an_error(workspace: Path) -> None:
    assert Walk("HOMO of TMA", workspace).begin(4).error


def test_text_of_the_request_cannot_break_the_report(workspace: Path) -> None:
    walk = _whole("HOMO of TMA | <script>alert(1)</script> ![x](y)", workspace)
    walk.begin(4)
    report = (workspace / "runs/run-1/report.md").read_text()
    assert "<script>" not in report
    assert "![x](y)" not in report


@pytest.mark.parametrize("status", list(StepStatus))
def test_the_plan_shows_each_step_with_its_state(workspace: Path, status: StepStatus) -> None:
    walk = Walk("HOMO of TMA", workspace)
    plan = walk.plan.replace(walk.step(2).model_copy(update={"status": status, "error": "why it failed"}))
    text = plan_markdown(
        RunState(
            run_id="run-1",
            request=walk.text,
            plan=plan,
            decision=Decision(rule="keyword_route", agent="qm_agent", reason="keywords"),
        )
    )
    assert text.startswith("# Plan: HOMO of TMA\n")
    assert "Decided by keyword route → qm_agent: keywords." in text
    assert f": {status.value}: why it failed" in text
    assert "(qm_agent, after 1)" in text.replace("\\_", "_")


def test_the_answer_of_several_parts_says_what_came_out_of_each(workspace: Path) -> None:
    walk = Walk(
        "Give the molecular formula of water and, separately, the dipole moment of TMA with GFN2-xTB", workspace
    )
    walk.begin(1)
    walk.begin(2)
    walk.end(3, [result(spec, dipole_debye=0.0) for spec in walk.begin(3).specs])
    finding = walk.begin(4).finding
    assert finding is not None
    assert "water is H2O" in finding.summary
    assert "tetramethylammonium" in finding.summary
