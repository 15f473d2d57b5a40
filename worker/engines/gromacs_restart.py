"""Restart points of a chain of stages in scratch: frozen files, which never change while they are copied.

``mdrun`` appends to trajectory, energies and log while it runs. Here they are kept as pieces, each the bytes from one
restart point to the next; pieces of like size become one, so that a long run has a few of them (their number grows with
the logarithm of the number of restart points), and each byte is copied few times. A restart point with a piece beyond
its checkpoint is whole: on going on, ``mdrun`` cuts the files to what the checkpoint says.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
from pathlib import Path

KEEP = "keep"
#: what ``mdrun`` appends to, by suffix
GROWING = ("xtc", "edr", "log")
_PIECE = re.compile(r"(?P<file>.+)\.from-(?P<start>\d{15})")


def freeze(scratch: Path, stage: str, fixed: list[Path]) -> list[Path]:
    """Freeze what a later attempt needs, and give it; the files of one call stay as they are until the next.

    Parameters
    ----------
    stage
        The stage that is not finished, or the last one.
    fixed
        Files that are complete and do not change.
    """
    keep = scratch / KEEP
    keep.mkdir(exist_ok=True)
    wanted = {_link(path, keep) for path in fixed}
    checkpoint, before = scratch / f"{stage}.cpt", scratch / f"{stage}_prev.cpt"
    final = scratch / f"{stage}.gro" in fixed
    if checkpoint.exists():
        # First the checkpoint, then what it refers to: that is on the disk before the checkpoint is.
        changed = not _same(checkpoint, keep / checkpoint.name)
        wanted |= {_link(path, keep) for path in (before, checkpoint) if path.exists()}
        for suffix in GROWING if changed or final else ():
            grow(scratch / f"{stage}.{suffix}", keep)
    for path in keep.iterdir():
        piece = _PIECE.fullmatch(path.name)
        if path.name not in wanted and not (piece and piece["file"].startswith(f"{stage}.") and checkpoint.exists()):
            path.unlink()
    return sorted(keep.iterdir())


def _same(one: Path, other: Path) -> bool:
    return other.exists() and one.stat().st_ino == other.stat().st_ino


def _link(path: Path, keep: Path) -> str:
    """Freeze a file that is only ever replaced as a whole; its name."""
    target = keep / path.name
    if not _same(path, target):
        temporary = keep / f".{path.name}"
        temporary.unlink(missing_ok=True)
        os.link(path, temporary)
        temporary.replace(target)
    return path.name


def pieces(folder: Path, name: str) -> list[Path]:
    """Give the pieces of a file, in their order."""
    return sorted(folder.glob(f"{name}.from-*"))


def grow(path: Path, keep: Path) -> None:
    """Add the bytes that a file has grown by as a piece of its own, and join pieces of like size."""
    if not path.exists():
        return
    there = pieces(keep, path.name)
    start = sum(piece.stat().st_size for piece in there)
    size = path.stat().st_size
    if size < start:  # the stage began anew
        for piece in there:
            piece.unlink()
        there, start = [], 0
    if size == start:
        return
    there.append(_cut(path, start, size, keep))
    while len(there) > 1 and there[-1].stat().st_size >= there[-2].stat().st_size:
        last, joined = there.pop(), there.pop()
        temporary = keep / f".{joined.name}"
        shutil.copyfile(joined, temporary)
        with temporary.open("ab") as writer, last.open("rb") as reader:
            shutil.copyfileobj(reader, writer)
        # The longer piece first, so that no moment lacks bytes; the other one then repeats some for a moment.
        temporary.replace(joined)
        last.unlink()
        there.append(joined)


def _cut(path: Path, start: int, end: int, keep: Path) -> Path:
    target = keep / f"{path.name}.from-{start:015d}"
    with path.open("rb") as reader, target.open("wb") as writer:
        reader.seek(start)
        left = end - start
        while left > 0 and (chunk := reader.read(min(left, 2**20))):
            writer.write(chunk)
            left -= len(chunk)
    return target


def lay_out(restart: Path, scratch: Path) -> None:
    """Put a restart point into scratch: files as they were, pieces joined."""
    for name in {match["file"] for path in restart.iterdir() if (match := _PIECE.fullmatch(path.name))}:
        with (scratch / name).open("wb") as writer:
            for piece in pieces(restart, name):
                with piece.open("rb") as reader:
                    shutil.copyfileobj(reader, writer)
    for path in restart.iterdir():
        if not _PIECE.fullmatch(path.name):
            shutil.copyfile(path, scratch / path.name)


def clear(scratch: Path, stages: tuple[str, ...]) -> None:
    """Take away what earlier commands of this attempt left, so that only the restart point counts."""
    shutil.rmtree(scratch / KEEP, ignore_errors=True)
    for stage in stages:
        for path in (*scratch.glob(f"{stage}.*"), *scratch.glob(f"{stage}_prev.cpt")):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()


def checkpoint_key(path: Path) -> str:
    """Give what a correction remembers a damaged checkpoint by."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def whole_structure(path: Path) -> bool:
    """Tell whether a ``.gro`` file is complete: title, number of atoms, that many rows, box."""
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            next(stream)
            atoms = int(next(stream))
            rows, last = 0, ""
            for row in stream:
                rows, last = rows + 1, row
    except (OSError, ValueError, StopIteration):
        return False
    return rows == atoms + 1 and last.endswith("\n") and len(last.split()) in (3, 9)
