"""How commands print: the answer to standard output, everything else to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pydantic import BaseModel


#: the option that every command has that prints an answer
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]

#: so wide that no line of a file is broken
_WIDE = 1000


def note(text: str) -> None:
    """Say something beside the answer."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def answer(text: str) -> None:
    """Print an answer, or a part of one."""
    sys.stdout.write(f"{text}\n")


def print_json(data: BaseModel | object) -> None:
    """Print an answer as JSON."""
    from pydantic import BaseModel

    def plain(value: object) -> object:
        if isinstance(value, BaseModel):
            return value.model_dump(mode="json")
        if isinstance(value, list | tuple):
            return [plain(one) for one in value]
        return value

    answer(json.dumps(plain(data), indent=2, ensure_ascii=False))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = ()) -> None:
    """Print an answer as a table: for people on a terminal, as aligned plain columns elsewhere."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = sys.stdout.isatty()
    table = Table(box=box.SIMPLE_HEAD if terminal else None, header_style="bold" if terminal else "", pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", no_wrap=not terminal)
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    Console(file=sys.stdout, width=None if terminal else _WIDE, highlight=False).print(table)


def print_pairs(pairs: Iterable[tuple[str, object]]) -> None:
    """Print names and values, one a line; what is empty is left out."""
    shown = [(name, str(value)) for name, value in pairs if value not in ("", None, (), [])]
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        answer(f"{name:<{width}}  {value}")


def moment(when: datetime | None) -> str:
    """Give a moment in local time; empty: none."""
    return f"{when.astimezone():%Y-%m-%d %H:%M:%S}" if when else ""


def ago(when: datetime | None) -> str:
    """Say how long ago something was."""
    if not when:
        return ""
    seconds = max(0.0, (datetime.now(UTC) - when).total_seconds())
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"


def amount(size_bytes: int) -> str:
    """Give an amount of data with a fitting unit."""
    size = float(size_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def more(cursor: str, what: str) -> None:
    """Say that a listing has another page."""
    if cursor:
        note(f"there are more {what}: --cursor {cursor}")
