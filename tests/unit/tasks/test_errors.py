"""Errors cross into another process whole."""

from __future__ import annotations

import pickle

import pytest

from orchestrator.planning.decide import Abstained
from tasks.errors import InputError, SimrelayError, Unreachable


@pytest.mark.parametrize(
    "error",
    [
        InputError("basis", "def3", "is not known", "Known is def2-SVP."),
        Abstained("make tea", "holds no chemistry", "Ask for some."),
        Unreachable("Redis does not answer"),
    ],
)
def test_an_error_is_the_same_on_the_other_side(error: SimrelayError) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert vars(back) == vars(error)
