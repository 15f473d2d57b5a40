"""Corrections: one module a failure, each with what to change and how often at most; and how one is applied.

An engine names its corrections in ``correct``; nothing here knows a program's files.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Sequence

import structlog

from tasks.results import Correction
from worker.attempt import OUTPUT, Attempt
from worker.engines.base import Command

log = structlog.get_logger()


def apply_correction(attempt: Attempt, correction: Correction) -> Sequence[Command]:
    """Record a correction, and give the commands with which the attempt goes on from its newest restart point.

    The output so far is kept under another name, so that nothing in it is taken for the new program's.

    Raises
    ------
    InputError
        If the engine cannot compute the spec with that correction.
    """
    bench = attempt.bench
    corrections = (*bench.corrections, correction)
    log.info("attempt_corrected", job=attempt.token.job, attempt=attempt.token.attempt, correction=correction.name)
    attempt.pulse.corrections = corrections
    attempt.pulse.renew()
    snapshot = attempt.engine.snapshot(bench)
    restart = bench.restart
    if snapshot:
        restart = bench.scratch / f"restart-{len(corrections)}"
        restart.mkdir()
        for file in snapshot.files:
            shutil.copyfile(file, restart / file.name)
    output = bench.scratch / OUTPUT
    if output.exists():
        output.rename(bench.scratch / f"output-{len(corrections)}.log")
    attempt.bench = dataclasses.replace(bench, corrections=corrections, restart=restart)
    return attempt.engine.prepare(attempt.bench)
