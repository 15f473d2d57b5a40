"""Requests for an analysis of orbitals, and the plans that they become."""

from __future__ import annotations

import pytest

from orchestrator.planning import make_plan
from orchestrator.planning.preview import dry_run
from tasks.errors import InputError


@pytest.mark.parametrize(
    ("text", "analyses", "orbitals"),
    [
        ("Plot the LUMO of TMA", ("pictures",), ("LUMO",)),
        ("Show me the HOMO-1 and LUMO+1 orbitals of TMA", ("pictures",), ("HOMO-1", "LUMO+1")),
        ("Compute the HOMO of TMA and plot it", ("pictures",), ("HOMO",)),
        ("Hirshfeld charges of tetramethylammonium at B3LYP/def2-SVP", ("hirshfeld",), ("HOMO", "LUMO")),
        ("Löwdin and Mulliken charges of water", ("mulliken", "loewdin"), ("HOMO", "LUMO")),
        ("cube files of the HOMO of water", ("cubes",), ("HOMO",)),
        ("electron density and electrostatic potential of water", ("density", "potential"), ("HOMO", "LUMO")),
        ("composition of orbital 12 of TMA", ("composition",), ("12",)),
        ("Plot orbitals 10 and 11 of TMA", ("pictures",), ("10", "11")),
        ("Plot orbitals 8, 10-12 of TMA", ("pictures",), ("8", "10", "11", "12")),
        ("Plot the orbitals from HOMO-3 to HOMO of TMA", ("pictures",), ("HOMO-3", "HOMO-2", "HOMO-1", "HOMO")),
        ("Energies of HOMO-1 … LUMO+1 of TMA", ("orbitals",), ("HOMO-1", "HOMO", "LUMO", "LUMO+1")),
        ("Compute the HOMO-1 of TMA", ("orbitals",), ("HOMO-1",)),
        ("wavefunction analysis of water",
         ("orbitals", "composition", "mulliken", "loewdin", "hirshfeld", "pictures"), ("HOMO", "LUMO")),
    ],
)  # fmt: skip
def test_a_molecule_is_computed_and_then_analysed(
    text: str, analyses: tuple[str, ...], orbitals: tuple[str, ...]
) -> None:
    decision, plan, species = make_plan(text)
    assert decision.agent == "multiwfn_agent"
    assert len(species) == 1
    assert [step.agent for step in plan.steps] == [
        "chemistry_agent", "qm_agent", "qm_agent", "multiwfn_agent", "summary_agent",
    ]  # fmt: skip
    analysis, summary = plan.steps[-2:]
    assert (analysis.goal.analyses, analysis.goal.orbitals) == (analyses, orbitals)
    assert (analysis.number, analysis.depends_on, summary.depends_on) == (4, (3,), (1, 2, 3, 4))
    # The orbitals are those of the DFT step, whose protocol the analysis carries on.
    assert plan.step(3).goal.method == "B3LYP"
    assert analysis.goal.protocol == "B3LYP/def2-SVP//GFN2-xTB"


@pytest.mark.parametrize(
    ("text", "job", "analyses"),
    [
        ("Plot the LUMO of the last job", "last", ("pictures",)),
        ("visualise the orbitals of my previous calculation", "last", ("pictures",)),
        ("Hirshfeld and Mulliken charges of job 3f2a91c0de-0", "3f2a91c0de-0", ("mulliken", "hirshfeld")),
        ("What are the HOMO and LUMO energies of the last job?", "last", ("orbitals",)),
        (f"Plot the LUMO of file {'0f' * 32}", f"file:{'0f' * 32}", ("pictures",)),
    ],
)
def test_an_earlier_job_is_only_analysed(text: str, job: str, analyses: tuple[str, ...]) -> None:
    _, plan, species = make_plan(text)
    assert [step.agent for step in plan.steps] == ["multiwfn_agent", "summary_agent"]
    assert (plan.step(1).goal.source_job, plan.step(1).goal.analyses) == (job, analyses)
    assert species == ()


@pytest.mark.parametrize(
    "text",
    ["Plot the HOMO and LUMO energies of TMA and DMP", "Mulliken charges of TMA", "Show the HOMO-LUMO gap of TMA"],
)
def test_what_quantum_steps_give_anyway_needs_no_analysis(text: str) -> None:
    decision, plan, _ = make_plan(text)
    assert "multiwfn_agent" not in [step.agent for step in plan.steps]
    assert decision.agent != "multiwfn_agent"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bond orders of TMA", "is an analysis that no agent does yet"),
        ("Plot the LUMO", "names no molecule"),
        ("Plot the LUMO of TMA of the last job", "is named beside an earlier job"),
        ("Plot the LUMO of TMA with GFN2", "leaves no orbitals"),
        ("Hirshfeld charges of TMA and its NMR shifts", "NMR shifts"),
        ("Plot the LUMO-1 of TMA", "'LUMO-1' is the HOMO"),
        ("Plot the HOMO+2 of TMA", "'HOMO+2' is the LUMO+1"),
        ("Plot HOMO-30 to LUMO+30 of TMA", "62 are more than the 20"),
        ("Plot the beta HOMO of TMA", "'beta HOMO' is named by its spin"),
        ("Plot the HOMO of TMA with a high isovalue", "gives no isovalue"),
        ("Plot the HOMO of TMA with an isovalue of 40", "is not between 0.001 and 5"),
        ("Plot the HOMO of the last job and its Gibbs energy", "asks for gibbs of the last job"),
        ("Plot the HOMO of the last job on two cores", "holds 'two cores'"),
    ],
)
def test_what_cannot_be_done_is_said(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        make_plan(text)
    assert said in str(refused.value)


def test_other_parts_of_a_request_are_not_dropped() -> None:
    decision, plan, _ = make_plan("Hirshfeld charges of TMA and papers about it")
    assert decision.rule == "complexity"
    assert plan.steps[-2].agent == "rag_agent"


def test_multiwfn_is_taken_where_it_is_asked_for() -> None:
    _, plan, _ = make_plan("Hirshfeld charges of TMA with Multiwfn")
    assert plan.steps[-2].goal.engine == "multiwfn"
    _, plan, _ = make_plan("Hirshfeld charges of TMA")
    assert plan.steps[-2].goal.engine == "auto"


@pytest.mark.parametrize("text", ["Plot the LUMO of TMA, isovalue 0.02", "LUMO of TMA at an isovalue of 0.02"])
def test_an_isovalue_goes_into_the_job_that_makes_the_pictures(text: str) -> None:
    planned = dry_run(text, frozenset({"xtb", "pyscf", "wavefunction"}))
    (job,) = planned["steps"][3]["jobs"]
    assert (job["spec"]["analyses"], job["spec"]["isovalue"]) == (["pictures"], 0.02)


def test_cores_and_memory_of_an_earlier_jobs_analysis_are_its_own() -> None:
    _, plan, _ = make_plan("Plot the LUMO of the last job on 4 cores with 8 GB")
    assert (plan.step(1).goal.cores, plan.step(1).goal.memory_mb) == (4, 8192)


def test_a_dry_run_shows_the_analysis_and_where_its_orbitals_come_from() -> None:
    planned = dry_run("Plot the LUMO of TMA", frozenset({"xtb", "pyscf", "wavefunction"}))
    (job,) = planned["steps"][3]["jobs"]
    assert job["orbitals_from"] == "step 3"
    assert job["spec"]["engine"] == "wavefunction"
    assert job["spec"]["orbitals"] == ["LUMO"]
    assert planned["queued"] == 0
