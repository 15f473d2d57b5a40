"""What a run may use of the model, and how it is shown."""

from __future__ import annotations

import pytest

from orchestrator.model.budget import add, answer_limit, estimated_tokens
from orchestrator.state import Usage
from tasks.settings import Settings

SETTINGS = Settings.model_validate({"model_budget_calls": 3, "model_budget_tokens": 5000})


def test_calls_and_tokens_add_up() -> None:
    usage = add(add(Usage(), 10, 5, SETTINGS), 1, 2, SETTINGS)
    assert usage == Usage(calls=2, prompt_tokens=11, completion_tokens=7)


@pytest.mark.parametrize(("used", "limit"), [(0, 2000), (4000, 900), (4899, 1)])
def test_an_answer_is_never_longer_than_what_is_left(used: int, limit: int) -> None:
    assert answer_limit(Usage(prompt_tokens=used), "x" * 300, SETTINGS) == limit


def test_one_price_alone_gives_no_cost() -> None:
    half = SETTINGS.model_copy(update={"model_prompt_price": 1.0})
    assert add(Usage(), 10, 5, half).cost is None


@pytest.mark.parametrize(
    ("usage", "shown"),
    [
        (Usage(), ""),
        (Usage(calls=1, prompt_tokens=100, completion_tokens=20), "1 call, 120 tokens"),
        (Usage(calls=2, prompt_tokens=100, cost=0.00321), "2 calls, 100 tokens, cost 0.0032"),
    ],
)
def test_usage_is_shown_as_one_line(usage: Usage, shown: str) -> None:
    assert usage.in_words == shown


def test_an_estimate_is_never_zero_for_text() -> None:
    assert (estimated_tokens(""), estimated_tokens("a"), estimated_tokens("abcd")) == (0, 1, 2)
