"""The Lua scripts of ``tasks/lua`` as values: what a typed function hands to a store to be run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Argument = str | int | float | bytes


@dataclass(frozen=True)
class Script:
    """One script: its whole text, and the SHA-1 under which Redis keeps it."""

    name: str
    text: str
    sha: str


@lru_cache
def script(name: str) -> Script:
    """Load ``tasks/lua/<name>.lua`` behind the functions that scripts share."""
    folder = files("tasks") / "lua"
    own = (folder / f"{name}.lua").read_text()
    shebang, _, body = own.partition("\n")
    shared = "\n".join((folder / f"{part}.lua").read_text() for part in ("common", "admission"))
    text = f"{shebang}\n{shared}\n{body}"
    return Script(name, text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


@dataclass(frozen=True, kw_only=True)
class Offered:
    """A reservation that a script made: its message has to be published to that worker's own queue."""

    job: str
    worker: str
    task_id: str
    engine: str = ""
    task: str = ""
    label: str = ""
    run: str = ""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a script answered: one word, its details, and the offers that it made room for."""

    answer: str
    details: dict[str, Any]
    offers: tuple[Offered, ...] = ()


def read_reply(raw: bytes | str) -> Reply:
    """Read the JSON that every script answers with."""
    details = json.loads(raw)
    offers = details.pop("offers", None) or []
    return Reply(answer=details.pop("answer"), details=details, offers=tuple(Offered(**row) for row in offers))


@dataclass(frozen=True)
class Call(Generic[T]):
    """One script with its arguments, and how its reply is read; run by ``Store`` or ``AsyncStore``."""

    script: Script
    arguments: tuple[Argument, ...]
    read: Callable[[Reply], T]


def call(name: str, *arguments: Argument, read: Callable[[Reply], T]) -> Call[T]:
    """Make a call of the script of that name."""
    return Call(script(name), arguments, read)
