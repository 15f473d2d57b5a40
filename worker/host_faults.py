"""Failures that are the host's and not the job's: broken or full disks, programs that this host cannot start."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from tasks.results import Failure
from worker.attempt import OUTPUT, Attempt
from worker.engines.output import evidence, tail
from worker.warded import WardedProgram

#: exit codes by which shells and the dynamic loader say that a program or library cannot be run or is not there
_NOT_STARTED = (126, 127)
#: less free space than this is none, in bytes
_NO_ROOM = 2**20
#: share of a scratch disk above which the job that holds it is itself to blame that it is full
_OWN_SHARE = 0.5


def of_error(error: OSError, *, started: bool) -> Failure:
    """Give what scratch or workspace refused; it is never held against the job."""
    return Failure(
        error_class="host",
        message=f"{error.strerror or error}: {error.filename or ''}".rstrip(": "),
        before_start=not started,
        host_fault=True,
        remedy="Look at this host's disks.",
    )


def blame(attempt: Attempt, program: WardedProgram, failure: Failure) -> Failure:
    """Give the failure that a host's fault explains instead of what the engine read from the output."""
    return _not_started(attempt, program) or _disk_full(attempt.bench.scratch, failure) or failure


def _not_started(attempt: Attempt, program: WardedProgram) -> Failure | None:
    """A program that was never there, or could not be loaded; one that has computed for a while is not meant."""
    lines: tuple[str, ...] = ()
    began = attempt.pulse.progress is not None or attempt.stager.newest is not None
    if program.broken and program.broken_errno != errno.E2BIG:
        message = program.broken
    elif len(program.exits) == 1 and program.exits[0].code in _NOT_STARTED and not began:
        lines = evidence(tail(attempt.bench.scratch / OUTPUT), 4)
        message = lines[-1] if lines else f"exit code {program.exits[0].code}, which says that it is not there"
    else:
        return None
    return Failure(
        error_class="not_started",
        message=f"The program could not be started on this host: {message}",
        evidence=lines,
        remedy="Install what is missing, or correct the program's declaration.",
        before_start=True,
    )


def _disk_full(scratch: Path, failure: Failure) -> Failure | None:
    """A full scratch disk, which also swallows what the program says of it; only who filled it himself is to blame."""
    if failure.error_class not in ("disk_full", "program_failed", "killed"):
        return None
    disk = os.statvfs(scratch)
    free = disk.f_bavail * disk.f_frsize
    if failure.error_class != "disk_full" and free >= _NO_ROOM and (not disk.f_files or disk.f_favail):
        return None
    own, total = _used(scratch), disk.f_blocks * disk.f_frsize
    message = (
        f"The scratch disk of this host is full: {free // 2**20} of {total // 2**20} MB are free,"
        f" and this job used {own // 2**20} MB."
    )
    return Failure(
        error_class="disk_full",
        message=message,
        evidence=failure.evidence,
        remedy="Make room in scratch, or set SIMRELAY_SCRATCH to a larger disk.",
        host_fault=own < total * _OWN_SHARE,
    )


def _used(folder: Path) -> int:
    """Give the bytes that a folder takes on its disk."""
    used = 0
    for path in folder.rglob("*"):
        try:
            used += path.lstat().st_blocks * 512
        except FileNotFoundError:
            continue
    return used
