"""Keeping what a program left: results and outcome file of a success, log and reason of a failure.

A success waits for a workspace that cannot take it (full, read-only, away) instead of being computed again: the lease
is renewed meanwhile, and the job's progress says what is waited for.
"""

from __future__ import annotations

import time
from pathlib import Path

import structlog

from tasks import workspace as files
from tasks.faults import fault_point
from tasks.results import Artifact, Failure, Outcome, Progress
from tasks.settings import Settings
from tasks.workspace import OUTCOME_FILE
from worker.attempt import OUTPUT, Attempt
from worker.engines.base import Collected
from worker.staging import keep_results

log = structlog.get_logger()

#: longest pause between two tries to keep results, in seconds
_LONGEST_PAUSE = 30.0


class NotKept(Exception):
    """The results could not be kept before the attempt had to end; the message says what refused them."""


def keep_success(settings: Settings, attempt: Attempt) -> Outcome:
    """Keep the results and write the outcome file, however long the workspace takes to accept them.

    Raises
    ------
    NotKept
        If the lease was lost, the job cancelled, the worker stopped, or ``keep_results_seconds`` passed before.
    OSError
        If scratch itself cannot be read.
    """
    collected = attempt.engine.collect(attempt.bench)
    deadline = time.monotonic() + settings.keep_results_seconds
    pause = settings.beat_seconds / 2
    while True:
        try:
            return _keep_success(settings, attempt, collected)
        except OSError as error:
            for path in collected.files.values():
                files.hash_file(path, attempt.pulse)
            refused = f"{error.strerror or error}: {error.filename or attempt.folder}"
        log.warning("results_wait", job=attempt.token.job, attempt=attempt.token.attempt, error=refused)
        text = f"done; its results wait for the workspace ({refused})"
        attempt.pulse.progress = Progress(text=text, stage="finishing")
        attempt.pulse.renew()
        deadline = _wait(settings, attempt, pause, deadline, refused)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _wait(settings: Settings, attempt: Attempt, pause: float, deadline: float, refused: str) -> float:
    """Wait before the next try, with the lease renewed; gives until when to try: a worker that stops has less time."""
    until = time.monotonic() + pause
    while (now := time.monotonic()) < until:
        answer = attempt.pulse.answer
        if answer == "yield":
            deadline = min(deadline, attempt.stopping_since(now) + settings.preempt_grace_seconds)
        if answer in ("fenced", "cancel") or now > deadline:
            raise NotKept(refused)
        time.sleep(min(settings.beat_seconds / 4, until - now))
        attempt.pulse()
    return deadline


def _keep_success(settings: Settings, attempt: Attempt, collected: Collected) -> Outcome:
    artifacts = keep_results(collected.files, settings.workspace, attempt.folder, attempt.pulse)
    outcome = _outcome(attempt, artifacts).model_copy(update={"succeeded": True, "result": collected.result})
    fault_point("finishing")
    files.write_file(attempt.folder / OUTCOME_FILE, outcome.model_dump_json() + "\n")
    fault_point("outcome_written")
    return outcome


def keep_failure(settings: Settings, attempt: Attempt, failure: Failure) -> None:
    """Keep the program's output and why it failed; a disk that cannot take them does not change the end."""
    output: Path = attempt.bench.scratch / OUTPUT
    try:
        found = {"log": output} if output.exists() else {}
        artifacts = keep_results(found, settings.workspace, attempt.folder, attempt.pulse)
        outcome = _outcome(attempt, artifacts).model_copy(update={"failure": failure})
        files.write_file(attempt.folder / OUTCOME_FILE, outcome.model_dump_json() + "\n")
    except OSError as error:
        log.warning("failure_not_kept", job=attempt.token.job, attempt=attempt.token.attempt, error=str(error))


def _outcome(attempt: Attempt, artifacts: tuple[Artifact, ...]) -> Outcome:
    return Outcome(
        job_id=attempt.token.job,
        attempt=attempt.token.attempt,
        claim_id=attempt.token.claim_id,
        succeeded=False,
        artifacts=artifacts,
        corrections=attempt.bench.corrections,
        compute_seconds=attempt.computed_seconds,
    )
