"""OpenMP for tblite on a host whose system has none."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from worker.engines import openmp

ENERGY = """
from ase.build import molecule
from tblite.ase import TBLite
atoms = molecule("H2O")
atoms.calc = TBLite(method="GFN2-xTB", verbosity=0)
print(atoms.get_potential_energy())
print([line.split()[-1] for line in open("/proc/self/maps") if "gomp" in line][0])
"""


def test_tblite_computes_the_same_with_the_library_that_stands_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openmp, "has_system_openmp", lambda: False)
    variables = openmp.openmp_environment()
    said = []
    for environment in (os.environ, {**os.environ, **variables}):
        run = subprocess.run(
            [sys.executable, "-c", ENERGY], env=environment, capture_output=True, text=True, check=True
        )
        said.append(run.stdout.splitlines())
    assert float(said[0][0]) == pytest.approx(float(said[1][0]), abs=1e-6)
    assert said[1][1].startswith(variables["LD_LIBRARY_PATH"])


def test_the_systems_library_is_used_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openmp, "has_system_openmp", lambda: True)
    assert openmp.openmp_environment() == {}
