"""Errors cross from one process to another as what they are, whatever they are made from."""

from __future__ import annotations

import pickle

import pytest

from orchestrator.library.store import ModelChanged
from orchestrator.planning.decide import Abstained
from orchestrator.problems import BadInput, Problem
from tasks.errors import InputError, SimrelayError, Unreachable


@pytest.mark.parametrize(
    "error",
    [
        Unreachable("Redis does not answer"),
        InputError("file", "a.txt", "is empty", "Give another."),
        BadInput([Problem(field="a", problem="is bad", remedy="Mend it.")]),
        Abstained("request", "is unclear", "Say more."),
        ModelChanged("a", "b"),
    ],
)
def test_an_error_crosses_whole(error: SimrelayError) -> None:
    crossed = pickle.loads(pickle.dumps(error))
    assert type(crossed) is type(error)
    assert (str(crossed), crossed.__dict__) == (str(error), error.__dict__)
