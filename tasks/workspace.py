"""The shared folder: where jobs and runs keep their files, and how a file gets there whole.

<workspace>/jobs/<id's first two>/<job id>/spec.json, attempt-1-<claim>/, attempt-2-<claim>/
<workspace>/runs/<run id>/manifest.json, plan.md, report.md, figures/
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from tasks.results import Artifact, Outcome

#: written last; from then on the attempt never changes its directory (DESIGN, rule 12)
OUTCOME_FILE = "outcome.json"
#: holds the token by which a worker proves that it sees the orchestrator's workspace
PROOF_FILE = ".simrelay-workspace"


def job_folder(workspace: Path, job: str) -> Path:
    """Give the folder of a job."""
    return workspace / "jobs" / job[:2] / job


def attempt_folder(workspace: Path, job: str, attempt: int, claim_id: str) -> Path:
    """Give the folder of an attempt."""
    return job_folder(workspace, job) / f"attempt-{attempt}-{claim_id}"


def run_folder(workspace: Path, run: str) -> Path:
    """Give the folder of a run."""
    return workspace / "runs" / run


Tick = Callable[[], None]
#: bytes that are copied or hashed between two ticks
CHUNK_BYTES = 8 * 2**20


def idle() -> None:
    """Do nothing between two chunks of a file."""


def hash_file(path: Path, tick: Tick = idle) -> str:
    """Give the SHA-256 of a file's content, in hexadecimal; ``tick`` is called between chunks."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
            tick()
    return digest.hexdigest()


def copy_bytes(source: Path, target: Path, tick: Tick = idle) -> None:
    """Copy a file's content; ``tick`` is called between chunks."""
    with source.open("rb") as reader, target.open("wb") as writer:
        while chunk := reader.read(CHUNK_BYTES):
            writer.write(chunk)
            tick()


def _publish(temporary: Path, target: Path) -> None:
    """Rename a complete temporary file into place, and make both durable."""
    with temporary.open("rb") as stream:
        os.fsync(stream.fileno())
    temporary.replace(target)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def write_file(target: Path, content: bytes | str) -> None:
    """Write a file by temporary file, fsync and rename: a reader sees the old content, the new one, or nothing."""
    data = content.encode() if isinstance(content, str) else content
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        temporary.chmod(0o644)
        _publish(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def copy_file(source: Path, target: Path, tick: Tick = idle) -> None:
    """Copy a file in the same way as ``write_file`` writes one."""
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(descriptor)
    temporary = Path(name)
    try:
        copy_bytes(source, temporary, tick)
        temporary.chmod(0o644)
        _publish(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def artifact(path: Path, workspace: Path, role: str = "", tick: Tick = idle) -> Artifact:
    """Describe a file of the workspace."""
    name, digest = path.relative_to(workspace).as_posix(), hash_file(path, tick)
    return Artifact(path=name, size_bytes=path.stat().st_size, sha256=digest, role=role)


def write_artifact(path: Path, content: bytes | str, workspace: Path, role: str = "") -> Artifact:
    """Write a file into the workspace and describe it; folders on the way are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, content)
    return artifact(path, workspace, role)


def intact(described: Artifact, workspace: Path, tick: Tick = idle) -> bool:
    """Tell whether a file is there with the size and hash that were recorded."""
    path = workspace / described.path
    try:
        return path.stat().st_size == described.size_bytes and hash_file(path, tick) == described.sha256
    except OSError:
        return False


def read_outcome(folder: Path) -> Outcome | None:
    """Read the outcome file of an attempt; None if the attempt did not get that far."""
    try:
        return Outcome.model_validate_json((folder / OUTCOME_FILE).read_text())
    except FileNotFoundError:
        return None
