"""``simrelay engine parse``: an output that was computed elsewhere, read by the code that reads an engine's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from tasks.errors import InputError
from tasks.results import AnyResult
from worker.engines.base import Parsed
from worker.engines.registry import ENGINES

app = typer.Typer(no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Engines."""


@app.command()
def parse(
    engine: Annotated[str, typer.Argument(metavar="ENGINE", help="Whose output it is, such as orca.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The output.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")] = False,
) -> None:
    """Read an output: whether it ended well, energies, geometry, orbitals, thermochemistry; what is absent is left out.

    An output of a calculation that failed is read like any other: state and error class tell.
    """
    parsed = read(engine, file)
    values = described(engine, file, parsed)
    if as_json:
        typer.echo(json.dumps(values, ensure_ascii=False))
    else:
        _print(values, parsed.result)


def read(engine: str, file: Path) -> Parsed:
    """Read an output of an engine.

    Raises
    ------
    InputError
        If there is no such engine or file, or the engine reads none.
    """
    if engine not in ENGINES:
        raise InputError("ENGINE", engine, "is not an engine", f"There are {', '.join(ENGINES)}.")
    readers = [name for name, known in ENGINES.items() if "parse" in vars(known)]
    if engine not in readers:
        remedy = f"Outputs of {', '.join(readers)} can be read."
        raise InputError("ENGINE", engine, "has no output of its own that could be read", remedy)
    if not file.is_file():
        raise InputError("FILE", str(file), "is not a file", "Give the path of an output.")
    parsed = ENGINES[engine].parse(file)
    if not parsed.version and parsed.result is None and parsed.failure is None:
        raise InputError("FILE", str(file), f"does not look like an output of {engine}", "Give another file or engine.")
    return parsed


def described(engine: str, file: Path, parsed: Parsed) -> dict[str, Any]:
    """Give what was read as plain values; the names of quantities carry their units."""
    return {
        "engine": engine,
        "file": str(file),
        "version": parsed.version,
        "state": parsed.state,
        "error_class": parsed.failure.error_class if parsed.failure else None,
        "failure": parsed.failure.model_dump(mode="json") if parsed.failure else None,
        "result": parsed.result.model_dump(mode="json", exclude_none=True) if parsed.result else None,
    }


def _print(values: dict[str, Any], result: AnyResult | None) -> None:
    for name in ("engine", "version", "state", "error_class"):
        if values[name]:
            typer.echo(f"{name}: {values[name]}")
    if failure := values["failure"]:
        typer.echo(f"failure: {failure['message']}")
        for line in failure["evidence"]:
            typer.echo(f"  {line}")
        typer.echo(f"remedy: {failure['remedy']}")
    for name, value in (values["result"] or {}).items():
        if name in ("kind", "engine", "engine_version", "xyz"):
            continue
        typer.echo(f"{name}: {' '.join(map(str, value)) if isinstance(value, list) else value}")
    if xyz := getattr(result, "xyz", None):
        typer.echo(xyz.rstrip())
