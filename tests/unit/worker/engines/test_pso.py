"""The engine ``pso`` against its real programs: whole, resumed, refused, timed out, and with what fails in between."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import re
import shutil
from pathlib import Path

import pytest

from tasks.records import JobState
from tasks.results import Evaluated, EvaluationResult, Failure, QuantumResult, SwarmResult
from tasks.specs import EvaluationSpec, SwarmSpec
from tasks.swarms import Candidate
from tests.unit.worker import harness
from tests.unit.worker.swarms import SMALL, compute, drive, engine, swarm_bench
from worker.engines.base import Child, Offer
from worker.engines.pso import ParticleSwarm
from worker.programs import xtb_job
from worker.programs.barrier import NoReaction, attacked_carbon, sn2_barrier
from worker.programs.common import Desk, QuantumJob
from worker.programs.swarm_molecules import canonical, charge, descriptors, structure
from worker.programs.swarm_state import load_state

TMA, DMP = "C[N+](C)(C)C", "C[N+]1(C)CCCCC1"


def small(**changes: object) -> SwarmSpec:
    return SwarmSpec.model_validate({**SMALL, **changes})


def free(**changes: object) -> SwarmSpec:
    """A swarm that needs no evaluations: descriptors alone."""
    objectives = [{"property": "iec_mmol_per_g", "curve": [[1.5, 0], [4, 1]]}]
    return small(objectives=objectives, **changes)


def result_in(scratch: Path) -> SwarmResult:
    return SwarmResult.model_validate_json((scratch / "result.json").read_bytes())


def invented(spec: EvaluationSpec, folder: Path) -> Child:
    """Answer at once with numbers that follow from the SMILES: what is tested is the swarm's own doing."""
    molecules = tuple(
        Evaluated(smiles=one.smiles, values={"lumo_ev": -1 - len(one.smiles) / 10, "gap_ev": 9.0})
        for one in spec.molecules
    )
    return Child(job_id=folder.name, spec=spec, state=JobState.SUCCEEDED, result=EvaluationResult(molecules=molecules),
                 failure=None, artifacts=())  # fmt: skip


def failing(spec: EvaluationSpec, folder: Path, error_class: str = "program_failed") -> Child:
    failure = Failure(error_class=error_class, message="it crashed", remedy="Look at it.")
    return Child(job_id=folder.name, spec=spec, state=JobState.FAILED, result=None, failure=failure, artifacts=())


def test_a_swarm_computes_each_molecule_once_and_ranks_by_what_a_quantum_job_gives(tmp_path: Path) -> None:
    spec = small()
    bench, exits, asked = drive(spec, tmp_path / "run")
    pso = engine()
    assert pso.ended_well(bench, exits)
    collected = pso.collect(bench)
    result = collected.result
    assert isinstance(result, SwarmResult)
    molecules = [one.smiles for job in asked for one in job.molecules]
    assert len(molecules) == len(set(molecules)) == result.evaluations
    best = result.ranking[0]
    job = QuantumJob(xyz=structure(best.smiles), charge=1, multiplicity=1, task="single_point", method="GFN2-xTB",
                     solvent="water", memory_mb=1000, max_scf_cycles=250)  # fmt: skip
    quantum: QuantumResult = xtb_job.calculate(job, Desk(tmp_path))
    assert best.values["lumo_ev"] == pytest.approx(quantum.lumo_ev, abs=1e-9)
    assert best.score == pytest.approx(spec.score(best.values))
    rows = list(csv.DictReader((bench.scratch / "best_solutions.csv").open()))
    assert [row["smiles"] for row in rows] == [one.smiles for one in result.ranking][: len(rows)]
    history = list(csv.DictReader((bench.scratch / "best_fitness_history.csv").open()))
    assert [int(row["step"]) for row in history] == [1, 2]
    assert all(float(row["min_score"]) <= float(row["mean_score"]) <= float(row["max_score"]) for row in history)
    for figure in ("progress_figure", "structures_figure"):
        assert collected.files[figure].read_bytes().startswith(b"\x89PNG")
    assert "recovery_trace" not in collected.files


def test_a_resumed_swarm_is_the_whole_one_and_counts_steps_in_all(tmp_path: Path) -> None:
    whole, _, _ = drive(free(steps=4), tmp_path / "whole")
    part, _, _ = drive(free(steps=2), tmp_path / "part")
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    shutil.copyfile(part.scratch / "state.json", inputs / "state")
    resumed, _, _ = drive(free(steps=4), tmp_path / "resumed", inputs=inputs)
    assert "RESTARTED after step 2." in (resumed.scratch / "output.log").read_text()
    assert (resumed.scratch / "state.json").read_bytes() == (whole.scratch / "state.json").read_bytes()
    assert result_in(resumed.scratch) == result_in(whole.scratch)
    same, exits, _ = drive(free(steps=2), tmp_path / "same", inputs=inputs)
    assert engine().ended_well(same, exits)


@pytest.mark.parametrize(
    ("changes", "edit", "message"),
    [
        ({"seed": 4}, None, "seed was 3 and is 4"),
        ({"backbone": "PP_BB_1", "particles": 5}, None, r"backbone was 'PBF_BB_1' and is 'PP_BB_1'; particles was 4"),
        ({"steps": 1}, None, r"steps: 1 is less than the 2 that are done"),
        ({}, ('"iteration": 2', '"iteration": 1'), "its hash does not fit"),
        ({}, ("simrelay-swarm/1", "simrelay-swarm/0"), "is not the schema simrelay-swarm/1"),
        ({}, ("{", ""), "cannot be read"),
    ],
)
def test_another_configuration_or_a_damaged_state_is_refused_and_named(
    changes: dict[str, object], edit: tuple[str, str] | None, message: str, tmp_path: Path
) -> None:
    part, _, _ = drive(free(steps=2), tmp_path / "part")
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    text = (part.scratch / "state.json").read_text()
    (inputs / "state").write_text(text.replace(*edit, 1) if edit else text)
    bench, exits, _ = drive(free(**{"steps": 2, **changes}), tmp_path / "again", inputs=inputs)
    assert not engine().ended_well(bench, exits)
    failure = engine().diagnose(bench, exits)
    assert failure.error_class == "bad_input" and failure.permanent
    assert re.search(message, failure.message), failure.message


def test_an_attempt_that_finds_another_batch_s_children_asks_again_for_its_own(tmp_path: Path) -> None:
    pso, spec = engine(), small()
    first = swarm_bench(spec, tmp_path / "one")
    harness.run(pso, first)
    wanted = pso.children(first)
    assert wanted
    restart = harness.keep(pso, first, tmp_path / "restart")
    stale = compute(EvaluationSpec(molecules=(Candidate(smiles=DMP, xyz=structure(DMP), charge=1),),
                                   properties=("lumo_ev", "gap_ev"), relax=False), tmp_path / "stale")  # fmt: skip
    again = swarm_bench(spec, tmp_path / "two", restart=restart, children=[stale])
    harness.run(pso, again)
    assert pso.children(again) == wanted


def test_candidates_that_fail_score_0_and_stay_out_of_the_ranking(tmp_path: Path) -> None:
    lost: list[str] = []

    def answer(spec: EvaluationSpec, folder: Path) -> Child:
        child = invented(spec, folder)
        assert isinstance(child.result, EvaluationResult)
        first, *rest = child.result.molecules
        lost.append(first.smiles)
        broken = (Evaluated(smiles=first.smiles, error="scf_not_converged: no"), *rest)
        return dataclasses.replace(child, result=EvaluationResult(molecules=broken))

    bench, exits, _ = drive(small(evaluation_jobs=1), tmp_path, answer)
    assert engine().ended_well(bench, exits)
    result = result_in(bench.scratch)
    assert result.failed == len(lost) > 0
    assert not set(lost) & {one.smiles for one in result.ranking}
    assert min(row.min_score for row in load_state(bench.scratch / "state.json", bench.spec).history) == 0.0  # type: ignore[arg-type]


def test_a_job_that_failed_costs_its_molecules_and_no_others(tmp_path: Path) -> None:
    calls: list[EvaluationSpec] = []

    def answer(spec: EvaluationSpec, folder: Path) -> Child:
        calls.append(spec)
        return failing(spec, folder) if len(calls) == 1 else invented(spec, folder)

    bench, exits, _ = drive(small(), tmp_path, answer)
    assert engine().ended_well(bench, exits)
    assert result_in(bench.scratch).failed == len(calls[0].molecules)


def test_a_step_of_which_nothing_could_be_computed_fails_with_the_reason(tmp_path: Path) -> None:
    bench, exits, _ = drive(small(), tmp_path, failing)
    failure = engine().diagnose(bench, exits)
    assert failure.error_class == "evaluations_failed" and failure.permanent
    assert "step 1" in failure.message and "it crashed" in failure.message
    assert failure.remedy == "Look at it."


def timing_out(spec: EvaluationSpec, folder: Path) -> Child:
    """Answer as a job does that reached all but the last of its molecules in its time."""
    child = invented(spec, folder)
    assert isinstance(child.result, EvaluationResult)
    reached, late = child.result.molecules[:-1], child.result.molecules[-1]
    result = EvaluationResult(molecules=reached, not_reached=(late.smiles,))
    return dataclasses.replace(child, result=result)


def test_a_step_that_times_out_is_repeated_once_with_what_is_left_of_it(tmp_path: Path) -> None:
    calls: list[EvaluationSpec] = []

    def answer(spec: EvaluationSpec, folder: Path) -> Child:
        calls.append(spec)
        return timing_out(spec, folder) if len(calls) == 1 else invented(spec, folder)

    spec = small(evaluation_jobs=1)
    bench, exits, asked = drive(spec, tmp_path / "late", answer)
    assert engine().ended_well(bench, exits)
    assert [one.smiles for one in asked[1].molecules] == [asked[0].molecules[-1].smiles]
    trace = [json.loads(line) for line in (bench.scratch / "recovery_trace.jsonl").read_text().splitlines()]
    assert [line["event"] for line in trace] == ["failure_diagnosed", "post_recovery_validation"]
    assert (trace[0]["action"], trace[0]["step"]) == ("RESUME_PSO_CHECKPOINT", 1)
    assert (trace[1]["passed"], trace[1]["steps_gained"], trace[1]["attempts_used"]) == (True, 1, 1)
    undisturbed, _, _ = drive(spec, tmp_path / "whole", invented)
    found = result_in(bench.scratch)
    assert found.recovered_steps == 1
    assert found.model_copy(update={"recovered_steps": 0}) == result_in(undisturbed.scratch)


def test_a_step_that_times_out_twice_fails_and_is_not_counted(tmp_path: Path) -> None:
    bench, exits, asked = drive(small(evaluation_jobs=1), tmp_path, timing_out)
    assert len(asked) == 2
    failure = engine().diagnose(bench, exits)
    assert failure.error_class == "step_timeout" and failure.permanent
    assert "step_seconds" in failure.remedy


@pytest.mark.parametrize(("failures", "blamed"), [(1, False), (2, True)])
def test_evaluations_go_on_after_the_molecules_that_are_done_and_pass_over_one_that_ends_the_program(
    failures: int, blamed: bool, tmp_path: Path
) -> None:
    pso = engine()
    smiles = [TMA, DMP, "CC[N+](C)(C)C"]
    spec = EvaluationSpec(
        molecules=tuple(Candidate(smiles=s, xyz=structure(s), charge=charge(s)) for s in smiles),
        properties=("lumo_ev",),
        relax=False,
    )
    restart = tmp_path / "restart"
    restart.mkdir()
    done = {"evaluated": [{"smiles": TMA, "values": {"lumo_ev": 1.5}}], "begun": {DMP: 0}}
    (restart / "done.json").write_text(json.dumps(done))
    bench = swarm_bench(spec, tmp_path / "again", restart=restart, failures=failures)
    exits = harness.run(pso, bench)
    assert pso.ended_well(bench, exits)
    result = pso.collect(bench).result
    assert isinstance(result, EvaluationResult)
    first, second, third = result.molecules
    assert first.values == {"lumo_ev": 1.5}
    assert second.error == ("ended the program 2 times" if blamed else "")
    assert third.values["lumo_ev"] == pytest.approx(-3, abs=1.5)


def test_two_ways_of_writing_an_imidazolium_are_one_molecule() -> None:
    one = canonical(["CCn1cc[n+](C)c1", "CC[n+]1ccn(C)c1"])
    assert one == canonical(["CC[n+]1ccn(C)c1", "CCn1cc[n+](C)c1"])
    assert canonical([""]) is None and canonical(["C1CC"]) is None


def test_the_ion_exchange_capacity_is_that_of_a_hand_calculation() -> None:
    # Biphenylene C12H8 152.196, C7H16N+ 114.212, two H 2.016 lost, OH 17.007: 281.399 g for one mole of charges.
    found = descriptors(DMP, "[*]c1ccc(-c2ccc([*])cc2)cc1", volume=True)
    assert found["iec_mmol_per_g"] == pytest.approx(1000 / 281.399, abs=1e-3)
    assert found["heavy_atoms"] == 8
    # McGowan's and other additive volumes give 110 to 140 cubic angstrom for C7H16N.
    assert 110 < found["volume_cubic_angstrom"] < 150


def test_hydroxide_attacks_the_saturated_carbon_with_the_most_hydrogens() -> None:
    assert attacked_carbon("C[N+](C)(C)Cc1ccccc1") == (1, 0)
    assert attacked_carbon("CC[n+]1ccn(C)c1")[1] == 6
    with pytest.raises(NoReaction, match="no saturated carbon"):
        attacked_carbon("c1cc[nH+]cc1")


@pytest.mark.slow
def test_the_sn2_barrier_of_tma_is_that_of_the_literature_within_three_kcal_and_dmp_s_is_lower() -> None:
    # Chempath et al., J. Phys. Chem. C 114 (2010) 11977: 17.0 kcal/mol for tetramethylammonium.
    tma, dmp = (sn2_barrier(smiles, structure(smiles), 1) for smiles in (TMA, DMP))
    assert tma == pytest.approx(17.0, abs=3.0)
    assert dmp < tma
    assert math.isfinite(dmp) and dmp > 5


def test_trouble_names_what_is_missing() -> None:
    assert engine().trouble() == ""
    gone = ParticleSwarm(Offer(engine="pso", version="", command=("/nowhere/python", "-m")))
    assert gone.trouble() == "/nowhere/python is not there"
