"""Between scratch and workspace: checkpoints and results go out, the checkpoint to go on from comes in."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import structlog

from tasks import workspace as files
from tasks.errors import InputError
from tasks.jobspec import InputFile
from tasks.results import Artifact, Checkpoint
from tasks.workspace import Tick
from worker.engines.base import Snapshot

log = structlog.get_logger()


def _stamp(paths: Sequence[Path]) -> tuple[tuple[int, int, int], ...]:
    stats = [path.stat() for path in paths]
    return tuple((s.st_ino, s.st_size, s.st_mtime_ns) for s in stats)


class CheckpointStager:
    """Copies restart points of one attempt to the workspace, and keeps the newest two.

    Parameters
    ----------
    folder
        The attempt's folder.
    number
        Number of the newest checkpoint of the job before this attempt; 0: none.
    tick
        Called while large files are copied.
    """

    def __init__(self, workspace: Path, folder: Path, number: int, tick: Tick) -> None:
        self.workspace, self.folder, self.number, self.tick = workspace, folder, number, tick
        self.newest: Checkpoint | None = None
        self._before: Checkpoint | None = None
        self._stamp: tuple[tuple[int, int, int], ...] = ()

    def stage(self, snapshot: Snapshot) -> Checkpoint | None:
        """Copy a restart point; None if it is the one that was copied last, or changed while it was copied.

        Raises
        ------
        OSError
            If the workspace cannot take it; what was copied last stays.
        """
        try:
            stamp = _stamp(snapshot.files)
        except FileNotFoundError:  # the program has just replaced one of them
            return None
        if stamp == self._stamp:
            return None
        target = self.folder / "checkpoints" / f"{self.number + 1:06d}"
        shutil.rmtree(target, ignore_errors=True)
        # Never the attempt's folder itself: where that is gone, this is not the workspace that it was made in.
        target.parent.mkdir(exist_ok=True)
        target.mkdir()
        try:
            staged = self._copy(snapshot, target, stamp)
        except OSError:
            shutil.rmtree(target, ignore_errors=True)
            if not all(path.exists() for path in snapshot.files):
                return None
            raise
        if staged is None:
            shutil.rmtree(target, ignore_errors=True)
            return None
        self.number += 1
        if self._before:
            shutil.rmtree(self._folder_of(self._before), ignore_errors=True)
        self._before, self._stamp = self.newest, stamp
        self.newest = Checkpoint(number=self.number, text=snapshot.text, files=staged)
        return self.newest

    def _copy(
        self, snapshot: Snapshot, target: Path, stamp: tuple[tuple[int, int, int], ...]
    ) -> tuple[Artifact, ...] | None:
        for path in snapshot.files:
            files.copy_file(path, target / path.name, self.tick)
        if _stamp(snapshot.files) != stamp:
            return None
        return tuple(
            files.artifact(target / path.name, self.workspace, "checkpoint", self.tick) for path in snapshot.files
        )

    def _folder_of(self, checkpoint: Checkpoint) -> Path:
        return (self.workspace / checkpoint.files[0].path).parent


def fetch_checkpoint(
    candidates: Sequence[Checkpoint | None],
    workspace: Path,
    target: Path,
    tick: Tick,
    *,
    patience_seconds: float = 15.0,
) -> Checkpoint | None:
    """Copy the first intact checkpoint into ``target``; None if none is.

    Shared file systems cache attributes, so the newest one is waited for; a damaged or missing one is passed over.
    """
    deadline = time.monotonic() + patience_seconds
    for checkpoint in candidates:
        if checkpoint is None or not checkpoint.files:
            continue
        while not _there(checkpoint.files, workspace) and time.monotonic() < deadline:
            time.sleep(0.2)
            tick()
        if all(files.intact(file, workspace, tick) for file in checkpoint.files):
            target.mkdir(parents=True, exist_ok=True)
            for file in checkpoint.files:
                files.copy_bytes(workspace / file.path, target / Path(file.path).name, tick)
            return checkpoint
        log.warning("checkpoint_damaged", number=checkpoint.number, path=checkpoint.files[0].path)
    return None


def _there(staged: Sequence[Artifact], workspace: Path) -> bool:
    for file in staged:
        try:
            os.listdir((workspace / file.path).parent)  # makes NFS look again
            if (workspace / file.path).stat().st_size != file.size_bytes:
                return False
        except OSError:
            return False
    return True


def fetch_inputs(
    inputs: Mapping[str, InputFile], workspace: Path, target: Path, tick: Tick, *, patience_seconds: float = 15.0
) -> None:
    """Copy the files that a job works on into ``target``, under the names that its spec gives them.

    Raises
    ------
    InputError
        If a file is not there, or has another content than it had when the job was submitted.
    """
    deadline = time.monotonic() + patience_seconds
    target.mkdir(parents=True, exist_ok=True)
    for name, file in inputs.items():
        described = Artifact(path=file.path, size_bytes=file.size_bytes, sha256=file.sha256)
        while not _there((described,), workspace) and time.monotonic() < deadline:
            time.sleep(0.2)
            tick()
        if not files.intact(described, workspace, tick):
            problem = "is missing, or is not what it was when the job was submitted"
            raise InputError(f"inputs.{name}", file.path, problem, "Compute it again, and submit with the new file.")
        files.copy_bytes(workspace / file.path, target / name, tick)


def keep_results(found: dict[str, Path], workspace: Path, folder: Path, tick: Tick) -> tuple[Artifact, ...]:
    """Copy result files by role from scratch into the attempt's folder."""
    kept = []
    for role, path in found.items():
        target = folder / path.name
        files.copy_file(path, target, tick)
        kept.append(files.artifact(target, workspace, role, tick))
    return tuple(kept)
