"""The READMEs: their examples are accepted, and the modules that they name are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tasks.programs import load_programs
from worker.detect import read_engines_toml

ROOT = Path(__file__).parents[2]
FOLDERS = ("tasks", "worker", "orchestrator", "deploy", "tests")
LONGEST = 80


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_room_has_a_readme_of_about_half_a_page(folder: str) -> None:
    lines = (ROOT / folder / "README.md").read_text().splitlines()
    assert lines[0].startswith(f"# {folder}: ")
    assert len(lines) <= LONGEST


@pytest.mark.parametrize("folder", ["tasks", "worker", "orchestrator"])
def test_the_table_of_a_room_names_only_modules_that_it_has(folder: str) -> None:
    rows = [line for line in (ROOT / folder / "README.md").read_text().splitlines() if line.startswith("| `")]
    named = {name.rstrip("/") for row in rows for name in re.findall(r"`([a-z_]+/?)`", row.split("|")[1])}
    there = {path.stem for path in (ROOT / folder).iterdir() if path.suffix == ".py" and not path.stem.startswith("__")}
    there |= {path.name for path in (ROOT / folder).iterdir() if path.is_dir() and not path.name.startswith("__")}
    assert named
    assert named <= there


def example(first: str) -> str:
    """Give the TOML block of the worker's README that begins with this line."""
    blocks: list[str] = re.findall(r"```toml\n(.*?)```", (ROOT / "worker/README.md").read_text(), re.DOTALL)
    return next(block for block in blocks if block.startswith(first))


def test_the_worker_s_example_of_engines_toml_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "engines.toml"
    path.write_text(example("[engines.pyscf]"))
    (offer,) = read_engines_toml(path)
    assert offer.engine == "pyscf"
    assert offer.environment


def test_the_worker_s_example_of_programs_toml_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "programs.toml"
    path.write_text(example("[programs.relax]"))
    (program,) = load_programs(path).values()
    assert program.parameters["steps"].type == "integer"
    assert program.progress
    assert re.match(program.progress, "step 3 of 10")


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_a_readme_names_by_its_path_is_there(folder: str) -> None:
    text = (ROOT / folder / "README.md").read_text()
    for name in re.findall(r"`((?:tasks|worker|orchestrator|deploy|tests)/[\w./-]+)`", text):
        assert (ROOT / name).exists(), name
