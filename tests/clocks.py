"""A wall clock that a test sets: programs started with its variables read it; their monotonic clock is the true one."""

from __future__ import annotations

import os
from pathlib import Path

from tests.conftest import missing

_LIBRARY = "faketime/libfaketime.so.1"
#: libfaketime 0.9.10 refuses the sleep that Python asks for (EINVAL) while the monotonic clock is left alone
_SLEEP = """
import select, time
time.sleep = lambda seconds: select.select([], [], [], seconds) and None
"""


class Clock:
    """A wall clock that is off by what a file says; made by libfaketime (Debian's package ``faketime``)."""

    def __init__(self, folder: Path) -> None:
        found = [path for place in ("/usr/lib", "/usr/lib64") for path in sorted(Path(place).glob(f"*/{_LIBRARY}"))]
        found += [path for place in ("/usr/lib", "/usr/lib64") if (path := Path(place) / _LIBRARY).exists()]
        if not found:
            missing("libfaketime")
        self.file = folder / "clock"
        (folder / "sitecustomize.py").write_text(_SLEEP)
        self.step(0)
        self.variables = {
            "LD_PRELOAD": str(found[0]),
            "PYTHONPATH": os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH")))),
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_NO_CACHE": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }

    def step(self, seconds: float) -> None:
        """Set the clock to that far ahead of the true one (behind it if negative)."""
        temporary = self.file.with_suffix(".new")
        temporary.write_text(f"{seconds:+.3f}\n")
        temporary.replace(self.file)
