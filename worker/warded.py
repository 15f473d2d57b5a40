"""The pool child's end of a warden: starts it, beats, reads what it says."""

from __future__ import annotations

import marshal
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from worker import sessions, warden
from worker.engines.base import Command, Exit


class WardedProgram:
    """The commands of one attempt, running under a warden.

    Attributes
    ----------
    exits
        How the commands that have ended did so.
    broken, broken_errno
        Why a command could not be started, as text and as the system's number; empty and 0: all could.
    session
        Id of the engine's session; 0 until it has started.
    why
        Why it is over: ``done``, ``killed``, ``stopped``, ``terminated``, ``silence``, ``parent_gone``,
        ``warden_lost`` or ``warden_silent``; empty while it runs.
    """

    def __init__(
        self,
        commands: Sequence[Command],
        folder: Path,
        environment: dict[str, str],
        *,
        dead_man_seconds: float,
        kill_grace_seconds: float,
    ) -> None:
        self.exits: list[Exit] = []
        self.broken = ""
        self.broken_errno = 0
        self.session = 0
        self.why = ""
        self.mark = folder.name
        self.kill_grace_seconds = kill_grace_seconds
        #: a warden that says nothing for so long is frozen: it could end nothing any more
        self.silence_seconds = dead_man_seconds + kill_grace_seconds
        self.heard = time.monotonic()
        environment = {**environment, sessions.MARK: self.mark}
        plan = {
            "commands": [
                {"argv": list(c.argv), "environment": {**environment, **c.environment}, "output": c.output}
                for c in commands
            ],
            "folder": str(folder),
            "dead_man_seconds": dead_man_seconds,
            "kill_grace_seconds": kill_grace_seconds,
        }
        path = folder / "warden.plan"
        path.write_bytes(marshal.dumps(plan))
        self._rest = b""
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", warden.__file__, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, sessions.MARK: self.mark},
            bufsize=0,
            process_group=0,  # a kill of the worker's whole group must leave the one that ends the program
        )

    def tell(self, line: str) -> None:
        """Send ``beat``, ``kill`` or ``stop SECONDS``; a warden that is gone is found out by reading."""
        assert self._process.stdin
        try:
            self._process.stdin.write(line.encode() + b"\n")
        except BrokenPipeError:
            return

    def listen(self, seconds: float) -> None:
        """Wait at most so long for what the warden says; ``why`` is set when it is over."""
        assert self._process.stdout
        descriptor = self._process.stdout.fileno()
        if not select.select([descriptor], [], [], seconds)[0]:
            if time.monotonic() - self.heard > self.silence_seconds:
                self._lost("warden_silent")
            return
        data = os.read(descriptor, 65536)
        if not data:
            self._lost("warden_lost")
            return
        self.heard = time.monotonic()
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._hear(line.decode().split())

    def _hear(self, words: list[str]) -> None:
        match words:
            case ["started", _, pid]:
                self.session = int(pid)
            case ["broken", _, number, *text]:
                self.broken, self.broken_errno = " ".join(text), int(number)
            case ["exited", _, code]:
                self.exits.append(Exit(code=int(code)))
            case ["ended", why]:
                self.why = why

    def _lost(self, why: str) -> None:
        """The warden is gone or frozen without a word: end it, and what it watched over."""
        self._process.kill()
        self._process.wait()
        if self.session:
            sessions.end_session(self.session, self.kill_grace_seconds)
        sessions.end_marked(self.mark)
        self.why = why

    def end(self) -> None:
        """End everything now, and wait until nothing is left."""
        self.tell("kill")
        while not self.why:
            self.listen(1.0)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()
