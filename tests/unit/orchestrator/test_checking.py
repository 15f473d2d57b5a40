"""The gate before the queue: which engine a job goes to, and what is said when nobody has one."""

from __future__ import annotations

from orchestrator.checking import Offer, check

WATER = {"molecule": {"smiles": "O"}}


def test_a_job_that_no_worker_can_compute_is_refused_with_who_would() -> None:
    (checked,) = check([(0, WATER)], Offer(queues=frozenset({"xtb"})))
    assert checked.spec is None
    (problem,) = checked.problems
    assert (problem.field, problem.value) == ("engine", "auto")
    assert problem.problem == "finds no worker that ever offered an engine for B3LYP, single point"
    assert problem.remedy == "Start a worker that has pyscf or orca, or wait for one with --wait-for-worker."


def test_the_spec_that_is_queued_tells_why_it_has_its_engine() -> None:
    (checked,) = check([(0, WATER)], Offer(queues=frozenset({"xtb", "orca"})))
    assert checked.spec is not None
    assert checked.spec["engine"] == "orca"
    assert checked.spec["engine_reason"].startswith("auto: first of those offered")
