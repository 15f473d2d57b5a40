"""Which action is tried: memory, policy, diagnosis, in that order, and never what was tried or is not allowed."""

from __future__ import annotations

import pytest

from orchestrator.recovery.actions import MAKERS, Means
from orchestrator.recovery.classify import FailureEvent, classify
from orchestrator.recovery.record import Action, Recovery
from orchestrator.recovery.select import DIAGNOSIS, Proposal, choose, diagnose, remaining, tried_for
from tests.unit.orchestrator.recovery.conftest import checkpoint, failed, quantum

ALL = Means(offered=frozenset({"pyscf", "xtb", "orca"}), memory_mb=16_000)
MEMORY = Proposal(action="coarser_method", source="memory", by="e1")
POLICY = Proposal(action="more_resources", source="policy", by="version 1")


def event(error_class: str = "scf_not_converged", **more: object) -> FailureEvent:
    (found,) = classify("qm_agent", [failed(error_class=error_class, **more)])
    return found


def test_memory_comes_before_policy_and_policy_before_a_diagnosis() -> None:
    what = event()
    for proposals, source in (
        ([MEMORY, POLICY, *diagnose(what)], "memory"),
        ([POLICY, *diagnose(what)], "policy"),
        (diagnose(what), "diagnosis"),
    ):
        choice = choose(what, proposals, frozenset(), ALL)
        assert choice and choice.proposal.source == source


def test_what_was_tried_is_never_chosen_again_whatever_speaks_for_it() -> None:
    what = event()
    before = Recovery(step=1, round=2, signature="other", action=Action.COARSER, jobs=("j1",))
    elsewhere = Recovery(step=1, round=2, signature="other", action=Action.RESOURCES, jobs=("j9",))
    assert tried_for(what, [before, elsewhere]) == {"coarser_method"}
    choice = choose(what, [MEMORY, *diagnose(what)], frozenset({"coarser_method"}), ALL)
    assert choice and choice.action is Action.ENGINE


@pytest.mark.parametrize("action", ["skip", "ask", "delete_everything", "", "rerun"])
def test_an_action_outside_of_the_allow_list_is_never_chosen(action: str) -> None:
    for source in ("memory", "policy", "person"):
        assert choose(event(), [Proposal(action=action, source=source)], frozenset(), ALL) is None  # type: ignore[arg-type]


def test_what_does_not_fit_is_passed_over() -> None:
    # No restart point, no other engine, no other conformer of a single point: a coarser method is left.
    what = event("optimisation_not_converged")
    choice = choose(what, diagnose(what), frozenset(), Means(offered=frozenset({"pyscf", "xtb"})))
    assert choice and choice.action is Action.COARSER
    assert choice.consequence
    assert choose(event("walltime"), [Proposal(action="other_engine", source="memory")], frozenset(), Means()) is None


def test_an_action_is_for_the_jobs_that_it_fits() -> None:
    (what,) = classify(
        "qm_agent",
        [failed(root="a", job="a"), failed(root="b", job="b", checkpoint=checkpoint())],
    )
    choice = choose(what, [Proposal(action="resume_from_checkpoint", source="memory")], frozenset(), ALL)
    assert choice and list(choice.changes) == ["b"]


def test_a_failure_of_an_unknown_class_is_met_with_nothing_that_changes_a_result() -> None:
    assert {p.action for p in diagnose(event("never_heard_of"))} == {Action.RESUME, Action.ENGINE}


@pytest.mark.parametrize(("error_class", "actions"), DIAGNOSIS.items())
def test_every_diagnosis_is_of_allowed_actions_and_changes_the_meaning_last(
    error_class: str, actions: tuple[Action, ...]
) -> None:
    assert actions and set(actions) <= set(MAKERS)
    assert len(set(actions)) == len(actions)
    assert Action.COARSER not in actions[:-1]


def test_a_person_chooses_from_what_fits_and_was_not_tried() -> None:
    left = remaining(event(spec=quantum()), frozenset({"other_engine"}), ALL)
    assert left == [Action.RESOURCES, Action.COARSER]
