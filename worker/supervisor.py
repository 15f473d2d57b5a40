"""The supervisor: one attempt at one job, from the claim to the posted end; the same loop for every engine.

It runs in a pool child of Celery. It holds the lease, watches the program through the warden, copies checkpoints to the
workspace, obeys what the renewal answers, and posts how the attempt ended.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from tasks import jobs
from tasks import workspace as files
from tasks.errors import InputError, Unreachable
from tasks.faults import fault_point
from tasks.jobs import Claimed, Token
from tasks.records import JobRecord
from tasks.results import Correction, Failure, Outcome, Progress
from tasks.settings import Settings
from tasks.specs import canonical_json, dump_spec, parse_spec
from tasks.store import Store
from worker import ending, host_faults, orphans
from worker.attempt import OUTPUT, Attempt, Order, Verdict, last_lines, show_log, stage_checkpoint
from worker.children import read_children, wait_for_children
from worker.corrections import apply_correction
from worker.engines.base import Bench, Command, Engine
from worker.environment import engine_environment
from worker.proof import workspace_trouble
from worker.pulse import Pulse
from worker.running import note_of, note_running
from worker.staging import CheckpointStager, fetch_checkpoint, fetch_inputs
from worker.warded import WardedProgram

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Supervisor:
    """Carries out the offers of one worker.

    Parameters
    ----------
    worker
        The worker's id.
    find_engine
        Gives the engine for the name in a job's record.
    report
        Told of progress, for Celery's events.
    """

    settings: Settings
    store: Store
    worker: str
    find_engine: Callable[[str], Engine[Any]]
    report: Callable[[Progress], None] = lambda progress: None

    def run(self, job: str, task_id: str) -> tuple[Verdict, str]:
        """Carry out one offer; gives what became of it, and one line for people."""
        fault_point("before_claim")
        claimed = self._claim(job, task_id)
        if claimed.answer == "cancelled":
            return Verdict.CANCELLED, "cancelled before it started"
        if claimed.answer != "ok" or not claimed.token or not claimed.record:
            return Verdict.GONE, f"offer is void: {claimed.answer}"
        token, record = claimed.token, claimed.record
        fault_point("after_claim")
        log.info("attempt_claimed", job=job, attempt=token.attempt, worker=self.worker, engine=record.engine)
        scratch = f"{job}-{token.attempt}-{token.claim_id}"
        try:
            if found := self._found(token, claimed):
                return self._close(token, ending.succeed(self.store, self.settings, token, found))
            return self._attempt(token, record, scratch)
        except Unreachable as error:
            failure = Failure(error_class="cut_off", message=f"Not started: {error}.")
            return self._close(token, ending.give_back(self.store, self.settings, token, failure))
        except OSError as error:
            # Scratch and workspace are the host's: whatever they refuse is not held against the job.
            log.warning("host_fault", job=job, attempt=token.attempt, worker=self.worker, exc_info=True)
            failure = host_faults.of_error(error, started=(self.settings.scratch / scratch / OUTPUT).exists())
            return self._close(token, ending.fail(self.store, self.settings, token, failure, record))
        except (SystemExit, KeyboardInterrupt):
            failure = Failure(error_class="killed", message="Its worker's process was told to stop.")
            self._close(token, ending.give_back(self.store, self.settings, token, failure))
            raise
        except BaseException as error:
            # Our own mistake: it must neither hide nor leave the job to its lease.
            failure = Failure(error_class="internal", message=f"{type(error).__name__}: {error}")
            self._close(token, ending.fail(self.store, self.settings, token, failure, record))
            raise
        finally:
            orphans.disown(self.settings, scratch)

    def _claim(self, job: str, task_id: str) -> Claimed:
        """Claim an offer; the same claim is repeated while Redis is away and the offer may still stand."""
        claim_id = secrets.token_hex(4)
        deadline = time.monotonic() + self.settings.offer_seconds
        while True:
            try:
                return self.store.run(jobs.claim(job, self.worker, claim_id, task_id, self.settings))
            except Unreachable:
                if time.monotonic() > deadline:
                    return Claimed(answer="unreachable")
                time.sleep(self.settings.beat_seconds / 4)

    def _found(self, token: Token, claimed: Claimed) -> Outcome | None:
        """Find the outcome of an attempt that could not post it, in a workspace that is proven to be the right one."""
        if trouble := workspace_trouble(self.store, self.settings):
            raise OSError(trouble)
        found = ending.outcome_on_disk(self.settings.workspace, token.job, claimed.earlier)
        if found:
            log.info("outcome_found", job=token.job, attempt=found.attempt, adopted_by=token.attempt)
        return found

    def _attempt(self, token: Token, record: JobRecord, scratch_name: str) -> tuple[Verdict, str]:
        try:
            attempt = self._bench(token, record, scratch_name)
            commands = attempt.engine.prepare(attempt.bench)
        except InputError as error:
            failure = Failure(error_class="bad_input", message=str(error), permanent=True)
            return self._close(token, ending.fail(self.store, self.settings, token, failure, record))
        # Noted as running until the end is posted: a worker that is frozen here has no core to spare.
        with note_running(self.settings, self.worker, record):
            while True:
                program = self._compute(attempt, commands)
                if not attempt.order and (children := attempt.engine.children(attempt.bench)):
                    return self._close(token, wait_for_children(self.store, self.settings, attempt, children))
                end = ending.conclude(self.store, self.settings, attempt, program)
                if not isinstance(end, Correction):
                    return self._close(token, end)
                try:
                    commands = apply_correction(attempt, end)
                except InputError as error:
                    failure = Failure(error_class="bad_input", message=str(error), permanent=True)
                    return self._close(token, ending.fail(self.store, self.settings, token, failure, record))

    def _compute(self, attempt: Attempt, commands: Sequence[Command]) -> WardedProgram:
        """Run the commands to their end, whoever brings it about."""
        program = WardedProgram(
            commands,
            attempt.bench.scratch,
            engine_environment(),
            dead_man_seconds=self.settings.dead_man_seconds,
            kill_grace_seconds=self.settings.kill_grace_seconds,
        )
        attempt.pulse.program = program
        try:
            self._watch(attempt, program)
        finally:
            attempt.pulse.program = None
            program.end()
            attempt.computed = time.monotonic()
        return program

    def _bench(self, token: Token, record: JobRecord, scratch_name: str) -> Attempt:
        """Make the attempt's folders, exclusively, and lay out the checkpoint to go on from."""
        workspace = self.settings.workspace
        spec = parse_spec(record.spec)
        folder = files.attempt_folder(workspace, token.job, token.attempt, token.claim_id)
        folder.mkdir(parents=True, exist_ok=False)
        spec_file = folder.parent / "spec.json"
        if not spec_file.exists():
            files.write_file(spec_file, canonical_json(dump_spec(spec)) + "\n")
        scratch = orphans.own(self.settings, scratch_name, note_of(self.settings, self.worker, record))
        restart = scratch / "restart"
        pulse = Pulse(self.store, self.settings, token)
        pulse.corrections = record.corrections
        known = (record.checkpoint, record.checkpoint_before)
        inputs = scratch / "inputs"
        if spec.inputs:
            fetch_inputs(spec.inputs, workspace, inputs, pulse)
        started_from = fetch_checkpoint(known, workspace, restart, pulse)
        if started_from != record.checkpoint:
            pulse.fell_back_to = started_from or "scratch"
        newest = max((c.number for c in known if c), default=0)
        bench = Bench(
            spec=spec,
            scratch=scratch,
            cores=record.cores,
            memory_mb=record.memory_mb,
            restart=restart if started_from else None,
            inputs=inputs if spec.inputs else None,
            children=read_children(self.store, self.settings, record.parked_on) if record.parked_on else None,
            corrections=record.corrections,
            failures=record.failures,
        )
        return Attempt(
            pulse=pulse,
            record=record,
            engine=self.find_engine(record.engine),
            bench=bench,
            folder=folder,
            stager=CheckpointStager(workspace, folder, newest, pulse),
            started_from=started_from,
        )

    def _watch(self, attempt: Attempt, program: WardedProgram) -> None:
        """Hold the lease and look after the program until it is over."""
        settings, pulse = self.settings, attempt.pulse
        look_at = time.monotonic()
        copy_at = look_at + settings.checkpoint_interval_seconds
        grace = attempt.engine.stop_grace(attempt.bench.spec)
        limit = attempt.began + max(1.0, attempt.record.walltime_seconds - grace)
        pause = min(settings.beat_seconds, settings.progress_interval_seconds) / 2
        while not program.why:
            program.listen(pause)
            if program.why:
                return
            pulse()
            now = time.monotonic()
            if now >= look_at:
                look_at = now + settings.progress_interval_seconds
                self._look(attempt)
            if now >= copy_at:
                stage_checkpoint(attempt)
                show_log(attempt)
                copy_at = time.monotonic() + settings.checkpoint_interval_seconds
            self._obey(attempt, program, grace)
            if not attempt.order and now >= limit:
                self._order(attempt, program, Order.WALLTIME, grace)
            if not attempt.order and pulse.silent_seconds > settings.cut_off_grace_seconds:
                self._order(attempt, program, Order.CUT_OFF, grace)

    def _look(self, attempt: Attempt) -> None:
        attempt.pulse.last_lines = last_lines(attempt.bench.scratch / OUTPUT)
        progress = attempt.engine.progress(attempt.bench)
        if progress and progress != attempt.pulse.progress:
            attempt.pulse.progress = progress
            fault_point("running")
            if not attempt.pulse.cut_off:
                self.report(progress)

    def _obey(self, attempt: Attempt, program: WardedProgram, grace: float) -> None:
        """Do what the last renewal answered; being fenced is an order even while the program stops."""
        answer = attempt.pulse.answer
        if answer == "fenced" and attempt.order is not Order.FENCED:
            attempt.order = Order.FENCED
            program.tell("kill")
        elif answer == "cancel" and attempt.order not in (Order.CANCEL, Order.FENCED):
            attempt.order = Order.CANCEL
            program.tell("kill")
        elif answer == "yield" and not attempt.order:
            self._order(attempt, program, Order.PREEMPT, min(grace, self.settings.preempt_grace_seconds))

    @staticmethod
    def _order(attempt: Attempt, program: WardedProgram, order: Order, grace: float) -> None:
        """Have the program write a checkpoint and stop; the lease is renewed meanwhile."""
        log.info("attempt_stopping", job=attempt.token.job, attempt=attempt.token.attempt, why=order.value)
        attempt.order = order
        program.tell(f"stop {grace:g}")

    def _close(self, token: Token, end: tuple[Verdict, str]) -> tuple[Verdict, str]:
        log.info("attempt_ended", job=token.job, attempt=token.attempt, worker=self.worker, verdict=end[0], text=end[1])
        return end
