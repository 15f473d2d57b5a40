"""Fetching the files that a job works on, late, changed or missing; and keeping checkpoints without copying twice."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import pytest

from tasks import workspace as files
from tasks.errors import InputError
from tasks.jobspec import InputFile
from worker.engines.base import Snapshot
from worker.staging import CheckpointStager, fetch_inputs

CONTENT = b"orbitals" * 1000


def described(path: str = "files/a/orbitals.molden", content: bytes = CONTENT) -> InputFile:
    return InputFile(path=path, sha256=hashlib.sha256(content).hexdigest(), size_bytes=len(content))


def put(workspace: Path, path: str = "files/a/orbitals.molden", content: bytes = CONTENT) -> Path:
    target = workspace / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return target


def test_files_are_copied_under_the_names_of_the_spec(tmp_path: Path) -> None:
    put(tmp_path)
    put(tmp_path, "files/b/x", b"two")
    inputs = {"wavefunction": described(), "other": described("files/b/x", b"two")}
    fetch_inputs(inputs, tmp_path, tmp_path / "scratch" / "inputs", lambda: None)
    assert (tmp_path / "scratch/inputs/wavefunction").read_bytes() == CONTENT
    assert (tmp_path / "scratch/inputs/other").read_bytes() == b"two"


def test_a_file_that_appears_late_is_waited_for_with_the_lease_renewed(tmp_path: Path) -> None:
    # As on NFS, whose clients remember for seconds that a file was not there.
    ticks = []

    def appear() -> None:
        ticks.append(1)
        if len(ticks) == 3:
            put(tmp_path)

    fetch_inputs({"wavefunction": described()}, tmp_path, tmp_path / "inputs", appear, patience_seconds=30)
    assert len(ticks) >= 3
    assert (tmp_path / "inputs/wavefunction").read_bytes() == CONTENT


def test_a_file_that_is_still_being_written_is_waited_for(tmp_path: Path) -> None:
    half = put(tmp_path, content=CONTENT[:100])

    def finish() -> None:
        temporary = half.with_name("whole")
        temporary.write_bytes(CONTENT)
        os.replace(temporary, half)

    timer = threading.Timer(0.3, finish)
    timer.start()
    fetch_inputs({"wavefunction": described()}, tmp_path, tmp_path / "inputs", lambda: None, patience_seconds=30)
    assert (tmp_path / "inputs/wavefunction").read_bytes() == CONTENT


@pytest.mark.parametrize("content", [None, CONTENT[:-1] + b"?", CONTENT + b"more"])
def test_a_missing_or_changed_file_is_refused_by_name(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        put(tmp_path, content=content)
    with pytest.raises(InputError) as refused:
        fetch_inputs({"wavefunction": described()}, tmp_path, tmp_path / "inputs", lambda: None, patience_seconds=0.3)
    assert refused.value.field == "inputs.wavefunction"
    assert "files/a/orbitals.molden" in str(refused.value)
    assert "is missing, or is not what it was" in str(refused.value)
    assert not (tmp_path / "inputs/wavefunction").exists()


def test_a_file_that_did_not_change_since_the_last_checkpoint_is_linked_not_copied(tmp_path: Path) -> None:
    scratch, folder = tmp_path / "scratch", tmp_path / "workspace" / "jobs" / "a1"
    scratch.mkdir()
    folder.mkdir(parents=True)
    still, moving = scratch / "run.tpr", scratch / "run.cpt"
    still.write_bytes(b"large")
    stager = CheckpointStager(tmp_path / "workspace", folder, 0, files.idle)
    staged = []
    for number in range(4):
        (scratch / "new").write_bytes(b"checkpoint %d" % number)
        (scratch / "new").replace(moving)
        staged.append(stager.stage(Snapshot(files=(still, moving), text="")))
        assert stager.stage(Snapshot(files=(still, moving), text="")) is None
    assert [one.number for one in staged if one] == [1, 2, 3, 4]
    newest = staged[-1]
    assert newest
    for artifact in newest.files:
        assert files.intact(artifact, tmp_path / "workspace")
    # Only the newest two are kept, and they share what did not change.
    kept = sorted((folder / "checkpoints").iterdir())
    assert [path.name for path in kept] == ["000003", "000004"]
    assert len({(path / "run.tpr").stat().st_ino for path in kept}) == 1
    assert len({(path / "run.cpt").stat().st_ino for path in kept}) == 2
