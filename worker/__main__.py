"""``python -m worker``: the same as ``simrelay worker``."""

from __future__ import annotations

import sys

from tasks.errors import SimrelayError
from worker.command import app

if __name__ == "__main__":
    try:
        app()
    except SimrelayError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(error.exit_code)
