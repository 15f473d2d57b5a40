"""Finding engines, and the file that keeps what was found."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.errors import ConfigurationError
from tasks.programs import ProgramDeclaration
from worker.detect import detect_engines, read_engines_toml, write_engines_toml
from worker.engines.base import Offer
from worker.engines.program import Program
from worker.engines.registry import ENGINES, make_engine


def test_what_was_found_survives_the_file(tmp_path: Path) -> None:
    found = detect_engines()
    assert {"pyscf", "xtb"} <= {offer.engine for offer in found}
    offers = [
        *(o for o in found if o.engine != "program"),
        Offer(engine="program", version="", command=(), tasks=("a",)),
    ]
    offers[0] = Offer(**{**vars(offers[0]), "environment": {"LICENCE": 'a "b" \\ c'}})
    path = tmp_path / "new folder" / "engines.toml"
    write_engines_toml(path, offers)
    assert read_engines_toml(path) == offers
    write_engines_toml(path, offers[:1])
    assert read_engines_toml(path) == offers[:1]
    assert [file.name for file in path.parent.iterdir()] == ["engines.toml"]


def test_detection_loads_no_engine_into_this_process() -> None:
    code = (
        "import sys; from worker.detect import detect_engines; names = [o.engine for o in detect_engines()];"
        " print(names, sorted({'pyscf', 'tblite', 'ase', 'geometric', 'numpy'} & set(sys.modules)))"
    )
    root = Path(__file__).parents[3]
    out = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert out.stdout.endswith("[]\n")
    assert "'pyscf', 'xtb'" in out.stdout


def test_declared_programs_are_offered_if_this_host_has_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SIMRELAY_HOME", str(tmp_path))
    entry = '[programs.{}]\ncommand = ["{}"]\nsuccess = "ok"\n'
    (tmp_path / "programs.toml").write_text(entry.format("here", sys.executable) + entry.format("gone", "/no/such"))
    code = (
        "from worker.detect import detect_engines; print([o.tasks for o in detect_engines() if o.engine == 'program'])"
    )
    root = Path(__file__).parents[3]
    out = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert out.stdout == "[('here',)]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[engines.gaussian]\n", "engines.gaussian: is not an engine; known are pyscf, xtb, "),
        ("[engines.pyscf]\nversion = 2\n", "engines.pyscf.version: "),
        ("[engines.pyscf]\ncommand = 'python'\n", "engines.pyscf.command: "),
        ("[engines.pyscf]\ncommand = ['python', 3]\n", "engines.pyscf.command.1: "),
        ("[engines.pyscf]\nversion = '2'\n", "engines.pyscf.command: is missing"),
        ("[engines.pyscf]\ncores = 2\n", "engines.pyscf.cores: is not a known key"),
        ("[engines.pyscf]\ncommand = ['x']\nenvironment = { A = 1 }\n", "engines.pyscf.environment.A: "),
        ("[engine.pyscf]\n", "engine: is not known here"),
        ("engines = 1\n", "engines: is not a table"),
        ("[engines\n", "cannot be read"),
    ],
)
def test_each_mistake_in_the_file_is_named_with_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "engines.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=re.escape(f"{path}: {message}")):
        read_engines_toml(path)


def test_a_missing_file_says_what_writes_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="simrelay worker detect"):
        read_engines_toml(tmp_path / "engines.toml")


def test_every_engine_is_made_from_its_offer() -> None:
    for name, engine in ENGINES.items():
        made = make_engine(Offer(engine=name, version="1", command=("x",)))
        assert type(made) is engine
    echo = ProgramDeclaration(command=("/bin/echo",), success="ok")
    made = make_engine(Offer(engine="program", version="", command=()), {"echo": echo})
    assert isinstance(made, Program)
    assert made.declarations == {"echo": echo}
