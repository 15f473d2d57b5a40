from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.agents import AGENTS, Context
from orchestrator.planning import dry_run, make_plan
from tasks.errors import InputError
from tasks.specs import dump_spec, parse_spec

README = "Compare the HOMO and LUMO energies of tetramethylammonium and N,N-dimethylpiperidinium"


def test_a_dry_run_names_agents_dependencies_specs_and_cost() -> None:
    shown = dry_run(README, frozenset({"pyscf", "xtb"}))
    assert json.loads(json.dumps(shown)) == shown
    assert shown["queued"] == 0
    assert [step["agent"] for step in shown["steps"]] == ["chemistry_agent", "qm_agent", "qm_agent", "summary_agent"]
    assert [step["depends_on"] for step in shown["steps"]] == [[], [1], [2], [1, 2, 3]]
    assert [len(step["jobs"]) for step in shown["steps"]] == [0, 2, 2, 0]
    total = sum(job["estimated_cost"]["core_seconds"] for step in shown["steps"] for job in step["jobs"])
    assert shown["estimated_cost"]["core_seconds"] == pytest.approx(total, abs=0.01)
    assert shown["estimated_cost"]["jobs"] == 4


def test_only_what_is_known_now_is_shown_as_exact() -> None:
    first, second = dry_run(README)["steps"][1:3]
    for job in first["jobs"]:
        assert "geometry_from" not in job
        assert parse_spec(job["spec"]).kind == "quantum"
        assert job["spec"]["molecule"]["xyz"]
    for job in second["jobs"]:
        assert job["geometry_from"] == "step 2"
        assert "xyz" not in job["spec"]["molecule"]
        assert (job["spec"]["method"], job["spec"]["basis"], job["spec"]["engine"]) == ("B3LYP", "def2-SVP", "pyscf")


def test_the_specs_shown_are_those_that_the_agents_will_submit(tmp_path: Path) -> None:
    _, plan, species = make_plan(README)
    context = Context(
        run_id="r", request=README, species=species, findings=(), workspace=tmp_path, folder=tmp_path / "runs" / "r"
    )
    identified = AGENTS["chemistry_agent"].plan_jobs(plan.step(1), context).species
    assert identified is not None
    later = Context(
        run_id="r", request=README, species=identified, findings=(), workspace=tmp_path, folder=context.folder
    )
    submitted = [dump_spec(spec) for spec in AGENTS["qm_agent"].plan_jobs(plan.step(2), later).specs]
    assert submitted == [job["spec"] for job in dry_run(README)["steps"][1]["jobs"]]


@pytest.mark.parametrize("text", ["what's for lunch?", "HOMO of ''", "HOMO of TMA at FOO/def2-SVP"])
def test_bad_requests_are_refused_as_they_are_when_run(text: str) -> None:
    with pytest.raises(InputError):
        dry_run(text)


def test_a_request_without_simulation_costs_nothing() -> None:
    shown = dry_run("molecular weight of water")
    assert shown["estimated_cost"] == {
        "jobs": 0,
        "core_seconds": 0.0,
        "unknown": 0,
        "core_hours": 0.0,
        "note": "no simulation is needed",
    }


def test_a_job_whose_cost_is_not_known_is_counted_as_that() -> None:
    shown = dry_run("Hirshfeld charges of the last job")
    assert [shown["estimated_cost"][key] for key in ("jobs", "core_seconds", "unknown")] == [1, 0.0, 1]
    assert [step["estimated_cost"]["unknown"] for step in shown["steps"]] == [1, 0]
