"""What can be checked of compose.yaml and `deploy` without a container engine, and on a real Redis 8."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import redis
import yaml

from orchestrator.flower import use_defaults
from orchestrator.stack.redis_server import free_port
from orchestrator.stack.secrets import API_TOKEN, FLOWER_PASSWORD, secret
from tasks.programs import load_programs
from tasks.settings import Settings
from tests.conftest import eventually, redis_8
from worker.engines.registry import ENGINES

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE = (ROOT / "compose.yaml").read_text()
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
#: what a person must choose, without a default
CHOSEN = {"REDIS_PASSWORD": "aRedisPassword1", "FLOWER_PASSWORD": "aFlowerPassword1"}
SECONDS = {"s": 1, "m": 60}

_VARIABLE = re.compile(r"\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}")


def rendered(values: Mapping[str, str]) -> dict[str, Any]:
    """Read compose.yaml as Compose does: variables put in, ``$$`` for a dollar, a needed variable refused if empty."""

    def put_in(text: str) -> str:
        def one(match: re.Match[str]) -> str:
            name, kind, rest = match.groups()
            if not name:
                return "$"
            if kind == "?" and not values.get(name):
                raise ValueError(rest)
            return values.get(name) or (rest if kind == "-" else "")

        return _VARIABLE.sub(one, text)

    def walk(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: walk(value) for key, value in node.items()}
        if isinstance(node, list):
            return [walk(value) for value in node]
        return put_in(node) if isinstance(node, str) else node

    loaded: dict[str, Any] = walk(yaml.safe_load(COMPOSE))
    return loaded


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    """The services of compose.yaml, with nothing set but what must be."""
    found: dict[str, Any] = rendered(CHOSEN)["services"]
    return found


def assignments(path: Path) -> dict[str, str]:
    """Read a file of variables."""
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    pairs = (line.partition("=") for line in lines)
    return {name: value for name, _, value in pairs}


def setting_variables() -> set[str]:
    """Give the variables of all settings."""
    return {
        field.validation_alias if isinstance(field.validation_alias, str) else f"SIMRELAY_{name.upper()}"
        for name, field in Settings.model_fields.items()
    }


def seconds(text: str) -> int:
    """Read a duration such as ``3m``."""
    return int(text[:-1]) * SECONDS[text[-1]]


def command_works(*arguments: str) -> None:
    """Check that the command line knows a command and its options."""
    command = [sys.executable, "-m", "tasks.command", *arguments, "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


# ---- compose


def test_the_services_and_what_each_waits_for(services: dict[str, Any]) -> None:
    waits = {
        name: {on: how["condition"] for on, how in service.get("depends_on", {}).items()}
        for name, service in services.items()
    }
    healthy = "service_healthy"
    assert waits == {
        "redis": {},
        "orchestrator": {"redis": healthy},
        "worker": {"redis": healthy, "orchestrator": healthy},
        "flower": {"redis": healthy},
    }
    for on in {on for named in waits.values() for on in named}:
        assert services[on]["healthcheck"]["test"]


def test_every_service_comes_back_and_gets_sigterm_alone(services: dict[str, Any]) -> None:
    for name, service in services.items():
        assert service["restart"] == "unless-stopped", name
        assert name == "redis" or service["init"] is True


def test_nothing_is_published_beyond_loopback_by_default(services: dict[str, Any]) -> None:
    ports = {name: service.get("ports", []) for name, service in services.items()}
    assert ports == {
        "redis": ["127.0.0.1:6379:6379"],
        "orchestrator": ["127.0.0.1:8765:8765"],
        "worker": [],
        "flower": ["127.0.0.1:5555:5555"],
    }


@pytest.mark.parametrize("name", CHOSEN)
def test_no_password_has_a_default(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is not set, see deploy/.env.example"):
        rendered({**CHOSEN, name: ""})


def test_every_variable_is_documented_and_every_documented_one_is_used() -> None:
    used = {match[1] for match in _VARIABLE.finditer(COMPOSE) if match[1]}
    documented = assignments(DEPLOY / ".env.example")
    assert used == documented.keys()
    # The values there are the defaults of compose.yaml, and secrets have none.
    assert {name for name in documented if name in CHOSEN and documented[name]} == set()
    assert rendered(CHOSEN) == rendered({**documented, **CHOSEN})


def test_the_variables_of_every_service_are_settings_and_make_valid_ones(
    services: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in setting_variables():
        monkeypatch.delenv(name, raising=False)
    for name, service in services.items():
        ours = {key: value for key, value in service["environment"].items() if key.startswith("SIMRELAY_")}
        assert ours.keys() <= setting_variables(), name
        assert all(isinstance(value, str) for value in ours.values())
        with monkeypatch.context() as patch:
            for key, value in ours.items():
                patch.setenv(key, value)
            settings = Settings()
        if name == "redis":
            continue
        assert settings.redis_url.get_secret_value() == "redis://:aRedisPassword1@redis:6379/0"
        assert str(settings.home) == "/var/lib/simrelay"
        assert (settings.api_host == "0.0.0.0") == (name == "orchestrator")


def test_what_the_orchestrator_may_be_connected_to_is_passed_on_and_empty_means_not_set(
    services: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    services_of_others = re.compile(r"SIMRELAY_(MODEL|TAVILY|PUBCHEM|EMBEDDINGS|QDRANT)(_|$)")
    wanted = {name for name in setting_variables() if services_of_others.match(name)}
    passed = services["orchestrator"]["environment"]
    on_a_host = assignments(DEPLOY / "systemd/simrelay.env.example")
    assert len(wanted) >= 17
    assert wanted <= passed.keys()
    assert wanted <= on_a_host.keys()
    for name in wanted:
        assert (passed[name], on_a_host[name]) == ("", "")
        monkeypatch.setenv(name, "")
    given, default = Settings(), Settings.model_construct()
    for name in ("model_timeout_seconds", "model_prompt_price", "tavily_url", "embeddings_folder", "qdrant_url"):
        assert getattr(given, name) == getattr(default, name), name


def test_the_service_listens_where_it_is_published_and_looked_at(services: dict[str, Any]) -> None:
    orchestrator, flower = services["orchestrator"], services["flower"]
    port = orchestrator["environment"]["SIMRELAY_API_PORT"]
    assert orchestrator["ports"][0].endswith(f":{port}")
    assert f"127.0.0.1:{port}/health" in orchestrator["healthcheck"]["test"][-1]
    port = flower["environment"]["FLOWER_PORT"]
    assert flower["ports"][0].endswith(f":{port}")
    assert f"127.0.0.1:{port}/healthcheck" in flower["healthcheck"]["test"][-1]
    assert flower["environment"]["FLOWER_BASIC_AUTH"] == "simrelay:aFlowerPassword1"


def test_what_looks_at_a_service_is_a_program_that_compiles(services: dict[str, Any]) -> None:
    for name in ("orchestrator", "flower"):
        kind, program, option, code = services[name]["healthcheck"]["test"]
        assert (kind, program, option) == ("CMD", "python", "-c")
        compile(code, name, "exec")


def test_orchestrator_and_worker_share_the_workspace_and_nothing_else(services: dict[str, Any]) -> None:
    mounts = {
        name: [v.rsplit(":", 1)[0] if v.endswith(":ro") else v for v in services[name]["volumes"]] for name in services
    }
    assert set(mounts["orchestrator"]) & set(mounts["worker"]) == {"workspace:/srv/simrelay/workspace"}
    assert "scratch:/scratch" in mounts["worker"]
    every = {mount.partition(":")[0] for of_one in mounts.values() for mount in of_one}
    files = {source for source in every if source.startswith(".")}
    assert every - files == set(rendered(CHOSEN)["volumes"])
    assert all((ROOT / file).is_file() for file in files)


def test_the_commands_exist(services: dict[str, Any]) -> None:
    assert services["orchestrator"]["command"] == ["simrelay", "orchestrator"]
    command_works("orchestrator")
    program, *arguments = services["worker"]["command"]
    assert program == "simrelay"
    assert arguments == ["worker", "--cores", "0", "--memory", ""]
    command_works(*arguments)
    program, option, module = services["flower"]["command"]
    assert (program, option) == ("python", "-m")
    assert (ROOT / module.replace(".", "/")).with_suffix(".py").is_file()


def longest_stop_seconds() -> float:
    """Give how long a worker may need to stop: renewal, checkpoint, kill and post."""
    fields = Settings.model_fields
    waits = sum(fields[name].default for name in ("beat_seconds", "renew_timeout_seconds", "kill_grace_seconds"))
    return float(waits) + max(engine.stop_grace_seconds for engine in ENGINES.values()) + 30


def test_a_worker_is_given_the_time_that_its_jobs_need_to_stop(services: dict[str, Any]) -> None:
    assert seconds(services["worker"]["stop_grace_period"]) >= longest_stop_seconds()


def test_the_programs_file_that_is_shipped_declares_nothing_and_its_example_is_right(tmp_path: Path) -> None:
    path = DEPLOY / "programs.toml"
    assert load_programs(path) == {}
    example = tmp_path / "programs.toml"
    lines = path.read_text().split("example:\n#\n")[1].splitlines()
    example.write_text("\n".join(line.removeprefix("#").strip() for line in lines))
    assert load_programs(example).keys() == {"relax"}


# ---- the image


def test_the_image_s_extras_exist_and_each_service_has_its_room(services: dict[str, Any]) -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    default = re.search(r"^ARG EXTRAS=(\S+)$", dockerfile, re.MULTILINE)
    assert default
    assert set(default[1].split(",")) <= extras.keys()
    built = {name: service["build"] for name, service in services.items() if "build" in service}
    assert {name: build["args"]["EXTRAS"] for name, build in built.items()} == {
        "orchestrator": "orchestrator,literature",
        "worker": "worker,swarm,md",
        "flower": "orchestrator,literature",
    }
    for build in built.values():
        assert (ROOT / build["context"] / build["dockerfile"]).is_file()
        assert {f"ARG {name}" for name in build["args"]} <= set(re.findall(r"^ARG \w+", dockerfile, re.MULTILINE))


def test_the_image_runs_as_nobody_special_and_names_no_address() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    assert re.findall(r"^USER (.*)$", text, re.MULTILINE)[-1] == "simrelay"
    assert set(re.findall(r"^FROM (\S+)", text, re.MULTILINE)) == {"python:3.11-slim"}
    assert "://" not in text
    assert "index-url" not in text
    variables = set(re.findall(r"(SIMRELAY_\w+)=", text))
    assert variables
    assert variables <= setting_variables()


def test_the_image_is_built_from_the_rooms_and_nothing_secret() -> None:
    kept = {line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line[:1] == "!"}
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    assert kept == {name for line in copied for name in line.split()}
    assert ".env" in (ROOT / ".gitignore").read_text().splitlines()


# ---- Redis


#: the image's own program that starts the server: it adds the modules to what it is told
ENTRYPOINT = """#!/bin/sh
server="$1"; shift
test "$server" = redis-server
exec {program} "$@" {modules}
"""
EXPECTED = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "save": "",
    "maxmemory-policy": "noeviction",
    "protected-mode": "yes",
}


class StartedRedis:
    """A redis-server 8, and a client of it."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str], port: int, password: str) -> None:
        self.log = folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        self.client = redis.Redis(port=port, password=password, decode_responses=True)
        eventually(self._answers, what="Redis answers")

    def _answers(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        try:
            return bool(self.client.ping())
        except redis.ConnectionError:
            return False

    def setting(self, name: str) -> str:
        """Read back one setting."""
        return str(self.client.config_get(name)[name])

    def close(self) -> None:
        """End it."""
        self.client.close()
        self.process.kill()
        self.process.wait()


@pytest.fixture
def as_on_a_host(tmp_path: Path) -> Iterator[StartedRedis]:
    """The shipped file on a host of its own, with a password, another port and folder."""
    binary, port = redis_8(), free_port()
    options = ["--port", str(port), "--dir", str(tmp_path), "--requirepass", "secret1"]
    modules = [word for module in binary.modules for word in ("--loadmodule", str(module))]
    command = [str(binary.program), str(DEPLOY / "redis.conf"), *options, *modules]
    running = StartedRedis(command, tmp_path, dict(os.environ), port, "secret1")
    yield running
    running.close()


def test_redis_8_accepts_the_file_and_means_the_same(as_on_a_host: StartedRedis) -> None:
    assert int(as_on_a_host.client.info("server")["redis_version"].split(".")[0]) >= 8
    assert {name: as_on_a_host.setting(name) for name in EXPECTED} == EXPECTED
    assert as_on_a_host.setting("maxmemory") == str(2 * 2**30)
    assert as_on_a_host.setting("bind") == "127.0.0.1 -::1"
    file = (DEPLOY / "redis.conf").read_text().splitlines()
    for line in file:
        name, *values = shlex.split(line, comments=True) or [""]
        if name in ("", "port", "maxmemory", "auto-aof-rewrite-min-size", "client-output-buffer-limit"):
            continue
        assert as_on_a_host.setting(name) == " ".join(values), line
    assert "pubsub 67108864 16777216 60" in as_on_a_host.setting("client-output-buffer-limit")


def test_the_container_s_command_starts_redis_with_this_installation_s_password_and_limit(
    services: dict[str, Any], tmp_path: Path
) -> None:
    # Given what the image provides: its entry point, the mounted file, and a folder of the container's own
    service, binary, port = services["redis"], redis_8(), free_port()
    assert "./deploy/redis.conf:/usr/local/etc/redis/redis.conf:ro" in service["volumes"]
    assert service["tmpfs"][0].startswith("/run/redis:")
    modules = " ".join(f"--loadmodule {module}" for module in binary.modules)
    entrypoint = tmp_path / "docker-entrypoint.sh"
    entrypoint.write_text(ENTRYPOINT.format(program=binary.program, modules=f"{modules} --port {port}"))
    entrypoint.chmod(0o755)
    program, option, script = service["command"]
    script = script.replace("/usr/local/etc/redis/redis.conf", str(DEPLOY / "redis.conf"))
    script = script.replace("/run/redis", str(tmp_path))
    variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}", **service["environment"], "REDIS_MAXMEMORY": "100mb"}
    # When its command runs
    running = StartedRedis([program, option, script], tmp_path, variables, port, CHOSEN["REDIS_PASSWORD"])
    try:
        # Then it is the shipped file, with what belongs to this installation
        assert {name: running.setting(name) for name in EXPECTED} == EXPECTED
        assert running.setting("maxmemory") == str(100 * 2**20)
        assert running.setting("bind") == "* -::*"
        assert {"search", "ReJSON"} <= {module["name"] for module in running.client.module_list()}
        with pytest.raises(redis.AuthenticationError):
            redis.Redis(port=port).ping()
        assert (tmp_path / "redis.conf").stat().st_mode & 0o077 == 0
        # and it is told of SIGTERM itself, without a shell before it
        running.process.terminate()
        assert running.process.wait(20) == 0
    finally:
        running.close()


# ---- systemd


def unit(path: Path) -> dict[str, dict[str, str]]:
    """Read a unit: its sections, each with its settings."""
    sections: dict[str, dict[str, str]] = {}
    section: dict[str, str] = {}
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            assert name not in section, f"{path}: {name} is there twice"
            section[name] = value
    return sections


def test_there_is_a_unit_for_each_room() -> None:
    assert [path.stem for path in UNITS] == ["simrelay-flower", "simrelay-orchestrator", "simrelay-worker"]


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_comes_back_and_signals_its_main_process_alone(path: Path) -> None:
    parts = unit(path)
    service = parts["Service"]
    assert service["Restart"] == "always"
    assert parts["Unit"]["StartLimitIntervalSec"] == "0"
    assert service["KillMode"] == "mixed"
    assert service["User"] == "simrelay"
    assert "SendSIGKILL" not in service


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_s_command_exists(path: Path) -> None:
    program, *arguments = unit(path)["Service"]["ExecStart"].split()
    where, name = program.rsplit("/", 1)
    assert where == "/opt/simrelay/bin"
    if name == "simrelay":
        command_works(*(word for word in arguments if not word.startswith("$")))
    else:
        assert (name, arguments) == ("python", ["-m", "orchestrator.flower"])


def test_a_worker_s_unit_gives_its_jobs_time_and_outlives_one_that_ran_out_of_memory() -> None:
    service = unit(DEPLOY / "systemd/simrelay-worker.service")["Service"]
    assert float(service["TimeoutStopSec"]) >= longest_stop_seconds()
    assert service["OOMPolicy"] == "continue"


def test_the_units_variables_are_settings() -> None:
    named = set(assignments(DEPLOY / "systemd/simrelay.env.example"))
    for path in UNITS:
        named |= set(re.findall(r"\b(SIMRELAY_\w+)=", unit(path)["Service"]["Environment"]))
    assert {name for name in named if name.startswith("SIMRELAY_")} <= setting_variables()
    assert "WORKER_OPTIONS" in named
    assert "$WORKER_OPTIONS" in (DEPLOY / "systemd/simrelay-worker.service").read_text()


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd here")
@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_systemd_understands_a_unit(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    copy.write_text(path.read_text().replace("/opt/simrelay/bin", str(Path(sys.executable).parent)))
    done = subprocess.run(["systemd-analyze", "verify", str(copy)], capture_output=True, text=True, check=False)
    about = [line for line in (done.stdout + done.stderr).splitlines() if path.name in line]
    assert done.returncode == 0, done.stderr
    assert not about


# ---- what the deployments rely on


def test_flower_asks_for_the_installation_s_password_unless_it_is_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = Settings.model_validate({"home": tmp_path / "home"})
    for name in ("BASIC_AUTH", "AUTH", "ADDRESS", "DB", "PERSISTENT", "STATE_SAVE_INTERVAL"):
        # Set first, so that it is put back even if it was not there.
        monkeypatch.setenv(f"FLOWER_{name}", "")
        monkeypatch.delenv(f"FLOWER_{name}")
    use_defaults(settings)
    assert os.environ["FLOWER_BASIC_AUTH"] == f"simrelay:{secret(settings.home, FLOWER_PASSWORD)}"
    assert os.environ["FLOWER_ADDRESS"] == "127.0.0.1"
    monkeypatch.setenv("FLOWER_BASIC_AUTH", "me:mine")
    monkeypatch.setenv("FLOWER_ADDRESS", "0.0.0.0")
    use_defaults(settings)
    assert os.environ["FLOWER_BASIC_AUTH"] == "me:mine"
    assert os.environ["FLOWER_ADDRESS"] == "0.0.0.0"


def test_the_readme_names_what_is_there() -> None:
    text = (DEPLOY / "README.md").read_text()
    for name in (".env.example", "redis.conf", "Dockerfile", "systemd/simrelay.env.example", API_TOKEN):
        assert name in text, name
    for variable in re.findall(r"SIMRELAY_[A-Z_]+", text):
        assert variable in setting_variables(), variable
    for variable in re.findall(r"`((?:REDIS|FLOWER|WORKER|ACCOUNT)_[A-Z]+)`", text):
        assert variable in {*assignments(DEPLOY / ".env.example"), "WORKER_OPTIONS"}, variable
