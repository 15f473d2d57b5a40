"""The worker process: registers what this host offers, beats, reconciles, and has Celery carry out offers."""

from __future__ import annotations

import os
import platform
import secrets
import signal
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import structlog
from celery import Celery, Task, bootsteps, signals
from celery.exceptions import Ignore, Reject, Retry
from celery.worker import state as celery_state

from tasks import __version__, protocol, workers
from tasks.celery_app import BROKER_ERRORS, make_app, publisher, task_name
from tasks.errors import Unreachable
from tasks.programs import Licence, ProgramDeclaration
from tasks.protocol import Member, OtherProtocol
from tasks.reconcile import reconcile_once
from tasks.results import Progress
from tasks.settings import Settings
from tasks.store import Store, connect
from tasks.workers import Registration, celery_hostname, celery_queue
from worker.attempt import Verdict
from worker.control import take_over_revoke
from worker.engines.base import Engine, Offer
from worker.engines.registry import make_engine
from worker.orphans import sweep
from worker.proof import workspace_trouble
from worker.running import running
from worker.selftest import self_test
from worker.supervisor import Supervisor

log = structlog.get_logger()

#: states in which a worker ends by itself once it holds nothing
_LEAVING = ("draining", "stopping")


@dataclass(frozen=True, kw_only=True)
class Host:
    """What this worker may use of its host, and what the host offers."""

    name: str
    cores: int
    memory_mb: int
    offers: tuple[Offer, ...]
    programs: Mapping[str, ProgramDeclaration]
    tags: tuple[str, ...] = ()


class WorkerService:
    """One worker, from its registration to its leave; its id is new at every start (DESIGN, rule 9)."""

    def __init__(self, settings: Settings, host: Host) -> None:
        self.settings, self.host = settings, host
        self.id = f"{host.name}-{secrets.token_hex(4)}"
        self.app: Celery = make_app(settings)
        self.member = Member(kind="worker", id=self.id)
        self.state = "active"
        self.overtaken: OtherProtocol | None = None
        self._test_at = 0.0
        self._engines = {offer.engine: make_engine(offer, host.programs) for offer in host.offers}

    # Connections and the supervisor are made where they are first used: in the main process, and in each pool child.
    @cached_property
    def store(self) -> Store:
        """The store of this process."""
        return Store(connect(self.settings), self.settings, publisher(self.app))

    def find_engine(self, name: str) -> Engine[Any]:
        """Give the engine of that name; only jobs of registered queues are ever offered to this worker."""
        return self._engines[name]

    def registration(self) -> Registration:
        """Say what this worker offers."""
        declarations: dict[str, dict[str, Any]] = {}
        licences: dict[str, Licence | None] = {offer.engine: offer.licence for offer in self.host.offers}
        licences |= {f"program.{name}": declared.licence for name, declared in self.host.programs.items()}
        for offer in self.host.offers:
            if offer.engine != "program":
                declarations[offer.engine] = {"engine": offer.engine, "version": offer.version, "tasks": offer.tasks}
        for name, declaration in self.host.programs.items():
            values = declaration.registered().model_dump(mode="json", exclude_none=True)
            declarations[f"program.{name}"] = {"engine": "program", "program": name, "declaration": values}
        trouble = self.workspace_trouble()
        tagged = {f"{queue}@{tag}": what for queue, what in declarations.items() for tag in self.host.tags}
        declarations.update(tagged)
        return Registration(
            id=self.id,
            name=self.host.name,
            host=socket.gethostname(),
            pid=os.getpid(),
            boot_id=Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
            cores=self.host.cores,
            memory_mb=self.host.memory_mb,
            queues=tuple(sorted(declarations)),
            engines=tuple({"engine": o.engine, "version": o.version, "tasks": o.tasks} for o in self.host.offers),
            declarations=declarations,
            celery_queue=celery_queue(self.id),
            hostname=self.hostname,
            version=__version__,
            workspace_seen=trouble == "",
            trouble=trouble or "",
            licences={queue: held for queue in declarations if (held := licences[queue.partition("@")[0]])},
        )

    @property
    def hostname(self) -> str:
        """The worker's name in Celery and Flower."""
        return celery_hostname(self.id)

    def workspace_trouble(self) -> str | None:
        """Say why this host does not see the workspace (``worker.proof``)."""
        return workspace_trouble(self.store, self.settings)

    def register(self) -> None:
        """Register; jobs that there is room for are offered at once."""
        registration = self.registration()
        self.store.run(workers.register(registration, self.settings))
        log.info(
            "worker_registered",
            worker=self.id,
            queues=registration.queues,
            cores=self.host.cores,
            memory_mb=self.host.memory_mb,
            workspace_seen=registration.workspace_seen,
            trouble=registration.trouble,
        )

    def beat(self) -> None:
        """Say that this worker lives, and do a round of reconciling; never fails."""
        self.sweep()
        try:
            self.store.run(protocol.join(self.member, self.settings))
            runs, trouble = running(self.settings, self.id), self.workspace_trouble()
            heard = self.store.run(workers.beat(self.id, self.settings, running=runs, workspace_seen=trouble == ""))
            if heard.state == "unknown":
                self.register()
                self._stay_as_told()
            else:
                self._told(heard.state)
                if heard.state == "active" and trouble:
                    log.warning("worker_quarantined", worker=self.id, trouble=trouble)
                    self.store.run(workers.quarantine(self.id, trouble, self.settings))
                    self._told("quarantined")
            if self.state == "quarantined":
                self._test()
            if self.state in _LEAVING and not heard.held and not runs:
                log.info("worker_drained", worker=self.id)
                celery_state.should_stop = os.EX_OK
            reconcile_once(self.store, self.app, self.settings)
        except (Unreachable, *BROKER_ERRORS) as error:
            log.warning("beat_failed", worker=self.id, error=str(error))
        except OtherProtocol as error:  # it was frozen or cut off, and has been overtaken
            self.overtaken = error
            self._end_within_grace()
            celery_state.should_stop = error.exit_code

    def _told(self, state: str) -> None:
        if state != self.state:
            self._test_at = time.monotonic() + self.settings.quarantine_test_seconds
        self.state = state

    def _test(self) -> None:
        """Take work again once this host is able to start jobs."""
        if time.monotonic() < self._test_at:
            return
        self._test_at = time.monotonic() + self.settings.quarantine_test_seconds
        found = self.workspace_trouble() or self_test(self.settings, self._engines.values())
        log.warning("worker_quarantined", worker=self.id, trouble=found)
        if not found:
            self.store.run(workers.resume(self.id, self.settings))

    def _stay_as_told(self) -> None:
        """Drain on, or stay quarantined, although the registration that said so is gone."""
        match self.state:
            case "draining" | "stopping" as state:
                self.store.run(workers.leave(self.id, state, self.settings))
            case "quarantined":
                self.store.run(workers.quarantine(self.id, "was quarantined, and is tested again", self.settings))

    def stop(self) -> None:
        """Take no more work, give back what runs, and be gone within the grace whatever engines and disks do."""
        self._end_within_grace()
        self.leave("stopping")

    def _end_within_grace(self) -> None:
        def cut_short(*_: object) -> None:
            # Pool children end with their main process, wardens with theirs; what was held goes back with its lease.
            log.warning("stop_grace_is_over", worker=self.id)
            os._exit(os.EX_TEMPFAIL)

        signal.signal(signal.SIGALRM, cut_short)
        signal.setitimer(signal.ITIMER_REAL, self.settings.stop_grace_seconds)

    def sweep(self) -> None:
        """End and remove what dead processes of this installation left on this host, so that it counts no more."""
        try:
            sweep(self.settings)
        except OSError as error:
            log.warning("orphans_not_swept", worker=self.id, error=str(error))

    def leave(self, state: str) -> None:
        """Take no more work and give back what runs (stopping), or leave for good (gone)."""
        try:
            self.store.run(workers.leave(self.id, "stopping" if state == "stopping" else "gone", self.settings))
            if state == "gone":
                self.store.run(protocol.part(self.member))
        except (Unreachable, *BROKER_ERRORS) as error:
            log.warning("leave_failed", worker=self.id, error=str(error))

    def run(self) -> None:
        """Serve this worker's queue until told to stop.

        Raises
        ------
        OtherProtocol
            If this version does not fit the installation's, or no longer does.
        """
        try:
            self.store.run(protocol.join(self.member, self.settings))
        except Unreachable as error:  # Celery waits for it, and each beat joins again
            log.warning("redis_does_not_answer", worker=self.id, error=str(error))
        service = self

        def carry_out(task: Task, job: str) -> str:
            return service.carry_out(task, job)

        for offer in self.host.offers:
            for name in offer.tasks:
                self.app.task(carry_out, bind=True, name=task_name(offer.engine, name))

        class Beat(bootsteps.StartStopStep):
            """The heartbeat of the store, beside Celery's own."""

            requires = ("celery.worker.consumer.tasks:Tasks",)

            def start(self, consumer: Any) -> None:
                service.beat()
                self.timer = consumer.timer.call_repeatedly(service.settings.beat_seconds, service.beat)

            def stop(self, consumer: Any) -> None:
                self.timer.cancel()

        self.app.steps["consumer"].add(Beat)
        take_over_revoke(self.app, lambda: self.store)
        signals.worker_shutting_down.connect(lambda **_: self.stop(), weak=False)
        signals.worker_shutdown.connect(lambda **_: self.leave("gone"), weak=False)
        signals.worker_process_init.connect(lambda **_: self.__dict__.pop("store", None), weak=False)
        self.app.Worker(
            hostname=self.hostname,
            queues=[celery_queue(self.id)],
            concurrency=self.host.cores,
            pool_cls="prefork",
            task_events=True,
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=False,
            loglevel=self.settings.log_level,
            quiet=True,
        ).start()
        if self.overtaken:
            raise self.overtaken

    def carry_out(self, task: Task, job: str) -> str:
        """Carry out one offer, as the body of a Celery task; its end is told as Celery's events understand it."""

        def report(progress: Progress) -> None:
            try:
                fields = {"text": progress.text, "step": progress.step, "total": progress.total}
                # Not a task-… event: Flower would show its name as the state, and keep that when the task is revoked.
                task.send_event("job-progress", retry=False, **fields)
            except BROKER_ERRORS as error:
                log.debug("progress_not_sent", job=job, error=str(error))

        supervisor = Supervisor(
            settings=self.settings, store=self.store, worker=self.id, find_engine=self.find_engine, report=report
        )
        verdict, text = supervisor.run(job, task.request.id)
        match verdict:
            case Verdict.SUCCEEDED:
                return text
            case Verdict.REQUEUED:
                raise Retry(text)
            case Verdict.CANCELLED:
                task.send_event("task-revoked", terminated=True, signum="TERM", expired=False)
                raise Ignore
            case Verdict.GONE:
                raise Reject(text, requeue=False)
            case Verdict.FAILED | Verdict.FENCED:
                raise AttemptFailed(text)


class AttemptFailed(Exception):
    """The attempt failed for good; the text says why."""


def host_memory_mb() -> int:
    """Give the physical memory of this host in MB."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20


def host_cores() -> int:
    """Give the cores that this process may use."""
    return len(os.sched_getaffinity(0))


def host_name() -> str:
    """Give a short name of this host, fit for keys and Celery."""
    return platform.node().split(".")[0] or "host"
