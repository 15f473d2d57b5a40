"""Whether a program can be started on this host: looked for, its libraries resolved, or a check of its own run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from worker.environment import engine_environment

#: longest that a check may take; a worker that tests itself does not beat meanwhile
CHECK_SECONDS = 20.0


def loading_trouble(program: str) -> str:
    """Say why a program cannot be loaded: it is not there, or a shared library of it is not; empty: it can be."""
    found = shutil.which(program)
    if not found:
        return f"{program} is not there"
    ldd = shutil.which("ldd")
    if not ldd:
        return ""
    # Scripts and static programs are none that ldd knows: it then names no library at all.
    try:
        said = _run((ldd, os.path.realpath(found)), engine_environment())
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"the libraries of {found} cannot be looked for: {error}"
    gone = [line.split()[0] for line in said.stdout.splitlines() if line.endswith("not found")]
    return f"{found} lacks {', '.join(gone)}" if gone else ""


def check_trouble(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Run a command that ends with 0 if all is well; gives what is wrong, empty: nothing."""
    shown = " ".join(command)
    try:
        said = _run(command, {**engine_environment(), **environment})
    except subprocess.TimeoutExpired:
        return f"{shown} did not end within {CHECK_SECONDS:g} s"
    except OSError as error:
        return f"{command[0]}: {error.strerror or error}"
    if said.returncode == 0:
        return ""
    lines = [line.strip() for line in (said.stdout + said.stderr).splitlines() if line.strip()]
    return f"{shown} ended with {said.returncode}" + (f": {lines[-1][:400]}" if lines else "")


def _run(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=CHECK_SECONDS,
        check=False,
    )
