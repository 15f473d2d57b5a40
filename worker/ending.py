"""How an attempt ends: what became of its program, the outcome file, and the post that makes it count."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import structlog

from tasks import jobs
from tasks import workspace as files
from tasks.errors import Unreachable
from tasks.faults import fault_point
from tasks.jobs import Earlier, Ended, Token
from tasks.records import JobRecord, JobState
from tasks.results import Correction, Failure, Outcome
from tasks.scripts import Call
from tasks.settings import Settings
from tasks.store import Store
from worker import host_faults
from worker.attempt import Attempt, Order, Verdict, stage_checkpoint
from worker.keeping import NotKept, keep_failure, keep_success
from worker.retry import fault_delay_seconds, retry_delay_seconds
from worker.warded import WardedProgram

log = structlog.get_logger()
T = TypeVar("T")

#: ends that the warden or its parent brought about, and not the program: none is the job's fault
BLAMELESS = {
    "terminated": "its warden was told to stop",
    "silence": "its worker was frozen",
    "parent_gone": "its worker was gone",
    "warden_lost": "its warden was killed",
    "warden_silent": "its warden was frozen",
}


def outcome_on_disk(workspace: Path, job: str, earlier: Sequence[Earlier]) -> Outcome | None:
    """Find the success of an attempt that was closed as lost and never got to post it (DESIGN, rule 10)."""
    for attempt in reversed(earlier):
        if attempt.how == "lost":
            outcome = files.read_outcome(files.attempt_folder(workspace, job, attempt.attempt, attempt.claim_id))
            if outcome and outcome.succeeded and all(files.intact(file, workspace) for file in outcome.artifacts):
                return outcome
    return None


def post(store: Store, settings: Settings, what: Call[T]) -> T:
    """Run a script until Redis has answered; every script may be repeated."""
    while True:
        try:
            return store.run(what)
        except Unreachable:
            time.sleep(settings.beat_seconds)


def verdict(ended: Ended, word: str, text: str) -> tuple[Verdict, str]:
    """Give what became of an attempt whose end was posted."""
    if ended.answer not in ("ok", "same"):
        return Verdict.FENCED, f"{text}, but the lease was lost before it was posted"
    if ended.state is JobState.CANCELLED:
        return Verdict.CANCELLED, "cancelled"
    return Verdict(word), text


def succeed(store: Store, settings: Settings, token: Token, outcome: Outcome) -> tuple[Verdict, str]:
    """Post a success."""
    ended = post(store, settings, jobs.finish(token, JobState.SUCCEEDED, settings, outcome=outcome))
    return verdict(ended, "succeeded", "ended well")


def fail(store: Store, settings: Settings, token: Token, failure: Failure, record: JobRecord) -> tuple[Verdict, str]:
    """Post a failure: for good if the same input would fail again, else the job is tried again.

    It is tried again within its budget; a host's fault does not use that up.
    """
    text = f"{failure.error_class}: {failure.message}"
    if failure.permanent:
        end = jobs.finish(token, JobState.FAILED, settings, failure=failure)
    else:
        how: jobs.Requeue = "host" if failure.before_start or failure.host_fault else "failed"
        faults = how == "host"
        delay = (
            fault_delay_seconds(record.faults, settings) if faults else retry_delay_seconds(record.failures, settings)
        )
        end = jobs.requeue(token, how, settings, failure=failure, delay_seconds=delay)
    ended = post(store, settings, end)
    return verdict(ended, "failed" if ended.state is JobState.FAILED else "requeued", text)


def give_back(store: Store, settings: Settings, token: Token, failure: Failure) -> tuple[Verdict, str]:
    """Give a job back that was interrupted through no fault of its own; a pause keeps a broken host from spinning."""
    end = jobs.requeue(token, "preempted", settings, failure=failure, delay_seconds=settings.retry_delay_seconds)
    return verdict(post(store, settings, end), "requeued", failure.message)


def conclude(
    store: Store, settings: Settings, attempt: Attempt, program: WardedProgram
) -> tuple[Verdict, str] | Correction:
    """Judge what the program left, keep it, and post the end; or say with what correction the attempt goes on."""
    token = attempt.token
    attempt.pulse.phase = "finishing"
    if attempt.order in (Order.FENCED, Order.CANCEL):
        return _ordered(store, settings, attempt)
    if attempt.engine.ended_well(attempt.bench, program.exits):
        try:
            outcome = keep_success(settings, attempt)
        except NotKept as error:
            return _not_kept(store, settings, attempt, str(error))
        end = succeed(store, settings, token, outcome)
        fault_point("after_post")
        return end
    stage_checkpoint(attempt)
    if attempt.order in (Order.PREEMPT, Order.WALLTIME, Order.CUT_OFF):
        return _stopped(store, settings, attempt)
    if program.why in BLAMELESS:
        message = f"The program was ended before it was done: {BLAMELESS[program.why]}."
        failure = Failure(error_class="killed", message=message)
        keep_failure(settings, attempt, failure)
        return give_back(store, settings, token, failure)
    failure = host_faults.blame(attempt, program, attempt.engine.diagnose(attempt.bench, program.exits))
    its_own = not failure.before_start and not failure.host_fault
    if its_own and (correction := attempt.engine.correct(attempt.bench, failure)):
        return correction
    keep_failure(settings, attempt, failure)
    return fail(store, settings, token, failure, attempt.record)


def _ordered(store: Store, settings: Settings, attempt: Attempt) -> tuple[Verdict, str]:
    if attempt.order is Order.FENCED:
        return Verdict.FENCED, "the lease was given away; stopped"
    # What it had reached is kept: whoever cancels a calculation may still want to look at it.
    stage_checkpoint(attempt)
    keep_failure(settings, attempt, Failure(error_class="cancelled", message="It was cancelled while it ran."))
    ended = post(store, settings, jobs.finish(attempt.token, JobState.CANCELLED, settings))
    return verdict(ended, "cancelled", "cancelled while it ran")


def _not_kept(store: Store, settings: Settings, attempt: Attempt, refused: str) -> tuple[Verdict, str]:
    """End an attempt whose results the workspace did not take: they are lost, the job goes on from its checkpoint."""
    orders = {"fenced": Order.FENCED, "cancel": Order.CANCEL}
    if order := orders.get(attempt.pulse.answer):
        attempt.order = order
        return _ordered(store, settings, attempt)
    message = f"The results could not be kept: {refused}"
    failure = Failure(error_class="host", message=message, host_fault=True, remedy="Look at the workspace.")
    if attempt.pulse.answer == "yield":
        return give_back(store, settings, attempt.token, failure)
    return fail(store, settings, attempt.token, failure, attempt.record)


def _stopped(store: Store, settings: Settings, attempt: Attempt) -> tuple[Verdict, str]:
    """Give back a job whose program was told to stop; one that cannot get further within its walltime fails."""
    advanced = attempt.stager.newest is not None
    if attempt.order is Order.WALLTIME and not advanced:
        failure = Failure(
            error_class="walltime",
            message=f"Not done after {attempt.record.walltime_seconds} s, and no checkpoint was written to go on from.",
            remedy="Ask for more walltime or cores.",
            permanent=True,
        )
        keep_failure(settings, attempt, failure)
        return fail(store, settings, attempt.token, failure, attempt.record)
    how: jobs.Requeue = "walltime" if attempt.order is Order.WALLTIME else "preempted"
    ended = post(store, settings, jobs.requeue(attempt.token, how, settings))
    return verdict(ended, "requeued", f"stopped ({attempt.order.value}), goes on from its checkpoint")
