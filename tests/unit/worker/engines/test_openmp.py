"""OpenMP for tblite on a host whose system has none."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from worker.engines import openmp


def test_the_library_of_the_wheel_stands_in_for_a_missing_system_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openmp, "has_system_openmp", lambda: False)
    folder = Path(openmp.openmp_environment(tmp_path)["LD_LIBRARY_PATH"])
    library = ctypes.CDLL(str(folder / "libgomp.so.1"))
    assert library.omp_get_max_threads() >= 1


def test_the_systems_library_is_used_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openmp, "has_system_openmp", lambda: True)
    assert openmp.openmp_environment(tmp_path) == {}
