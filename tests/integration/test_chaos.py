"""The proof of the promise, two minutes of it: a whole installation is struck at random while it works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(600)
def test_two_minutes_of_chaos_lose_and_double_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.chaos", "--minutes", "2", "--pause", "2.5", "--seed", "20", "--home"]
    done = subprocess.run([*command, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=560, check=False)
    print(done.stdout)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-2000:]}"
    assert done.stdout.splitlines()[-1].startswith("VERDICT: 0 violations in ")
