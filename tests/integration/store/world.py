"""A small world around the store: workers, batches and claims in one line each, and time that passes when told.

Leases end by the server's clock, so no test sleeps: what has to be over is given a past moment in its sorted set
(``lapse_*``), and ``expire`` is called as if somebody else had called it a moment ago, so that it takes at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from tasks import batches, expiry, jobs, listing, runs, workers
from tasks.batches import NewJob, Owner
from tasks.expiry import Expired
from tasks.jobs import Claimed, Ended, Token
from tasks.programs import Licence
from tasks.records import BatchRecord, JobRecord, JobState, RunRecord
from tasks.results import Artifact, Checkpoint, Failure, Outcome
from tasks.runs import Held
from tasks.scripts import Offered
from tasks.settings import Settings
from tasks.specs import ProgramSpec, Resources
from tasks.store import Store, connect
from tasks.workers import Registration

QUEUE = "program.echo"
ADA, BOB = Owner(owner="ada"), Owner(owner="bob")
FAILURE = Failure(error_class="program_failed", message="it failed")


def new_job(
    job: str, *, cores: int = 1, memory_mb: int = 100, priority: int = 5, tag: str = "", program: str = "echo"
) -> NewJob:
    """Make a job of a declared program."""
    spec = ProgramSpec(program=program, tag=tag, resources=Resources(cores=cores, memory_mb=memory_mb))
    return NewJob(id=job, spec=spec, priority=priority)


def checkpoint(number: int) -> Checkpoint:
    """Make a restart point of that number."""
    return Checkpoint(number=number, files=(Artifact(path=f"c{number}", size_bytes=1, sha256="00"),))


class World:
    """One installation: its store, the offers that were published, and shorthands for what happens in it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.store = Store(connect(settings), settings, self._publish)
        self.redis = self.store.client
        #: newest offer of each job, as its message would say it
        self.offers: dict[str, Offered] = {}
        #: jobs in the order in which they were offered
        self.published: list[str] = []
        self._numbers = itertools.count(1)

    def _publish(self, offers: tuple[Offered, ...]) -> None:
        for offer in offers:
            self.offers[offer.job] = offer
            self.published.append(offer.job)

    def key(self, name: str) -> str:
        """Give the whole name of a key."""
        return self.settings.key_prefix + name

    def now_ms(self) -> int:
        """Read the server's clock."""
        seconds, micro = self.redis.time()
        return seconds * 1000 + micro // 1000

    # ---- workers

    def worker(
        self,
        worker: str,
        *,
        host: str = "",
        cores: int = 1,
        memory_mb: int = 10_000,
        queues: tuple[str, ...] = (QUEUE,),
        workspace_seen: bool = True,
        licences: Mapping[str, Licence] = {},
    ) -> str:
        """Register a worker, on a host of its own unless named."""
        what = Registration(
            id=worker,
            name=worker,
            host=host or f"host-of-{worker}",
            pid=1,
            boot_id="boot",
            cores=cores,
            memory_mb=memory_mb,
            queues=queues,
            engines=(),
            declarations={queue: {"engine": "program"} for queue in queues},
            celery_queue=f"worker.{worker}",
            hostname=f"simrelay@{worker}",
            version="0",
            workspace_seen=workspace_seen,
            licences=licences,
        )
        assert self.store.run(workers.register(what, self.settings)) == "ok"
        return worker

    # ---- batches

    def open(
        self, batch: str, count: int, owner: Owner = ADA, *, manifest_hash: str = "hash", manifest: str = ""
    ) -> batches.Opened:
        """Open a batch."""
        call = batches.open_batch(batch, owner, count=count, manifest_hash=manifest_hash, manifest=manifest)
        return self.store.run(call)

    def fill(self, batch: str, rows: Sequence[NewJob], owner: Owner = ADA, *, first_index: int = 0) -> int:
        """Submit jobs into a batch; gives how many were new."""
        return self.store.run(batches.submit(batch, owner, rows, self.settings, first_index=first_index))

    def seal(self, batch: str, owner: Owner = ADA) -> None:
        """Seal a batch."""
        self.store.run(batches.seal(batch, owner))

    def submit(self, *rows: str | NewJob, owner: Owner = ADA, batch: str = "") -> str:
        """Submit jobs as one sealed batch; gives its id."""
        made = [new_job(row) if isinstance(row, str) else row for row in rows]
        batch = batch or f"batch-of-{made[0].id}"
        self.open(batch, len(made), owner)
        self.fill(batch, made, owner)
        self.seal(batch, owner)
        return batch

    def batch(self, batch: str) -> BatchRecord:
        """Read a batch."""
        record = self.store.run(listing.batch(batch))
        assert record is not None
        return record

    def cancel_batch(self, batch: str) -> str:
        """Cancel a batch as a whole."""
        return self.store.run(batches.cancel_batch(batch))

    def sweep(self, most: int = 500) -> batches.Swept:
        """Sweep cancelled batches."""
        return self.store.run(batches.sweep(self.settings, most))

    # ---- jobs

    def job(self, job: str) -> JobRecord:
        """Read a job."""
        record = self.store.run(listing.job(job))
        assert record is not None
        return record

    def state(self, job: str) -> JobState:
        """Read a job's state."""
        return self.job(job).state

    def claim(self, job: str, *, claim_id: str = "", worker: str = "", task_id: str = "") -> Claimed:
        """Let the message of a job's newest offer reach its worker."""
        offer = self.offers[job]
        claim_id = claim_id or f"claim-{next(self._numbers)}"
        call = jobs.claim(job, worker or offer.worker, claim_id, task_id or offer.task_id, self.settings)
        return self.store.run(call)

    def start(self, job: str) -> Token:
        """Claim a job that was offered; gives the token of its new attempt."""
        claimed = self.claim(job)
        assert claimed.answer == "ok"
        assert claimed.token is not None
        return claimed.token

    def renew(self, token: Token, *, number: int | None = None) -> str:
        """Send an attempt's heartbeat, with a checkpoint of that number."""
        newest = None if number is None else checkpoint(number)
        return self.store.run(jobs.renew(token, self.settings, checkpoint=newest))

    def succeed(self, token: Token, *, of: Token | None = None) -> Ended:
        """Post a success: the attempt's own, or one of an earlier attempt that was found on disk."""
        of = of or token
        path = f"attempt-{of.attempt}-{of.claim_id}/result"
        outcome = Outcome(
            job_id=of.job,
            attempt=of.attempt,
            claim_id=of.claim_id,
            succeeded=True,
            artifacts=(Artifact(path=path, size_bytes=1, sha256="00"),),
        )
        return self.store.run(jobs.finish(token, JobState.SUCCEEDED, self.settings, outcome=outcome))

    def end(self, token: Token, state: JobState) -> Ended:
        """Post that an attempt ended for good as FAILED or CANCELLED."""
        failure = FAILURE if state is JobState.FAILED else None
        return self.store.run(jobs.finish(token, state, self.settings, failure=failure))

    def give_back(self, token: Token, how: jobs.Requeue = "failed", *, delay_seconds: float = 0) -> Ended:
        """Requeue an attempt."""
        failure = FAILURE if how == "failed" else None
        return self.store.run(jobs.requeue(token, how, self.settings, failure=failure, delay_seconds=delay_seconds))

    def park(self, token: Token, batch: str) -> Ended:
        """Park an attempt on a batch of its children."""
        return self.store.run(jobs.park(token, batch, self.settings))

    def cancel(self, job: str) -> Ended:
        """Cancel a job."""
        return self.store.run(jobs.cancel(job, self.settings))

    def hold(self, job: str) -> Ended:
        """Hold a job."""
        return self.store.run(jobs.hold(job, self.settings))

    def unhold(self, job: str) -> Ended:
        """Let a held job go."""
        return self.store.run(jobs.unhold(job, self.settings))

    def admit(self) -> None:
        """Offer what there is room for."""
        self.store.run(jobs.admit(self.settings))

    def parent(self, token: Token) -> Owner:
        """Give the owner that a running attempt is for its children's batches."""
        return Owner(owner="ada", parent_job=token.job, parent_attempt=token.attempt, parent_claim=token.claim_id)

    # ---- runs

    def run(self, run: str = "run", *, owner: str = "ada") -> Held:
        """Create a run and claim it."""
        self.store.run(runs.create(run, owner, f"request of {run}"))
        return self.take(run)

    def take(self, run: str = "", *, by: str = "orchestrator") -> Held:
        """Claim the next run, which has to be the one named."""
        held = self.store.run(runs.claim(by, self.settings))
        assert held is not None
        assert run in ("", held.id)
        return held

    def run_record(self, run: str = "run") -> RunRecord:
        """Read a run."""
        record = self.store.run(listing.run(run))
        assert record is not None
        return record

    def run_owner(self, held: Held) -> Owner:
        """Give the owner that a held run is for its batches."""
        return Owner(owner="ada", run=held.id, epoch=held.epoch)

    # ---- time

    def _devise(self, *command: str | int) -> object:
        """Run a command of a test even when Redis is out of memory."""
        text = "#!lua flags=allow-oom\nreturn redis.call(unpack(ARGV))"
        return self.redis.eval(text, 0, *command)

    def _past(self, name: str, member: str) -> None:
        assert self._devise("ZADD", self.key(name), "XX", "CH", self.now_ms() - 1, member) == 1

    def lapse(self, job: str) -> None:
        """Let a job's lease be over."""
        self._past("leased", job)

    def lapse_offer(self, job: str) -> None:
        """Let a job's offer be over."""
        self._past("offered", job)

    def lapse_delay(self, job: str) -> None:
        """Let the wait of a delayed job be over."""
        self._past("delayed", job)

    def lapse_worker(self, worker: str) -> None:
        """Let a worker's heartbeat be overdue."""
        self._past("workers", worker)

    def lapse_run(self, run: str) -> None:
        """Let the lease of a run be over."""
        self._past("runs:leased", run)

    def expire(self) -> Expired:
        """Call ``expire`` as if it had been called a moment ago as well."""
        self._devise("DEL", self.key("expire:guard"))
        self._devise("SET", self.key("expire:last"), self.now_ms())
        return self.store.run(expiry.expire(self.settings))

    def lose(self, job: str) -> None:
        """Let a job's lease be over and taken back."""
        self.lapse(job)
        assert job in [row.job for row in self.expire().lost]

    def forget_losses(self) -> None:
        """Let the last losses on every host be longer ago than one lease."""
        for key in self.redis.scan_iter(self.key("lost:*")):
            self.redis.delete(key)
