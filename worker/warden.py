"""The warden: one small process an attempt, between the pool child and the engine's session (standard library only).

It knows nothing of Redis. It runs the commands of one attempt one after the other, and ends their session with all
descendants when told, when its parent is gone (end of file on standard input), on SIGTERM, or when no heartbeat came in
time (the dead-man switch against a frozen parent).

    python -I -S worker/warden.py PLAN

PLAN is a file written by ``marshal`` (read by the same interpreter, and loaded with no import, since every job waits
for it): commands (argv, environment, output), folder, dead_man_seconds, kill_grace_seconds.
Lines on standard input: ``beat``; ``kill``; ``stop SECONDS`` (TERM to the program itself, which may take that long).
Lines on standard output: ``started COMMAND PID``, ``broken COMMAND ERRNO TEXT`` (it could not be started),
``exited COMMAND CODE``, ``alive``; ``ended WHY`` is the last.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import select
import signal
import sys
import time

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from worker.sessions import end_session, members

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


class Warden:
    """Runs the commands of a plan and watches over them."""

    def __init__(self, plan: dict[str, object]) -> None:
        self.plan = plan
        self.folder = str(plan["folder"])
        self.dead_man = float(str(plan["dead_man_seconds"]))
        self.grace = float(str(plan["kill_grace_seconds"]))
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.session = 0
        self.heard = self.said = time.monotonic()
        self.stop_deadline = 0.0
        self.why = ""
        self.line = b""
        self.wake, sender = os.pipe()
        os.set_blocking(sender, False)
        signal.set_wakeup_fd(sender, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._terminated)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)

    def _terminated(self, *_: object) -> None:
        self.why = self.why or "terminated"

    def run(self) -> None:
        """Run all commands until one does not exit with 0 or something ends the attempt."""
        self.libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        commands = self.plan["commands"]
        assert isinstance(commands, list)
        for number, command in enumerate(commands):
            code = self._command(number, command)
            if self.why or code != 0:
                break
        if self.session and members(self.session, os.getpid()):
            end_session(self.session, self.grace, os.getpid())
        say(f"ended {self.why or 'done'}")

    def _command(self, number: int, command: dict[str, object]) -> int:
        try:
            pid = self._spawn(command)
        except OSError as error:
            say(f"broken {number} {error.errno} {error.strerror}")
            say(f"exited {number} 127")
            return 127
        self.session = pid
        say(f"started {number} {pid}")
        code = self._watch(pid)
        say(f"exited {number} {code}")
        return code

    def _spawn(self, command: dict[str, object]) -> int:
        argv, environment = command["argv"], command["environment"]
        assert isinstance(argv, list)
        assert isinstance(environment, dict)
        ready, broken = os.pipe()
        output = os.open(
            os.path.join(self.folder, str(command["output"])),
            os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC,
            0o644,
        )
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                os.setsid()
                self.libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
                if os.getppid() != parent:
                    os._exit(126)
                signal.set_wakeup_fd(-1)
                for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE):
                    signal.signal(number, signal.SIG_DFL)
                os.chdir(self.folder)
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(output, 1)
                os.dup2(output, 2)
                os.execvpe(argv[0], argv, environment)
            except OSError as error:
                os.write(broken, f"{error.errno} {argv[0]}: {error.strerror}".encode())
            finally:
                os._exit(127)
        os.close(output)
        os.close(broken)
        said = os.read(ready, 4096).decode()
        os.close(ready)
        if said:
            os.waitpid(pid, 0)
            errno, _, text = said.partition(" ")
            raise OSError(int(errno), text)
        return pid

    def _watch(self, leader: int) -> int:
        """Wait for the program; give its exit code, or the signal that killed it as a negative number."""
        while True:
            code = self._collect(leader)
            if code is not None:
                return code
            if not self.why:
                self._listen()
                self._live()
            if not self.why and time.monotonic() - self.heard > self.dead_man:
                self.why = "silence"
            if self.stop_deadline and time.monotonic() > self.stop_deadline:
                self.why = "stopped"
            if self.why:
                end_session(leader, self.grace, 0)
                code = self._collect(leader)
                return code if code is not None else -signal.SIGKILL

    def _live(self) -> None:
        """Say now and then that this warden is not frozen."""
        if time.monotonic() - self.said >= self.dead_man / 4:
            self.said = time.monotonic()
            say("alive")

    def _collect(self, leader: int) -> int | None:
        """Collect ended children; give the leader's code if it is among them."""
        code = None
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return code
                if pid == leader:
                    code = os.waitstatus_to_exitcode(status)
        except ChildProcessError:
            return code if code is not None else 0

    def _listen(self) -> None:
        wait = max(0.0, min(self.dead_man / 4, 1.0))
        if self.stop_deadline:
            wait = max(0.0, min(wait, self.stop_deadline - time.monotonic()))
        ready, _, _ = select.select([0, self.wake], [], [], wait)
        if self.wake in ready:
            os.read(self.wake, 4096)
        if 0 not in ready:
            return
        data = os.read(0, 4096)
        if not data:
            self.why = "parent_gone"
            return
        self.heard = time.monotonic()
        *lines, self.line = (self.line + data).split(b"\n")
        for line in lines:
            word, _, rest = line.partition(b" ")
            if word == b"kill":
                self.why = "killed"
            elif word == b"stop" and not self.stop_deadline:
                self.stop_deadline = time.monotonic() + float(rest or b"0")
                os.kill(self.session, signal.SIGTERM)


def say(line: str) -> None:
    """Tell the parent; that it may be gone is found out by reading from it."""
    try:
        os.write(1, line.encode() + b"\n")
    except BrokenPipeError:
        return


def main() -> None:
    """Run the plan named on the command line."""
    with open(sys.argv[1], "rb") as file:
        plan = marshal.load(file)
    Warden(plan).run()
    os._exit(0)  # nothing is left to tidy up, and an interpreter takes longer to end than to be told


if __name__ == "__main__":
    main()
