"""``simrelay graph show``: the supervisor graph, as text or as a picture; it needs no service."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.asking import Pipeline
from orchestrator.cli.output import answer, note
from tasks.errors import InputError

app = typer.Typer(help="The supervisor graph.", no_args_is_help=True)


class Format(StrEnum):
    """How the graph is drawn."""

    MERMAID = "mermaid"
    PNG = "png"


@app.callback()
def _group() -> None:
    """The supervisor graph."""


@app.command()
def show(
    looped: Annotated[bool, typer.Option("--looped", help="The same as --pipeline looped.")] = False,
    pipeline: Annotated[Pipeline | None, typer.Option(help="Whose ways are drawn; without it the short one's.")] = None,
    form: Annotated[Format, typer.Option("--format", help="Mermaid text, or a picture.")] = Format.MERMAID,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it there.")] = None,
) -> None:
    """Draw the graph as it is compiled: straight with a short or full pipeline, or looped."""
    from orchestrator.drawing import draw_mermaid, draw_png
    from tasks.settings import load_settings

    if looped and pipeline not in (None, Pipeline.LOOPED):
        raise InputError("pipeline", str(pipeline), "contradicts --looped", "Give one of them.")
    chosen = Pipeline.LOOPED if looped else pipeline or Pipeline.SHORT
    if form is Format.PNG and output is None and sys.stdout.isatty():
        raise InputError("output", "", "is missing: a picture is not for a terminal", "Give --output FILE.")
    drawn = draw_png(chosen, load_settings()) if form is Format.PNG else draw_mermaid(chosen, load_settings()).encode()
    if output is not None:
        _write(output, drawn)
        note(f"written to {output}")
    elif form is Format.PNG:
        sys.stdout.buffer.write(drawn)
    else:
        answer(drawn.decode().rstrip())


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError("output", str(path), f"cannot be written: {error.strerror}", "Name another file.") from None
