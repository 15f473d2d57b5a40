"""The serialiser of checkpoints: plain JSON values and models of ours, and a refusal of whatever would be lossy.

LangGraph's serialiser for Redis turns a Decimal into 0, a NaN into nothing and a Path into ".", without a word (FACTS,
section 3); a value that cannot come back as it was must fail where it is set.
"""

from __future__ import annotations

import math
import re
from typing import Any

from langgraph.checkpoint.redis.jsonplus_redis import JsonPlusRedisSerializer
from langgraph.types import Command, Interrupt, Send
from pydantic import BaseModel

from tasks.errors import SimrelayError

_HALF_PAIR = re.compile("[\ud800-\udfff]")


class LossyValue(SimrelayError):
    """A value of the state cannot be stored without loss."""


def lossless(value: Any, where: str = "state") -> Any:
    """Give a value as JSON can hold it; models as the values of their fields.

    Raises
    ------
    LossyValue
        If it cannot come back as it was; the message says where it stands.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if not value.isascii() and _HALF_PAIR.search(value):
            raise LossyValue(f"{where} holds half a surrogate pair, which no text can hold")
        return value
    if type(value) is int:
        if not -(2**63) <= value < 2**64:
            raise LossyValue(f"{where} is {value}, which is beyond 64 bits")
        return value
    if type(value) is float:
        if not math.isfinite(value):
            raise LossyValue(f"{where} is {value}, which JSON cannot hold")
        return value
    if isinstance(value, BaseModel):
        return lossless(value.model_dump(mode="json"), where)
    if type(value) in (list, tuple):
        return [lossless(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise LossyValue(f"{where} has the key {key!r}, which JSON cannot hold")
        return {key: lossless(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, Interrupt | Send | Command):
        return value
    raise LossyValue(f"{where} is a {type(value).__name__}, which a checkpoint cannot hold without loss")


class LosslessSerializer(JsonPlusRedisSerializer):
    """Stores what can come back as it was, and refuses the rest."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Serialise one value; raises LossyValue."""
        if isinstance(obj, bytes | bytearray):
            raise LossyValue("bytes do not belong into the state: keep a file and its reference")
        return super().dumps_typed(lossless(obj))
