from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.agents import AGENTS, JobResult
from orchestrator.chemistry.geometry import embed
from orchestrator.state import Species
from tasks.dynamics import DynamicsSpec
from tasks.elements import Atom, parse_xyz, write_xyz
from tasks.errors import InputError
from tasks.results import ClusterMember, Diffusion, DynamicsResult, Failure, Measured, TakenCluster
from tasks.specs import AnySpec, QuantumSpec
from tasks.workspace import write_artifact
from tests.unit.orchestrator.agents.conftest import Walk
from tests.unit.orchestrator.agents.conftest import failure as quantum_failure
from tests.unit.orchestrator.agents.conftest import result as quantum_result

CAVEAT = "Classical force field: hydroxide does not hop."


def result(spec: AnySpec, workspace: Path, index: int, coefficient: float = 1.5e-9) -> JobResult:
    """Give a simulation that succeeded, with one figure."""
    assert isinstance(spec, DynamicsSpec)
    figure = write_artifact(workspace / "jobs" / f"j{index}" / "msd.png", b"\x89PNG", workspace, "figure")
    found = Diffusion(
        species="hydroxide",
        molecules=8,
        coefficient_m2_per_s=coefficient,
        error_m2_per_s=0.2e-9,
        fit_start_ps=1,
        fit_end_ps=5,
        blocks=5,
    )
    made = DynamicsResult(
        molecules={"hydroxide": 8},
        atoms=1720,
        frames=51,
        production_ps=50,
        temperature_kelvin=Measured(value=spec.temperature_kelvin, error=0.5),
        density_g_per_cm3=Measured(value=0.974, error=0.002),
        edge_nm=2.6,
        diffusion=(found,),
        engine="gromacs",
        engine_version="2022.5",
        level="GAFF",
        caveats=(CAVEAT,),
    )
    return JobResult(
        job_id=f"run-1-s2-r1-{index}",
        spec=spec,
        state="SUCCEEDED",
        result=made,
        artifacts=(figure,),
        compute_seconds=9.0,
    )


def test_a_sweep_is_one_batch_and_becomes_a_table_with_errors_and_caveats(workspace: Path) -> None:
    walk = Walk("MD of 8 TMA hydroxide pairs in water at 300, 320 and 340 K for 50 ps", workspace)
    walk.begin(1)
    specs = walk.begin(2).specs
    assert [spec.temperature_kelvin for spec in specs if isinstance(spec, DynamicsSpec)] == [300, 320, 340]
    results = [result(spec, workspace, index, (1 + index) * 1e-9) for index, spec in enumerate(specs)]
    reason = Failure(error_class="blow_up", message="The simulation blew up.", remedy="Take a smaller time step.")
    results[2] = replace(results[2], state="FAILED", result=None, failure=reason, artifacts=())
    finding = walk.end(2, results).finding
    assert finding and finding.table
    assert [(row[1], row[3], row[4], row[5]) for row in finding.table.rows] == [
        ("300", "hydroxide", "1.000", "0.200"),
        ("320", "hydroxide", "2.000", "0.200"),
    ]
    assert "(1.00 ± 0.20) × 10⁻⁹ m²/s" in finding.summary
    assert "340 K failed: The simulation blew up [blow_up]" in finding.summary
    assert CAVEAT in finding.notes
    assert {value.name for value in finding.values} == {"diffusion of hydroxide", "density"}
    report = walk.begin(3).finding
    assert report
    text = (workspace / "runs" / "run-1" / "report.md").read_text()
    assert text.count("](figures/MSD-") == 2
    assert CAVEAT in text
    assert "No simulation was needed" not in text
    assert "GAFF, gromacs 2022.5" in text


def test_a_run_without_any_result_says_why(workspace: Path) -> None:
    walk = Walk("MD of 8 TMA hydroxide pairs in water at 300 K for 50 ps", workspace)
    walk.begin(1)
    (spec,) = walk.begin(2).specs
    failed = replace(result(spec, workspace, 0), state="CANCELLED", result=None, artifacts=())
    assert walk.end(2, [failed]).error == f"{spec.label} failed: was cancelled"


def test_a_long_simulation_begins_with_a_trial_that_tells_how_long_it_will_take(workspace: Path) -> None:
    walk = Walk("MD of 8 TMA hydroxide pairs in water at 300 and 320 K for 10 ns", workspace)
    agent, step = AGENTS["md_agent"], walk.step(2)
    (trial,) = agent.plan_jobs(step, walk.context).specs
    assert isinstance(trial, DynamicsSpec)
    assert (trial.label, trial.production_ps, trial.time_step_fs) == ("trial run", 5, 2)
    ran = result(trial, workspace, 0)
    assert isinstance(ran.result, DynamicsResult)
    quick = replace(ran, result=ran.result.model_copy(update={"nanoseconds_per_day": 102.0}))
    work = agent.interpret(step, walk.context, [quick])
    assert [spec.production_ps for spec in work.specs if isinstance(spec, DynamicsSpec)] == [10_000, 10_000]
    # Twice 10.2 ns at 102 ns/day are 0.2 days: 4.8 h on two cores.
    assert work.finding and "will take about 4:48:00 one after the other, 9.6 core-hours" in work.finding.summary
    failed = replace(ran, state="FAILED", result=None, failure=Failure(error_class="blow_up", message="It blew up."))
    assert agent.interpret(step, walk.context, [failed]).error == "the trial run failed: It blew up [blow_up]"


def test_a_simulation_beside_others_reads_its_own_part_of_the_request(workspace: Path) -> None:
    walk = Walk(
        "Optimise TMA with GFN2-xTB, then simulate 8 pairs of it with hydroxide in water at 300 K for 5 ps", workspace
    )
    optimised(walk)
    number = next(step.number for step in walk.plan.steps if step.agent == "md_agent")
    (spec,) = walk.begin(number).specs
    assert isinstance(spec, DynamicsSpec) and spec.system
    assert [(one.smiles, one.count) for one in spec.system.cations] == [("C[N+](C)(C)C", 8)]


def test_a_simulation_after_a_design_takes_its_candidates(workspace: Path) -> None:
    text = "Design piperidinium cations for PBF_BB_1; simulate 8 pairs of the best two in water at 300 K for 5 ps"
    walk = Walk(text, workspace)
    step = next(step for step in walk.plan.steps if step.agent == "md_agent")
    found = [
        Species(name=f"candidate {n}", smiles=s) for n, s in enumerate(("C[N+]1(C)CCCCC1", "CC1CC[N+](C)(C)CC1"), 1)
    ]
    work = AGENTS["md_agent"].plan_jobs(step, replace(walk.context, species=tuple(found)))
    assert [one.system.cations[0].smiles for one in work.specs if isinstance(one, DynamicsSpec) and one.system] == [
        one.smiles for one in found
    ]


AFTER_QM = "Optimise TMA with GFN2, then simulate 8 pairs of it with hydroxide in water at 300 K for 50 ps"


def optimised(walk: Walk, **values: object) -> None:
    """Walk to the simulation: the molecule is optimised by the step before."""
    walk.begin(1)
    (spec,) = walk.begin(2).specs
    assert isinstance(spec, QuantumSpec) and spec.molecule.xyz
    walk.end(2, [quantum_result(spec, **{"xyz": moved(spec.molecule.xyz, 0.1), "level": "GFN2-xTB", **values})])


def moved(xyz: str, by_angstrom: float) -> str:
    return write_xyz([Atom(a.symbol, a.x + by_angstrom, a.y, a.z) for a in parse_xyz(xyz)])


def test_a_box_is_built_from_the_geometry_that_the_step_before_optimised(workspace: Path) -> None:
    walk = Walk(AFTER_QM, workspace)
    optimised(walk)
    (spec,) = walk.begin(3).specs
    assert isinstance(spec, DynamicsSpec) and spec.system
    (cation,) = spec.system.cations
    handed = spec.inputs[cation.geometry or ""]
    (made,) = walk.findings[1].produced
    assert made.geometry and (handed.path, handed.sha256) == (made.geometry.path, made.geometry.sha256)
    assert handed.path.endswith("tetramethylammonium-step2.xyz")
    finding = walk.end(3, [result(spec, workspace, 0)]).finding
    assert finding
    assert "structures of step 2 (GFN2-xTB)" in finding.notes[0]
    assert "charges of the quantum step are not used" in finding.notes[0]


def test_a_molecule_that_came_apart_is_not_put_into_a_box(workspace: Path) -> None:
    walk = Walk(AFTER_QM, workspace)
    atoms = parse_xyz(embed("C[N+](C)(C)C").xyz)
    atoms[0] = Atom(atoms[0].symbol, atoms[0].x + 3, atoms[0].y, atoms[0].z)
    optimised(walk, xyz=write_xyz(atoms))
    work = walk.begin(3)
    assert not work.specs
    assert "of step 2 is no longer this molecule: C1-N2" in work.error


def test_what_failed_beside_a_simulation_is_no_failure_of_it(workspace: Path) -> None:
    walk = Walk(AFTER_QM.replace("Optimise TMA with GFN2", "Compute the dipole of TMA with DFT"), workspace)
    optimised(walk)
    walk.end(3, [quantum_failure(walk.begin(3).specs[0])])
    assert walk.species[0].error.startswith("step 3:")
    (spec,) = walk.begin(4).specs
    assert isinstance(spec, DynamicsSpec) and spec.inputs


WITH_CLUSTER = (
    "Simulate 8 TMA hydroxide pairs in water at 300 K for 50 ps, then take a TMA with its nearest hydroxide from it and"
    " compute its energy with xtb"
)


def taken(spec: AnySpec, workspace: Path, *, charge: int = 0, ion_at: float = 4.0) -> JobResult:
    """Give a simulation that took a cation with its nearest hydroxide out of its last frame."""
    atoms = [*parse_xyz(embed("C[N+](C)(C)C").xyz), Atom("O", ion_at, 0, 0), Atom("H", ion_at + 0.95, 0, 0)]
    content = write_xyz(atoms).encode()
    file = write_artifact(workspace / "jobs" / "j0" / "cluster.xyz", content, workspace, "cluster")
    members = (
        ClusterMember(species="tetramethylammonium", number=3, atoms=17, distance_angstrom=0),
        ClusterMember(species="hydroxide", number=5, atoms=2, distance_angstrom=3.2),
    )
    done = result(spec, workspace, 0)
    assert isinstance(done.result, DynamicsResult)
    cluster = TakenCluster(members=members, charge=charge, time_ps=50)
    return replace(done, result=done.result.model_copy(update={"cluster": cluster}), artifacts=(*done.artifacts, file))


def test_what_is_taken_out_of_the_last_frame_is_computed_next(workspace: Path) -> None:
    walk = Walk(WITH_CLUSTER, workspace)
    walk.begin(1)
    (spec,) = walk.begin(2).specs
    assert isinstance(spec, DynamicsSpec) and spec.analysis.cluster
    finding = walk.end(2, [taken(spec, workspace)]).finding
    assert finding
    assert "tetramethylammonium 3, hydroxide 5 at 3.20 Å" in finding.notes[0]
    assert [one.found_by for one in walk.species] == [0, 2]
    (job,) = walk.begin(3).specs
    assert isinstance(job, QuantumSpec)
    assert (job.molecule.smiles, job.charge, job.multiplicity) == (None, 0, 1)
    assert job.molecule.xyz == (workspace / "jobs/j0/cluster.xyz").read_text()
    computed = walk.end(3, [quantum_result(job, level="GFN2-xTB")]).finding
    assert computed and computed.table
    assert computed.table.rows[0][0] == "tetramethylammonium + hydroxide"
    assert computed.produced[0].smiles == "C[N+](C)(C)C.[OH-]"
    summary = walk.begin(4).finding
    assert summary and "diffusion of hydroxide" in summary.summary and "energy" in summary.summary
    report = (workspace / "runs/run-1/report.md").read_text()
    assert "A cluster out of one frame of a simulation is one configuration of many" in report
    assert "One conformer each" not in report and "GFN2-xTB//frame of the MD (properties // geometry)" in report


def test_a_cluster_that_is_another_one_is_refused(workspace: Path) -> None:
    walk = Walk(WITH_CLUSTER, workspace)
    walk.begin(1)
    (spec,) = walk.begin(2).specs
    agent, step = AGENTS["md_agent"], walk.step(2)
    with pytest.raises(InputError, match="charge 1"):
        agent.interpret(step, walk.context, [taken(spec, workspace, charge=1)])
    done = taken(spec, workspace)
    (workspace / "jobs/j0/cluster.xyz").write_text("1\n\nO 0 0 0\n")
    with pytest.raises(InputError, match="left no structure of the cluster"):
        agent.interpret(step, walk.context, [done])
