"""The protocol between processes of one installation: which versions may work on the same Redis.

A protocol is a number for the layout of the keys, the scripts, and the state of runs. The first process of an
installation keeps its own in Redis. Every worker and orchestrator joins at its start and with every beat: with the same
number it works, whatever its version; with a lower one it ends; with a higher one it carries the installation over to
it, once nobody with a lower one is alive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tasks import __version__
from tasks.errors import SimrelayError
from tasks.scripts import Call, Reply, call
from tasks.settings import Settings

#: goes up when a process of the version before would misread or damage what this one writes
PROTOCOL = 3
#: installations from before have no number in Redis
_FIRST_KEPT = 2


class OtherProtocol(SimrelayError):
    """Processes whose versions do not work together want the same installation."""

    exit_code = 9


@dataclass(frozen=True, kw_only=True)
class Member:
    """A process of an installation, as it joins."""

    kind: Literal["worker", "orchestrator"]
    id: str
    version: str = __version__
    protocol: int = PROTOCOL

    def __str__(self) -> str:
        return f"{self.kind} {self.id} is Simrelay {self.version} (protocol {self.protocol})"


def join(member: Member, settings: Settings) -> Call[None]:
    """Say that a process lives, and hear whether it may work here; repeated at every beat.

    Raises
    ------
    OtherProtocol
        If the installation is newer, or an older process of it is alive; both versions are named.
    """

    def read(reply: Reply) -> None:
        if reply.answer == "older":
            raise OtherProtocol(
                f"{member}, and this installation has been carried over to Simrelay"
                f" {reply.details['version']} (protocol {reply.details['protocol']}): install that version here"
            )
        if reply.answer == "held":
            others = [f"{name.replace(':', ' ', 1)} ({what}, protocol {n})" for name, what, n in reply.details["by"]]
            raise OtherProtocol(
                f"{member}, and older processes of this installation are alive: {', '.join(others)}. Stop them first;"
                f" one that was killed counts as alive for {settings.lease_seconds:g} s"
            )

    return _call(member, settings.lease_ms(), read)


def part(member: Member) -> Call[None]:
    """Say that a process leaves, so that it holds back no newer one."""
    return _call(member, 0, lambda reply: None)


def _call(member: Member, alive_ms: int, read: Callable[[Reply], None]) -> Call[None]:
    name = f"{member.kind}:{member.id}"
    return call("join", name, member.version, member.protocol, alive_ms, _FIRST_KEPT, read=read)
