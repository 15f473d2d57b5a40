"""The lock of a folder: one stack at a time, also where several hosts share the folder.

Two things together hold it. ``flock`` on a file of its own is let go of by the kernel when its holder dies, and settles
every race on one host. A file that names host, boot and process is made with ``link``, which is atomic also on a shared
file system, and is what another host looks at: it cannot see whether that process lives, so it never takes over.
"""

from __future__ import annotations

import errno
import fcntl
import os
import uuid
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from orchestrator.stack.processes import Process, pid_namespace, this_process
from tasks.errors import StackBusy

_IS_HELD = (errno.EWOULDBLOCK, errno.EACCES)


class Holder(Process):
    """Who holds a lock, and since when."""

    since: str = ""


class FolderLock:
    """The lock of one folder.

    Parameters
    ----------
    folder
        The folder; it must exist.
    me
        Who takes the lock; None: the calling process.
    """

    def __init__(self, folder: Path, me: Process | None = None) -> None:
        self.folder = folder
        #: names the holder
        self.path = folder / "stack.lock"
        process = me or this_process()
        self.me = Holder(**process.model_dump(), since=datetime.now(UTC).isoformat(timespec="seconds"))
        self._descriptor = -1
        self._has_flock = False

    def acquire(self) -> None:
        """Take the lock; it is held until ``release`` or the end of this process.

        Raises
        ------
        StackBusy
            If another stack holds it, or may hold it; the message names its host and process.
        """
        self._descriptor = os.open(self.folder / "stack.flock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._flock()
            self._name_me()
        except BaseException:
            self._let_go()
            raise

    def release(self) -> None:
        """Let go of the lock."""
        if self.holder() == self.me:
            self.path.unlink(missing_ok=True)
        self._let_go()

    def holder(self) -> Holder | None:
        """Read who holds the lock; None if nobody does, or nobody that a file of ours could name."""
        return _read(self.path)

    def _let_go(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _flock(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _IS_HELD:
                raise self._busy(self.holder()) from None
            self._has_flock = False  # a file system without flock: the named file alone has to do
        else:
            self._has_flock = True

    def _name_me(self) -> None:
        mine = self.folder / f".stack.lock.{uuid.uuid4().hex}"
        descriptor = os.open(mine, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(self.me.model_dump_json() + "\n")
                file.flush()
                os.fsync(file.fileno())
            while not self._link(mine):
                other = self.holder()
                if other and not self._is_gone(other):
                    raise self._busy(other)
                self._remove(other)
        finally:
            mine.unlink(missing_ok=True)

    def _link(self, mine: Path) -> bool:
        try:
            os.link(mine, self.path)
        except FileExistsError:
            # The reply of an NFS server may be lost although it made the link: the count of links tells.
            return mine.stat().st_nlink == 2
        return True

    def _is_gone(self, other: Holder) -> bool:
        if other.alive():
            return False
        if other.same_kernel():
            # Its flock would be held if it lived, in whatever container; without flock only its number can tell.
            return self._has_flock or other.pid_namespace == pid_namespace()
        return other.host == self.me.host and self._has_flock  # this host, before its last boot

    def _remove(self, stale: Holder | None) -> None:
        """Take a stale file away; if somebody else has put his there meanwhile, put that back."""
        aside = self.folder / f".stack.lock.{uuid.uuid4().hex}"
        try:
            self.path.rename(aside)
        except FileNotFoundError:
            return
        try:
            if _read(aside) != stale:
                os.link(aside, self.path)
        except FileExistsError:
            return
        finally:
            aside.unlink(missing_ok=True)

    def _busy(self, other: Holder | None) -> StackBusy:
        if other is None:
            return StackBusy(f"another stack is starting or stopping in {self.folder}; try again in a moment")
        message = (
            f"another stack works in {self.folder}: host {other.host}, process {other.pid}, since {other.since}."
            f" Use it from there, stop it with `simrelay down` there, or set SIMRELAY_HOME to another folder."
        )
        if other.host != self.me.host or not other.same_kernel():
            message += f" If that host is really gone, remove {self.path}."
        return StackBusy(message)


def _read(path: Path) -> Holder | None:
    try:
        return Holder.model_validate_json(path.read_text())
    except (FileNotFoundError, ValidationError):
        return None
