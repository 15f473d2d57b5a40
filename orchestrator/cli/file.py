"""``simrelay file``: put local files where jobs can work on them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.connect import start_if_missing
from orchestrator.cli.output import Json, answer, note, print_json

app = typer.Typer(help="Files to work on.", no_args_is_help=True)


@app.command()
def put(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A local file, such as a molden file.")],
    as_json: Json = False,
) -> None:
    """Put a file into the workspace, and print its id, by which jobs name it: {"file": "<id>"}."""
    from tasks.errors import InputError

    if not path.is_file():
        raise InputError("path", str(path), "is not a file", "Give a file that can be read.")
    with start_if_missing() as service:
        taken = service.put_file(path)
    if as_json:
        print_json(taken)
        return
    note(f"{taken.size_bytes} bytes, {taken.path} in the workspace")
    answer(taken.file)
