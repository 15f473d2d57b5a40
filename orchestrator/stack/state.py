"""What a running stack says of itself: a file in its folder, rewritten whenever something changes."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestrator.stack.processes import Process
from orchestrator.stack.secrets import write_private

#: name that Flower asks for besides the installation's password
FLOWER_USER = "simrelay"


class Service(BaseModel):
    """One child of the stack."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    #: 0: it does not run
    pid: int = 0
    #: names the process together with its number, as ``Process.start_ticks``
    start_ticks: int = 0
    #: moment of its last start, ISO 8601 in UTC
    since: str = ""
    restarts: int = 0
    #: how it ended last time: exit code, negative for a signal; None: it never ended
    last_exit: int | None = None
    log: str = ""


class StackState(BaseModel):
    """A running stack: its supervisor, its children and where they listen."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    supervisor: Process
    since: str
    #: false: it uses a Redis of the user's own
    own_redis: bool
    redis_port: int = 0
    flower_port: int = 0
    services: tuple[Service, ...] = Field(default=())
    #: whether all were started once
    complete: bool = False

    @property
    def flower_url(self) -> str:
        """Where Flower listens; empty if it does not run."""
        return f"http://127.0.0.1:{self.flower_port}/" if self.flower_port else ""

    def service(self, name: str) -> Service | None:
        """Give one child by its name."""
        return next((one for one in self.services if one.name == name), None)


def state_path(home: Path) -> Path:
    """Give the file that holds the state."""
    return home / "stack.json"


def write_state(home: Path, state: StackState) -> None:
    """Write the state; only its owner can read it."""
    write_private(state_path(home), state.model_dump_json(indent=2) + "\n")


def read_state(home: Path) -> StackState | None:
    """Read the state that a stack left last; None if there is none."""
    try:
        return StackState.model_validate_json(state_path(home).read_text())
    except (FileNotFoundError, ValidationError):
        return None


def running(home: Path) -> StackState | None:
    """Read the state of the stack that runs in this folder, seen from this host; None if none does."""
    state = read_state(home)
    return state if state and state.supervisor.alive() else None
