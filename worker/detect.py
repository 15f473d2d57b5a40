"""Finding the engines of this host, and the file ``engines.toml`` that keeps what was found."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

import tomlkit
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tasks.errors import ConfigurationError
from tasks.programs import Licence
from worker.engines.base import Offer
from worker.engines.registry import ENGINES
from worker.programs.common import write_atomically

_HEADER = (
    "What this host computes, as `simrelay worker detect` found it.",
    "Correct it by hand where that is wrong; a new detection replaces the file.",
)


class _Entry(BaseModel):
    """One table ``[engines.NAME]``."""

    model_config = ConfigDict(extra="forbid", strict=True)

    version: str = ""
    command: Annotated[tuple[str, ...], Field(strict=False)] = ()
    tasks: Annotated[tuple[str, ...], Field(strict=False)] = ()
    environment: dict[str, str] = Field(default_factory=dict)
    licence: Licence | None = None


def detect_engines() -> list[Offer]:
    """Find the engines of this host; no engine is loaded into this process."""
    return [offer for engine in ENGINES.values() if (offer := engine.detect()) is not None]


def write_engines_toml(path: Path, offers: list[Offer]) -> None:
    """Write ``engines.toml`` in one step; folders on the way are made."""
    document = tomlkit.document()
    for line in _HEADER:
        document.add(tomlkit.comment(line))
    engines = tomlkit.table(is_super_table=True)
    for offer in offers:
        table = tomlkit.table()
        table.add("version", offer.version)
        table.add("command", list(offer.command))
        table.add("tasks", list(offer.tasks))
        if offer.environment:
            table.add("environment", dict(offer.environment))
        engines.add(offer.engine, table)
    document.add("engines", engines)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, tomlkit.dumps(document))


def read_engines_toml(path: Path) -> list[Offer]:
    """Read ``engines.toml``.

    Raises
    ------
    ConfigurationError
        If the file is missing or holds what cannot be used; the message names file and key.
    """
    try:
        with path.open("rb") as stream:
            data = tomllib.load(stream)
    except FileNotFoundError:
        raise ConfigurationError(f"{path}: is not there; `simrelay worker detect` writes it") from None
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path}: cannot be read: {error}") from error
    tables = data.pop("engines", {})
    if data:
        raise ConfigurationError(f"{path}: {min(data)}: is not known here; engines are tables [engines.NAME]")
    if not isinstance(tables, dict):
        raise ConfigurationError(f"{path}: engines: is not a table; write [engines.NAME]")
    return [_offer(path, name, table) for name, table in tables.items()]


def _offer(path: Path, name: str, table: object) -> Offer:
    if name not in ENGINES:
        raise ConfigurationError(f"{path}: engines.{name}: is not an engine; known are {', '.join(ENGINES)}")
    try:
        entry = _Entry.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(("engines", name, *(str(part) for part in first["loc"])))
        problem = "is not a known key" if first["type"] == "extra_forbidden" else first["msg"]
        raise ConfigurationError(f"{path}: {key}: {problem}") from None
    if not entry.command and name != "program":
        raise ConfigurationError(f"{path}: engines.{name}.command: is missing")
    return Offer(
        engine=name,
        version=entry.version,
        command=entry.command,
        tasks=entry.tasks,
        environment=entry.environment,
        licence=entry.licence,
    )
