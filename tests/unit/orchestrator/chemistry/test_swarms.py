from __future__ import annotations

import pytest

from orchestrator.checking import Offer, check
from orchestrator.chemistry.geometry import embed

OFFER = Offer(queues=frozenset({"pso"}))
TMA = "C[N+](C)(C)C"
XYZ = embed(TMA).xyz
EVALUATION = {"kind": "evaluation", "properties": ["lumo_ev"]}


def checked(**data: object) -> dict[str, object]:
    (one,) = check([(0, data)], OFFER)
    assert one.spec is not None, one.problems
    return one.spec


def refused(offer: Offer = OFFER, **data: object) -> str:
    (one,) = check([(0, data)], offer)
    assert one.spec is None
    return str(one.problems[0])


def test_a_swarm_is_labelled_and_otherwise_left_as_it_was_asked_for() -> None:
    spec = checked(kind="swarm", families=["piperidinium"], seed=7)
    assert (spec["label"], spec["seed"], spec["backbone"]) == ("piperidinium on PBF_BB_1", 7, "PBF_BB_1")
    assert checked(**spec) == spec


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"kind": "swarm", "backbone": "[*]c1ccc([*])c1c"}, "backbone"),
        ({"kind": "swarm", "backbone": "[*]C(C)(C)(C)[*]"}, "too many"),
        ({**EVALUATION, "molecules": [{"smiles": TMA, "xyz": XYZ, "charge": 0}]}, "whose charge is +1"),
        ({**EVALUATION, "molecules": [{"smiles": "[N+](C)(C)(C)C", "xyz": XYZ, "charge": 1}]}, "is not canonical"),
        (
            {**EVALUATION, "molecules": [{"smiles": "C[NH3+]", "xyz": XYZ, "charge": 1}]},
            "does not belong to the SMILES",
        ),
        ({**EVALUATION, "molecules": [{"smiles": "[CH3]", "xyz": XYZ, "charge": 0}]}, "is a radical"),
    ],
)
def test_what_cannot_be_computed_is_refused_before_it_is_queued(data: dict[str, object], message: str) -> None:
    assert message in refused(**data)


def test_a_right_evaluation_is_taken_and_one_that_nobody_offers_is_not() -> None:
    molecules = [{"smiles": TMA, "xyz": XYZ, "charge": 1}]
    assert checked(**EVALUATION, molecules=molecules)["label"] == "1 molecule"
    assert "was never offered" in refused(Offer(queues=frozenset({"xtb"})), **EVALUATION, molecules=molecules)
