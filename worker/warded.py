"""The pool child's end of a warden: starts it, beats, reads what it says."""

from __future__ import annotations

import marshal
import os
import select
import subprocess
import sys
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
    session
        Id of the engine's session; 0 until it has started.
    why
        Why it is over: ``done``, ``killed``, ``stopped``, ``terminated``, ``silence``, ``parent_gone``, or
        ``warden_lost``; empty while it runs.
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
        self.session = 0
        self.why = ""
        self.kill_grace_seconds = kill_grace_seconds
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
            bufsize=0,
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
            return
        data = os.read(descriptor, 65536)
        if not data:
            self._lost()
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._hear(line.decode().split())

    def _hear(self, words: list[str]) -> None:
        match words:
            case ["started", _, pid]:
                self.session = int(pid)
            case ["exited", _, code]:
                self.exits.append(Exit(code=int(code)))
            case ["ended", why]:
                self.why = why

    def _lost(self) -> None:
        """The warden is gone without a word: end what it watched over."""
        self._process.wait()
        if self.session:
            sessions.end_session(self.session, self.kill_grace_seconds)
        self.why = "warden_lost"

    def end(self) -> None:
        """End everything now, and wait until nothing is left."""
        self.tell("kill")
        while not self.why:
            self.listen(1.0)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()
