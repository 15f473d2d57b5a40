"""The command line as it is typed: what is a request and what a command, exit codes, and what starting costs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks import __version__
from tasks.command import run
from tasks.settings import load_settings

HEAVY = (
    "rdkit",
    "langgraph",
    "matplotlib",
    "pyscf",
    "fastapi",
    "celery",
    "redis",
    "httpx",
    "numpy",
    "pydantic_settings",
)


@pytest.fixture(autouse=True)
def _empty_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("SIMRELAY_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SIMRELAY_REDIS_URL", raising=False)
    monkeypatch.delenv("SIMRELAY_API_URL", raising=False)
    load_settings.cache_clear()
    yield
    load_settings.cache_clear()


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"simrelay {__version__}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["run", "--help"], ["batch", "submit", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = f"import sys, tasks.command as c; c.run({arguments!r}); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(done.stderr.split())
    assert "typer" in modules
    assert [name for name in HEAVY if name in modules] == []


def test_help_names_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    for name in ("run", "job", "batch", "worker", "engine", "up", "down", "status", "schema", "orchestrator"):
        assert f" {name} " in shown, name


def test_the_worker_group_holds_the_commands_of_both_rooms(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["worker", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "detect" in shown
    assert "list" in shown


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "Compare the HOMO of water and methane", "--dry-run", "--json"],
        ["run", "--dry-run", "--json", "Compare the HOMO of water and methane"],
        ["run", "--json", "Compare the HOMO of water and methane", "--dry-run"],
    ],
)
def test_a_first_word_that_is_no_command_is_a_request(
    arguments: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(arguments) == 0
    planned = json.loads(capsys.readouterr().out)
    assert planned["queued"] == 0
    assert planned["steps"][0]["agent"] == "chemistry_agent"
    assert not (tmp_path / "home").exists(), "a dry run starts nothing"


@pytest.mark.parametrize(
    "arguments", [["run", "list"], ["run", "--json", "list"], ["run", "show", "r1"], ["job", "list"]]
)
def test_a_first_word_that_is_a_command_is_one(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 7
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: no service runs in ")
    assert "`simrelay up`" in captured.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "shwo"], "Did you mean `simrelay run show`?"),
        (["run", ""], "request"),
        (["run", "make me a sandwich"], "holds no chemistry"),
        (["run", "HOMO of 'C1CC'"], "ring 1 opens here and is never closed"),
        (["batch", "submit", "/none.csv"], "cannot be read"),
    ],
)
def test_bad_input_is_one_line_exit_code_2_and_starts_nothing(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["job"], ["job", "info"], ["job", "list", "--count", "0"], ["run", "list", "--nope"]]
)
def test_wrong_use_is_exit_code_2_without_a_traceback(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    assert "Usage: " in captured.err + captured.out


def test_a_setting_that_cannot_be_used_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIMRELAY_LEASE_SECONDS", "3")
    assert run(["job", "list"]) == 3
    assert "SIMRELAY_LEASE_SECONDS" in capsys.readouterr().err


def test_a_redis_of_the_users_own_without_a_service_starts_no_stack(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("SIMRELAY_REDIS_URL", "redis://127.0.0.1:1/0")
    assert run(["run", "HOMO of water"]) == 7
    assert "SIMRELAY_REDIS_URL is set, but no service runs here" in capsys.readouterr().err
    assert not (tmp_path / "home").exists()


def test_a_service_elsewhere_that_does_not_answer_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIMRELAY_API_URL", "http://127.0.0.1:1")
    assert run(["status"]) == 1
    assert "does not answer" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("missing", "arguments", "room"),
    [
        ("httpx", ["job", "list"], "orchestrator"),
        ("typer.missing", ["--version"], ""),
        ("tomlkit", ["worker"], "worker"),
        ("tomlkit", ["worker", "detect"], "worker"),
        ("httpx", ["worker", "list"], "orchestrator"),
        ("rdkit", ["run", "HOMO of water"], "orchestrator"),
    ],
)
def test_a_room_that_is_not_installed_says_so(missing: str, arguments: list[str], room: str) -> None:
    """The package is hidden from the import system of a fresh process, as if it were not installed."""
    code = f"""
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name == {missing!r} or name.startswith({missing!r} + "."):
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
from tasks.command import run
sys.exit(run({arguments!r}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if not room:
        assert done.returncode == 0
        return
    assert done.returncode == 3
    assert f"installed without the {room}" in done.stderr
    assert f"pip install 'simrelay[{room}]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    code = "from tasks.command import main; import sys; sys.argv = ['simrelay', 'schema']; main()"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout
    process.stdout.close()
    _, said = process.communicate()
    assert said == b""
