"""What failed in a round: also one molecule of several, also after repairs; and what makes failures the same."""

from __future__ import annotations

from orchestrator.recovery.classify import Round, classify, failed_jobs, merged, newest_round
from orchestrator.state import Dispatched, Manifest, Step
from tasks.records import JobRecord
from tasks.results import Artifact
from tasks.specs import parse_spec
from tests.unit.orchestrator.recovery.conftest import failed, quantum, record

MANIFEST = Manifest(artifact=Artifact(path="m", size_bytes=1, sha256="00"), hash="h", count=1)


def batch(number: int, repairs: str = "") -> Dispatched:
    return Dispatched(batch_id=f"b{number}", round=number, manifest=MANIFEST, repairs=repairs)


def rounds(*records: tuple[JobRecord, ...]) -> list[Round]:
    return [Round(batch=batch(n, "b1" if n > 1 else ""), records=rows) for n, rows in enumerate(records, 1)]


ONE, TWO = record("a", quantum(), "FAILED", "out_of_memory"), record("b", quantum(), "SUCCEEDED")


def test_one_molecule_of_several_is_a_failure_too_and_what_was_cancelled_is_none() -> None:
    cancelled = record("c", quantum(), "CANCELLED")
    assert [one.root for one in failed_jobs(rounds((ONE, TWO, cancelled)))] == ["a"]


def test_a_repaired_job_stands_in_place_of_the_one_that_failed() -> None:
    repair = record("r", quantum(), "SUCCEEDED", retry_of="a")
    both = rounds((ONE, TWO), (repair,))
    assert [one.id for one in merged(both)] == ["r", "b"]
    assert failed_jobs(both) == ()


def test_a_repair_that_failed_in_the_same_way_is_forgotten_and_one_that_got_further_is_gone_on_from() -> None:
    same = record("r", quantum(engine="orca"), "FAILED", "out_of_memory", retry_of="a")
    (again,) = failed_jobs(rounds((ONE,), (same,)))
    assert (again.root, again.job) == ("a", "a")
    further = record("r", quantum(resources={"memory_mb": 4000}), "FAILED", "scf_not_converged", retry_of="a")
    (again,) = failed_jobs(rounds((ONE,), (further,)))
    assert (again.root, again.job, again.spec.resources.memory_mb) == ("a", "r", 4000)


def test_a_repair_that_somebody_cancelled_is_not_tried_in_another_way() -> None:
    repair = record("r", quantum(), "CANCELLED", retry_of="a")
    assert failed_jobs(rounds((ONE,), (repair,))) == ()


def test_a_job_that_tells_no_reason_is_a_failure_of_its_own_class() -> None:
    (one,) = failed_jobs(rounds((record("a", quantum(), "FAILED"),)))
    assert one.failure.error_class == "no_result"


def test_the_signature_holds_nothing_of_one_run_and_tells_kinds_of_failures_apart() -> None:
    events = classify(
        "qm_agent",
        [
            failed(root="a", job="a"),
            failed(quantum(method="PBE0", resources={"memory_mb": 9000}), root="b", job="b"),
            failed(error_class="walltime", root="c", job="c"),
            failed(quantum(method="GFN2-xTB", basis=None, engine="xtb"), root="d", job="d"),
            failed(parse_spec({"program": "countdown", "parameters": {"steps": 3}}), root="e", job="e"),
        ],
    )
    assert {event.signature: event.jobs for event in events} == {
        "qm_agent:single_point:pyscf:dft:scf_not_converged": ("a", "b"),
        "qm_agent:single_point:pyscf:dft:walltime": ("c",),
        "qm_agent:single_point:xtb:tight_binding:scf_not_converged": ("d",),
        "qm_agent:countdown:program:-:scf_not_converged": ("e",),
    }
    assert all(len(evidence.sha256) == 64 for event in events for evidence in event.evidence)


def test_repairs_belong_to_the_newest_round_of_the_agent() -> None:
    step = Step(number=1, agent="a", description="", batches=(batch(1), batch(2, "b1"), batch(3), batch(4, "b3")))
    assert [one.batch_id for one in newest_round(step)] == ["b3", "b4"]
