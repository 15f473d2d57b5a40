"""Fetching the files that a job works on: late, changed, missing."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import pytest

from tasks.errors import InputError
from tasks.jobspec import InputFile
from worker.staging import fetch_inputs

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
