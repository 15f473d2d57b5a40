"""What an engine is: the adapter to one program, and the only place that knows its file formats.

An engine never starts a process, never talks to Redis and never touches the workspace. It writes inputs into scratch,
names the commands to run there, and reads what they leave.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from tasks.programs import Licence
from tasks.records import JobState
from tasks.results import AnyResult, Artifact, Correction, Failure, Progress
from tasks.specs import AnySpec
from worker.loading import loading_trouble

Spec = TypeVar("Spec", bound=AnySpec)
Change = TypeVar("Change", int, float, str, bool)


@dataclass(frozen=True, kw_only=True)
class Offer:
    """One engine of this host, as ``engines.toml`` holds it."""

    engine: str
    version: str
    #: the program with its fixed arguments
    command: tuple[str, ...]
    #: what it computes: ``single_point``, ``optimisation``, …
    tasks: tuple[str, ...] = ()
    #: variables to set for it
    environment: dict[str, str] = field(default_factory=dict)
    #: what limits how many of its jobs run at a time, on all workers together
    licence: Licence | None = None


@dataclass(frozen=True, kw_only=True)
class Bench(Generic[Spec]):
    """Where one attempt works.

    Attributes
    ----------
    scratch
        Its own folder on this node, empty at the start; commands run with it as their working directory.
    restart
        Folder with the files of the checkpoint to go on from, by their names in scratch; None: from the beginning.
    inputs
        Folder with the files that the spec names as ``inputs``, under those names.
    children
        What became of the jobs that the job waited for last, in their order; None: it has not waited yet.
    corrections
        What was changed after failures of this and earlier attempts, in that order.
    """

    spec: Spec
    scratch: Path
    cores: int
    memory_mb: int
    restart: Path | None = None
    inputs: Path | None = None
    children: Sequence[Child] | None = None
    corrections: tuple[Correction, ...] = ()

    def changed(self, name: str, default: Change) -> Change:
        """Give a setting as the newest correction of it left it, else the default."""
        for correction in reversed(self.corrections):
            if name in correction.changes:
                return type(default)(correction.changes[name])
        return default


@dataclass(frozen=True, kw_only=True)
class Child:
    """What became of one job that another one waited for."""

    job_id: str
    spec: AnySpec
    state: JobState
    result: AnyResult | None
    failure: Failure | None
    artifacts: tuple[Artifact, ...]


@dataclass(frozen=True, kw_only=True)
class Children:
    """Jobs that a job needs before it can go on; its program has ended, and its restart point says what it waits for.

    The same ``name`` means the same jobs: after a crash those that were submitted first are waited for.
    """

    name: str
    specs: tuple[AnySpec, ...]


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command of an attempt; several are run one after the other until one of them does not exit with 0."""

    argv: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    #: file in scratch that standard output and standard error are appended to
    output: str = "output.log"


@dataclass(frozen=True, kw_only=True)
class Exit:
    """How a command ended: its exit code, or the signal that killed it as a negative number."""

    code: int


@dataclass(frozen=True, kw_only=True)
class Collected:
    """What came out: values for the record, and the files in scratch to keep, by role (``geometry``, ``log``, …)."""

    result: AnyResult
    files: dict[str, Path] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A restart point in scratch: complete files (never one that is being written), and what it holds."""

    files: tuple[Path, ...]
    text: str


class Engine(ABC, Generic[Spec]):
    """The adapter to one program."""

    name: ClassVar[str]
    #: what has to be installed for it, for people
    needs: ClassVar[str] = "its program"
    #: seconds that a program needs to write a checkpoint and stop after SIGTERM
    stop_grace_seconds: ClassVar[float] = 30.0

    def __init__(self, offer: Offer) -> None:
        self.offer = offer

    @classmethod
    @abstractmethod
    def detect(cls) -> Offer | None:
        """Find this engine on this host; None if it is not there."""

    def trouble(self) -> str:
        """Say why its program cannot be started on this host now, which is tried; empty: it can."""
        command = self.offer.command
        return loading_trouble(command[0]) if command else ""

    def stop_grace(self, spec: Spec) -> float:
        """Give the seconds that the program of ``spec`` needs to write a checkpoint and stop after SIGTERM."""
        return self.stop_grace_seconds

    @abstractmethod
    def prepare(self, bench: Bench[Spec]) -> Sequence[Command]:
        """Write the inputs into scratch and give the commands; go on from ``bench.restart`` if there is one.

        Raises
        ------
        InputError
            If the spec cannot be computed by this engine; the job then fails for good.
        """

    @abstractmethod
    def progress(self, bench: Bench[Spec]) -> Progress | None:
        """Read how far the program is; cheap, called about once a second."""

    @abstractmethod
    def snapshot(self, bench: Bench[Spec]) -> Snapshot | None:
        """Name the files of the newest complete restart point; None if there is none yet."""

    @abstractmethod
    def ended_well(self, bench: Bench[Spec], exits: Sequence[Exit]) -> bool:
        """Tell whether the program reached its goal: by its positive mark in the output, never by exit codes alone."""

    def children(self, bench: Bench[Spec]) -> Children | None:
        """Give the jobs that the job has to wait for, if its program has ended for their sake; asked first."""
        return None

    def correct(self, bench: Bench[Spec], failure: Failure) -> Correction | None:
        """Say what to change so that the attempt can go on after a failure; None: nothing that is known to help.

        ``bench.corrections`` tells what was tried. The commands are prepared anew, to go on from the newest restart
        point with the correction added.
        """
        return None

    @abstractmethod
    def diagnose(self, bench: Bench[Spec], exits: Sequence[Exit]) -> Failure:
        """Say what failed, with the decisive lines of the output."""

    @abstractmethod
    def collect(self, bench: Bench[Spec]) -> Collected:
        """Read what came out of a program that ended well."""
