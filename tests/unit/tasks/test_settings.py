"""Settings that need each other, and secrets that are shown nowhere."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from tasks.settings import Settings, environment


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"model_url": "https://api.example.org/v1"}, "SIMRELAY_MODEL_URL is set, but SIMRELAY_MODEL is not"),
        ({"model": "m"}, "SIMRELAY_MODEL is set, but SIMRELAY_MODEL_URL is not"),
        ({"model_url": "api.example.org", "model": "m"}, "SIMRELAY_MODEL_URL does not begin with http"),
        ({"tavily_url": "ftp://x"}, "SIMRELAY_TAVILY_URL does not begin with http"),
        ({"pubchem_url": "pubchem"}, "SIMRELAY_PUBCHEM_URL does not begin with http"),
    ],
)
def test_half_a_language_model_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Settings.model_validate(values)


def test_keys_are_shown_nowhere_and_reach_the_other_processes() -> None:
    settings = Settings.model_validate(
        {"model_url": "https://api.example.org/v1", "model": "m", "model_key": "k-1", "tavily_key": "k-2"}
    )
    assert "k-1" not in repr(settings) and "k-2" not in repr(settings)
    passed = environment(settings)
    assert (passed["SIMRELAY_MODEL_KEY"], passed["SIMRELAY_TAVILY_KEY"]) == ("k-1", "k-2")
    assert passed["SIMRELAY_MODEL"] == "m"


@pytest.mark.parametrize(("given", "url"), [("off", ""), ("", "https://pubchem.ncbi.nlm.nih.gov/rest/pug")])
def test_look_ups_are_switched_off_by_a_word_and_not_by_an_empty_variable(
    monkeypatch: pytest.MonkeyPatch, given: str, url: str
) -> None:
    monkeypatch.setenv("SIMRELAY_PUBCHEM_URL", given)
    assert Settings().pubchem_url == url
