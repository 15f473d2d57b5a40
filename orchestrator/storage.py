"""Files that users put into the workspace, by content: ``files/<sha256>/<name>``; the hash is their id."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

from tasks.errors import InputError
from tasks.jobspec import NAME, InputFile
from tasks.workspace import hash_file

FOLDER = "files"
_ID = re.compile(r"[0-9a-f]{64}")


async def put_file(workspace: Path, name: str, content: AsyncIterator[bytes], max_bytes: int) -> InputFile:
    """Take a file in; the same content under the same name again changes nothing.

    Raises
    ------
    InputError
        If its name cannot be part of a path, or it is empty or too large; nothing of it is kept then.
    """
    if not NAME.fullmatch(name):
        remedy = "Up to 64 letters, digits, dots, hyphens and underscores, beginning with a letter or digit."
        raise InputError("file", name, "is not a name that files here can have", remedy)
    folder = workspace / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".{secrets.token_hex(8)}"
    digest, size = hashlib.sha256(), 0
    try:
        with temporary.open("xb") as stream:
            async for chunk in content:
                size += len(chunk)
                if size > max_bytes:
                    remedy = f"At most {max_bytes} bytes are taken (SIMRELAY_MAX_FILE_BYTES)."
                    raise InputError("file", name, "is too large", remedy)
                digest.update(chunk)
                stream.write(chunk)
            stream.flush()
            os.fsync(stream.fileno())
        if not size:
            raise InputError("file", name, "is empty", "Give a file with content.")
        target = folder / digest.hexdigest() / name
        target.parent.mkdir(exist_ok=True)
        temporary.chmod(0o644)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    return InputFile(path=target.relative_to(workspace).as_posix(), sha256=digest.hexdigest(), size_bytes=size)


def find_file(workspace: Path, file_id: str, field: str = "file") -> InputFile:
    """Find a file that was put into the workspace.

    Raises
    ------
    InputError
        If there is none of that id, or its content is no longer what its id says.
    """
    if not _ID.fullmatch(file_id):
        raise InputError(
            field, file_id, "is not the id of a file", "It is the 64 digits that `simrelay file put` gave."
        )
    folder = workspace / FOLDER / file_id
    try:
        path = next(path for path in sorted(folder.iterdir()) if not path.name.startswith("."))
    except (FileNotFoundError, StopIteration):
        raise InputError(field, file_id, "is not a file in the workspace", "Put it with `simrelay file put`.") from None
    if hash_file(path) != file_id:
        raise InputError(field, file_id, "was changed in the workspace", "Put it again with `simrelay file put`.")
    return InputFile(path=path.relative_to(workspace).as_posix(), sha256=file_id, size_bytes=path.stat().st_size)
