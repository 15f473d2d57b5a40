"""A reader of texts that are told in pieces, as a client is one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def texts_of(told: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Give each text as it reads after all these ``text_delta``."""
    texts: dict[str, str] = {}
    for data in told:
        known = texts.get(data["id"], "")
        assert data["offset"] <= len(known), "a piece is missing"
        texts[data["id"]] = known[: data["offset"]] + data["text"]
    return texts
