from __future__ import annotations

import pytest

from orchestrator.chemistry.reactions import balance
from tasks.errors import InputError


@pytest.mark.parametrize(
    "reaction",
    [
        "C.O=O.O=O>>O=C=O.O.O",
        # Menshutkin
        "CN(C)C.CI>>C[N+](C)(C)C.[I-]",
        "CN(C)C.CI>CC#N>C[N+](C)(C)C.[I-]",
    ],
)
def test_balanced_reactions(reaction: str) -> None:
    assert balance(reaction).balanced


def test_what_a_side_lacks_is_said() -> None:
    assert balance("C.O=O>>O=C=O.O").sentence == ("is not balanced: the reactants lack 1 O; the products lack 2 H")
    assert balance("CN(C)C.CI>>C[N+](C)(C)C").sentence == (
        "is not balanced: the products lack 1 I; the charge goes from +0 to +1"
    )


@pytest.mark.parametrize(
    ("reaction", "problem"),
    [("CCO>CC", "has 1 of the two"), (">>CC", "has no reactants"), ("CC>>C(", "not a valid SMILES")],
)
def test_what_is_no_reaction_is_refused(reaction: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        balance(reaction)
