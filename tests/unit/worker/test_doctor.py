"""What ``simrelay doctor`` says of a host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from pydantic import SecretStr

from tasks.settings import Settings
from worker.doctor import Finding, examine


def examined(home: Path, redis_url: str = "") -> dict[str, Finding]:
    settings = Settings.model_validate({"home": home, "redis_url": SecretStr(redis_url)})
    return {finding.what: finding for finding in examine(settings, 2, 1000)}


def test_engines_that_are_there_are_told_with_version_and_tasks(tmp_path: Path) -> None:
    found = examined(tmp_path)
    assert {name: found[name].mark for name in ("scratch", "workspace", "pyscf", "xtb")} == dict.fromkeys(
        ("scratch", "workspace", "pyscf", "xtb"), "ok"
    )
    assert "single_point" in found["pyscf"].detail
    assert found["redis"].mark == "missing"


def test_each_thing_that_does_not_work_is_named_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "scratch").write_text("a file where a folder should be")
    (tmp_path / "engines.toml").write_text('[engines.pyscf]\ncommand = ["/no/such/python"]\n')
    (tmp_path / "programs.toml").write_text('[programs.relax]\ncommand = ["/no/such/relax"]\nsuccess = "ok"\n')
    found = examined(tmp_path, "redis://:secret@127.0.0.1:1/0")
    for what, word in (
        ("scratch", "cannot be written"),
        ("redis", "does not answer"),
        ("pyscf", "/no/such/python"),
        ("program relax", "/no/such/relax"),
    ):
        assert found[what].mark == "wrong", what
        assert word in found[what].detail
        assert "secret" not in found[what].detail


def test_a_mistake_in_engines_toml_is_told_and_the_command_fails(tmp_path: Path) -> None:
    (tmp_path / "engines.toml").write_text("[engines.nonsense]\n")
    done = subprocess.run(
        [sys.executable, "-m", "tasks.command", "doctor", "--json"],
        env={**os.environ, "SIMRELAY_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    said = {row["what"]: row for row in json.loads(done.stdout)}
    assert "nonsense" in said["engines"]["detail"]
