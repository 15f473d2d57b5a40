"""Flower on the application of this process' settings; its own options come from ``FLOWER_*`` variables.

Its Terminate and Revoke buttons cancel the job, also with no worker up (``tasks.revoking``).
What the variables leave open: it listens on loopback, asks for the installation's password, and keeps what it has seen.
"""

from __future__ import annotations

import os
import sys

from orchestrator.stack.secrets import FLOWER_PASSWORD, secret
from orchestrator.stack.state import FLOWER_USER
from tasks.errors import ConfigurationError, SimrelayError
from tasks.revoking import make_revoking_app
from tasks.settings import Settings, load_settings


def use_defaults(settings: Settings) -> None:
    """Set the variables that the environment leaves open; Flower's own defaults let everybody in."""
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.environ.setdefault("FLOWER_ADDRESS", "127.0.0.1")
    os.environ.setdefault("FLOWER_PERSISTENT", "True")
    os.environ.setdefault("FLOWER_DB", str(settings.home / "flower.db"))
    os.environ.setdefault("FLOWER_STATE_SAVE_INTERVAL", "5000")
    # The arguments hold label, job and run: what people look for.
    os.environ.setdefault("FLOWER_TASKS_COLUMNS", "name,args,state,received,runtime,worker")
    if not os.environ.get("FLOWER_BASIC_AUTH") and not os.environ.get("FLOWER_AUTH"):
        os.environ["FLOWER_BASIC_AUTH"] = f"{FLOWER_USER}:{secret(settings.home, FLOWER_PASSWORD)}"


def main() -> None:
    """Run Flower until it is told to stop.

    Raises
    ------
    ConfigurationError
        If no Redis is named.
    """
    settings = load_settings()
    if not settings.redis_url.get_secret_value():
        raise ConfigurationError("SIMRELAY_REDIS_URL is not set: Flower needs the Redis of its installation")
    use_defaults(settings)
    make_revoking_app(settings).start(["--quiet", "flower"])


if __name__ == "__main__":
    try:
        main()
    except SimrelayError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(error.exit_code)
