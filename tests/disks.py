"""Small real disks for tests: they fill up, turn read-only and go away as disks do, and come back."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import missing

FILLER = "filler"


def _do(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"


class Disk:
    """A tmpfs at a folder."""

    def __init__(self, folder: Path, size_mb: int) -> None:
        self.folder, self.size_mb = folder, size_mb
        folder.mkdir(parents=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={size_mb}m", "simrelay-test", str(folder)]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            missing("the right to mount a tmpfs")

    def fill(self) -> None:
        """Leave no byte free."""
        with contextlib.suppress(OSError), (self.folder / FILLER).open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        assert os.statvfs(self.folder).f_bavail == 0

    def make_room(self) -> None:
        """Undo ``fill``."""
        (self.folder / FILLER).unlink()

    def write_protect(self) -> None:
        """Remount it read-only."""
        _do("mount", "-o", "remount,ro", str(self.folder))

    def unprotect(self) -> None:
        """Undo ``write_protect``."""
        _do("mount", "-o", "remount,rw", str(self.folder))

    def hide(self) -> None:
        """Put an empty folder in its place, as where a mount is gone."""
        _do("mount", "-t", "tmpfs", "-o", "size=1m", "simrelay-test", str(self.folder))

    def show(self) -> None:
        """Undo ``hide``."""
        _do("umount", "-l", str(self.folder))

    def close(self) -> None:
        """Unmount all that is mounted there."""
        while subprocess.run(["umount", "-l", str(self.folder)], capture_output=True, check=False).returncode == 0:
            pass


@contextmanager
def disk(folder: Path, size_mb: int = 8) -> Iterator[Disk]:
    """Give a disk at a new folder, as long as the block does."""
    made = Disk(folder, size_mb)
    try:
        yield made
    finally:
        made.close()
