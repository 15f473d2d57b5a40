from __future__ import annotations

import pytest

from orchestrator.planning.complexity import assess


@pytest.mark.parametrize(
    ("text", "molecules", "rule"),
    [
        ("calculate the HOMO and analyze it", 1, "sequence"),
        ("compute the HOMO of these and then analyse", 1, "sequence"),
        ("optimise it, then give the HOMO", 1, "sequence"),
        ("give the HOMO after optimising", 1, "sequence"),
        ("compare the properties", 2, "composite: several"),
        ("difference in HOMO", 2, "composite: several"),
        ("optimize the geometry and run a single point", 1, "composite: optimise"),
        ("find and predict the gap", 1, "verbs: find, predict"),
        ("calculate the HOMO", 1, ""),
        ("HOMO", 1, ""),
        ("compare HOMO and LUMO", 1, ""),
        ("what is the HOMO", 3, ""),
    ],
)
def test_any_one_rule_makes_a_request_complex(text: str, molecules: int, rule: str) -> None:
    found = assess(text, molecules)
    assert found.is_complex is bool(rule)
    assert found.reason.startswith(rule)


def test_actions_come_in_their_order_and_one_spelling() -> None:
    assert assess("Optimise, analyse and compute", 1).actions == ("optimize", "analyze", "compute")
