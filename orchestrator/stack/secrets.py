"""The secrets of an installation: files that only their owner reads, made at first start."""

from __future__ import annotations

import os
import secrets
import uuid
from pathlib import Path

API_TOKEN = "api-token"
FLOWER_PASSWORD = "flower-password"


def secret(home: Path, name: str) -> str:
    """Give a secret of this installation; it is made if there is none yet, by whoever comes first."""
    path = home / name
    if not path.exists():
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        mine = home / f".{name}.{uuid.uuid4().hex}"
        write_private(mine, secrets.token_urlsafe(32))
        try:
            os.link(mine, path)
        except FileExistsError:
            return path.read_text().strip()
        finally:
            mine.unlink()
    return path.read_text().strip()


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner reads, in one step."""
    mine = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    descriptor = os.open(mine, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        mine.replace(path)
    except BaseException:
        mine.unlink(missing_ok=True)
        raise
