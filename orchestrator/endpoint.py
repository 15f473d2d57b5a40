"""Where this installation's service listens: a file that the service writes and its clients read."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from orchestrator.stack.processes import Process
from orchestrator.stack.secrets import write_private


class Endpoint(BaseModel):
    """A service's URL, and the process behind it: a port may belong to somebody else after its end."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    url: str
    process: Process

    @property
    def host(self) -> str:
        """The host of the URL."""
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        """The port of the URL."""
        return urlsplit(self.url).port or 0


def endpoint_path(home: Path) -> Path:
    """Give the file that names the endpoint."""
    return home / "api.json"


def write_endpoint(home: Path, endpoint: Endpoint) -> None:
    """Say where the service listens."""
    write_private(endpoint_path(home), endpoint.model_dump_json() + "\n")


def last_endpoint(home: Path) -> Endpoint | None:
    """Read where the service listened last, whether it still runs or not."""
    try:
        return Endpoint.model_validate_json(endpoint_path(home).read_text())
    except (FileNotFoundError, ValidationError):
        return None


def live_endpoint(home: Path) -> Endpoint | None:
    """Read where the service listens; None if its process is gone, so that no stranger is sent the token.

    A process of another host or container cannot be seen from here and is taken to be gone.
    """
    endpoint = last_endpoint(home)
    return endpoint if endpoint and endpoint.process.alive() else None
