"""What a run has used of a language model, what it may still use, and what that costs."""

from __future__ import annotations

from orchestrator.state import Usage
from tasks.errors import SimrelayError
from tasks.settings import Settings

#: the longest answer that is asked for
_LONGEST_ANSWER_TOKENS = 2000
_PER_PRICE = 1_000_000


class ModelError(SimrelayError):
    """The language model was no help; the message says why, in words that follow "the language model"."""


class OverBudget(ModelError):
    """The run has used up what it may use of the language model."""


def estimated_tokens(text: str) -> int:
    """Give about how many tokens a text has: rather too many than too few for English and SMILES."""
    return -(-len(text.encode()) // 3)


def answer_limit(usage: Usage, prompt: str, settings: Settings) -> int:
    """Give how long the answer to a prompt may be, in tokens.

    Raises
    ------
    OverBudget
        If calls or tokens are used up, or the prompt alone would use them up.
    """
    if usage.calls >= settings.model_budget_calls:
        raise OverBudget(f"is not asked: its budget of {settings.model_budget_calls} calls a run is used up")
    used = usage.prompt_tokens + usage.completion_tokens
    left = settings.model_budget_tokens - used - estimated_tokens(prompt)
    if left <= 0:
        raise OverBudget(
            f"is not asked: {used} of its budget of {settings.model_budget_tokens} tokens a run are used, and the"
            " prompt does not fit into the rest"
        )
    return min(left, _LONGEST_ANSWER_TOKENS)


def add(usage: Usage, prompt_tokens: int, completion_tokens: int, settings: Settings) -> Usage:
    """Give the usage with one more call."""
    total = Usage(
        calls=usage.calls + 1,
        prompt_tokens=usage.prompt_tokens + prompt_tokens,
        completion_tokens=usage.completion_tokens + completion_tokens,
    )
    return with_cost(total, settings)


def with_cost(usage: Usage, settings: Settings) -> Usage:
    """Give the usage with what it costs now."""
    return usage.model_copy(update={"cost": _cost(usage, settings)})


def _cost(usage: Usage, settings: Settings) -> float | None:
    """Give what it costs by the prices of the settings; None if either is not set."""
    prices = settings.model_prompt_price, settings.model_completion_price
    if prices[0] is None or prices[1] is None:
        return None
    return (usage.prompt_tokens * prices[0] + usage.completion_tokens * prices[1]) / _PER_PRICE
