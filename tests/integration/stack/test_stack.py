"""The embedded stack as a whole: real processes, started and stopped by the command line."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from orchestrator.stack.state import StackState, read_state
from tests.conftest import eventually
from tests.programs import programs_toml


def _heed_ctrl_c() -> None:
    """Undo what a shell does to the commands that it runs in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Installation:
    """A folder of its own, and the command line on it."""

    def __init__(self, home: Path, **variables: str) -> None:
        self.home = home
        self.variables = variables

    @property
    def environment(self) -> dict[str, str]:
        """Variables of a user with nothing configured but this folder."""
        plain = {name: value for name, value in os.environ.items() if not name.startswith("SIMRELAY_")}
        return {**plain, "SIMRELAY_HOME": str(self.home), **self.variables}

    def call(self, *arguments: str, seconds: float = 240) -> subprocess.CompletedProcess[str]:
        """Run one command."""
        return subprocess.run(
            [sys.executable, "-m", "tasks.command", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def interrupted(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one command, and press Ctrl-C as soon as it says something of its run."""
        command = [sys.executable, "-m", "tasks.command", *arguments]
        process = subprocess.Popen(
            command, env=self.environment, stderr=subprocess.PIPE, text=True, preexec_fn=_heed_ctrl_c
        )
        assert process.stderr
        said = ""
        for line in process.stderr:
            said += line
            if ": ACTIVE" in line or ": WAITING" in line:
                process.send_signal(signal.SIGINT)
                break
        said += process.stderr.read()
        return subprocess.CompletedProcess(command, process.wait(60), "", said)

    def json(self, *arguments: str) -> Any:
        """Run one command that succeeds, and read its answer."""
        done = self.call(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def state(self) -> StackState:
        """Read what the stack says of itself."""
        state = read_state(self.home)
        assert state
        return state

    def processes(self) -> list[psutil.Process]:
        """Find every process of this installation, whoever started it."""
        found = []
        for process in psutil.process_iter():
            try:
                own = process.environ().get("SIMRELAY_HOME") == str(self.home)
                redis = str(self.home) in process.cwd()
                if process.pid != os.getpid() and (own or redis) and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except psutil.Error:
                continue
        return found


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    """An installation with one declared program; nothing of it is left afterwards."""
    installation = Installation(tmp_path / "home")
    installation.home.mkdir(mode=0o700)
    (installation.home / "programs.toml").write_text(programs_toml(installation.home))
    # A worker that has only that program starts without looking for engines.
    (installation.home / "engines.toml").write_text("[engines]\n")
    yield installation
    for process in installation.processes():
        process.kill()


def test_up_second_up_status_restart_and_down(installation: Installation) -> None:
    # When the stack is started
    up = installation.call("up")
    assert up.returncode == 0, up.stderr
    # Then all of it runs, on loopback, with secrets that only its owner reads
    status = installation.json("status")
    assert status["running"]
    assert [service["name"] for service in status["services"]] == ["redis", "orchestrator", "worker", "flower"]
    assert all(service["runs"] for service in status["services"])
    assert status["counts"]["workers"] == 1
    for name in ("api-token", "flower-password", "stack.json", "api.json", "redis/password", "redis/server.conf"):
        assert stat.S_IMODE((installation.home / name).stat().st_mode) == 0o600, name
    listening = {
        connection.laddr.ip
        for process in installation.processes()
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}
    secrets = {(installation.home / name).read_text() for name in ("api-token", "flower-password", "redis/password")}
    for process in installation.processes():
        assert not any(secret in " ".join(process.cmdline()) for secret in secrets), process.cmdline()
    # And Flower lets in only who knows the password
    flower = status["flower_url"]
    password = (installation.home / "flower-password").read_text()
    eventually(lambda: httpx.get(flower, auth=("simrelay", password)).status_code == 200, what="Flower answers")
    assert httpx.get(flower).status_code == 401
    # And a second stack on the folder is refused
    second = installation.call("up")
    assert second.returncode == 8
    supervisor = installation.state().supervisor
    assert f"host {supervisor.host}, process {supervisor.pid}" in second.stderr
    assert len(second.stderr.splitlines()) == 1

    # When a batch was computed and the stack is restarted
    rows = installation.home / "rows.csv"
    rows.write_text("steps,label\n2,a\n2,b\n")
    submitted = installation.call("batch", "submit", str(rows), "--program", "countdown", "--id", "b1")
    assert (submitted.returncode, submitted.stdout) == (0, "b1\n"), submitted.stderr
    eventually(lambda: installation.json("batch", "show", "b1")["succeeded"] == 2, seconds=60)
    _change_jobs(installation)
    assert installation.call("down").stdout == "stopped\n"
    assert installation.processes() == []
    stopped = installation.call("status", "--json")
    assert (stopped.returncode, json.loads(stopped.stdout)["running"]) == (1, False)
    assert installation.call("down").stdout == "nothing was running\n"
    missing = installation.call("job", "list")
    assert missing.returncode == 7
    assert "simrelay up" in missing.stderr
    again = installation.call("up")
    assert again.returncode == 0, again.stderr
    # Then its data are there, and its addresses are those of before
    assert installation.json("batch", "show", "b1")["succeeded"] == 2
    after = installation.json("status")
    for name in ("redis_port", "flower_url", "api_url"):
        assert after[name] == status[name], name
    assert installation.call("down").returncode == 0


def _change_jobs(installation: Installation) -> None:
    """Do the jobs of a batch again, by a filter; what cannot be done is said, with an exit code of its own."""
    shown = installation.call("job", "rerun", "--batch", "b1", "--dry-run")
    assert (shown.returncode, len(shown.stdout.splitlines())) == (0, 3)
    assert "would touch 2 of 2 jobs; nothing was changed" in shown.stderr
    done = [installation.json("job", "rerun", "--batch", "b1", "--id", "b2") for _ in range(2)]
    assert done[0] == done[1]
    new = [row["new_job"] for row in done[0]["changes"]]
    eventually(lambda: installation.json("batch", "show", "b2")["succeeded"] == 2, seconds=60)
    ended = installation.call("job", "cancel", *new)
    assert ended.returncode == 0
    assert [line.split("  ")[1] for line in ended.stdout.splitlines()] == ["it had ended: SUCCEEDED"] * 2
    retried = installation.call("job", "retry", new[0])
    assert (retried.returncode, retried.stdout) == (
        5,
        "it is SUCCEEDED, and only FAILED or CANCELLED jobs are retried\n",
    )
    assert installation.call("job", "hold").returncode == 2


def test_nothing_outlives_a_killed_supervisor_and_a_killed_child_comes_back(installation: Installation) -> None:
    up = installation.call("up")
    assert up.returncode == 0, up.stderr
    # Given a job that runs
    rows = installation.home / "rows.csv"
    rows.write_text("steps,pause\n2000,0.05\n")
    assert installation.call("batch", "submit", str(rows), "--program", "countdown", "--id", "b1").returncode == 0
    eventually(lambda: installation.json("job", "list", "--state", "RUNNING")["jobs"], seconds=60)
    # When the orchestrator and Redis are killed, one after the other
    for name in ("orchestrator", "redis"):
        service = installation.state().service(name)
        assert service
        os.kill(service.pid, signal.SIGKILL)

        def back(name: str = name, pid: int = service.pid) -> bool:
            now = installation.state().service(name)
            return bool(now and now.pid and now.pid != pid and now.restarts == 1)

        # Then they come back
        eventually(back, seconds=60, what=f"{name} is restarted")
    eventually(lambda: installation.call("job", "list").returncode == 0, seconds=60)
    # When the supervisor is killed
    supervisor = installation.state().supervisor.pid
    os.kill(supervisor, signal.SIGKILL)
    # Then nothing of the stack is left, not even what the job has started
    eventually(lambda: not installation.processes(), seconds=30, what="every process of the stack has ended")
    # And the stack starts again on what was left
    again = installation.call("up")
    assert again.returncode == 0, again.stderr
    assert installation.call("batch", "cancel", "b1").returncode == 0
    assert installation.call("down").returncode == 0
    assert installation.processes() == []


def test_what_does_not_start_is_said_with_the_end_of_its_log(installation: Installation) -> None:
    (installation.home / "engines.toml").write_text("[engines.nonsense]\n")
    started = time.monotonic()
    up = installation.call("up")
    assert up.returncode == 7
    assert "worker ended with exit code 3" in up.stderr
    assert "engines.nonsense: is not an engine" in up.stderr
    assert time.monotonic() - started < 120
    eventually(lambda: not installation.processes(), seconds=10, what="nothing is left running")


REQUEST = "Compare the HOMO and LUMO energies of water and methane with GFN2-xTB"


def test_one_command_on_an_empty_home_answers_a_request(tmp_path: Path) -> None:
    installation = Installation(tmp_path / "new" / "home")
    try:
        # When a request is all that was ever typed
        done = installation.call("run", REQUEST)
        # Then it is answered on standard output, with units and the paths of its files, and progress stands elsewhere
        assert done.returncode == 0, done.stderr
        for word in ("HOMO / eV", "LUMO / eV", "water", "methane"):
            assert word in done.stdout
        paths = [line.split(":", 1)[1].strip() for line in done.stdout.splitlines() if line.startswith("report:")]
        assert len(paths) == 1
        assert Path(paths[0]).is_file()
        for word in ("nothing is configured", "step 1, chemistry_agent", "RUNNING", "SUCCEEDED", "simrelay down"):
            assert word in done.stderr
        # And it is among the runs
        (seen,) = installation.json("run", "list")["runs"]
        assert seen["request"] == REQUEST
        shown = installation.json("run", "show", seen["id"])
        assert {job["label"] for job in shown["jobs"]} == {"water", "methane"}
        told = installation.call("run", "show", seen["id"], "--events").stdout
        assert (
            told.index("submitted") < told.index("started") < told.index("2 succeeded") < told.index("ended SUCCEEDED")
        )
        info = installation.call("job", "info", shown["jobs"][0]["id"]).stdout.splitlines()
        head = next(i for i, line in enumerate(info) if line.startswith("attempt "))
        assert [word in info[head] for word in ("worker", "host", "why", "reached", "from")] == [True] * 5
        assert [word in info[head + 1] for word in ("done", "scratch")] == [True] * 2
        log = installation.call("job", "logs", shown["jobs"][0]["id"])
        assert log.returncode == 0, log.stderr
        assert log.stdout.strip()
        _detach_and_attach(installation)
        assert installation.call("down").returncode == 0
    finally:
        for process in installation.processes():
            process.kill()


def _detach_and_attach(installation: Installation) -> None:
    """Let go of a run by Ctrl-C, attach by the same request, and let go again; then attach by its id."""
    request = "Compute the HOMO and LUMO energies of ethanol with B3LYP/def2-SVP"
    first = installation.interrupted("run", request)
    assert first.returncode == 130
    runs = installation.json("run", "list")["runs"]
    assert f"simrelay run attach {runs[0]['id']}" in first.stderr
    same = installation.interrupted("run", request)
    assert f"attached to the unfinished run {runs[0]['id']}" in same.stderr
    assert len(installation.json("run", "list")["runs"]) == len(runs)
    ended = installation.call("run", "attach", runs[0]["id"])
    assert ended.returncode == 0, ended.stderr
    assert "ethanol" in ended.stdout
