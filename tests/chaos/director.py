"""The director: keeps the installation at work, strikes as the schedule says, and writes down what it did to whom."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from redis.exceptions import RedisError

from tasks.errors import Unreachable
from tests.chaos.load import Load, Reference
from tests.chaos.processes import Running, children, processes, running
from tests.chaos.schedule import Strike
from tests.chaos.world import World

#: a strike for which there is no candidate is tried again for so long
PATIENCE_SECONDS = 6.0
#: jobs that wait or run at any time
BACKLOG = 6


@dataclass(frozen=True, kw_only=True)
class Blow:
    """A strike that was carried out.

    Attributes
    ----------
    moment
        When, in seconds since 1970.
    attempts
        Job and number of every attempt that was hit.
    """

    strike: Strike
    pid: int
    moment: float
    attempts: tuple[tuple[str, int], ...]


@dataclass(kw_only=True)
class Director:
    """Runs one performance."""

    world: World
    load: Load
    strikes: Iterable[Strike]
    verbose: bool = False
    blows: list[Blow] = field(default_factory=list)
    skipped: list[Strike] = field(default_factory=list)
    #: processes that are stopped, and until when (monotonic)
    frozen: dict[int, float] = field(default_factory=dict)
    references: dict[str, Reference] = field(default_factory=dict)
    #: jobs that were seen computing twice at the same time, in two looks one after the other
    overlaps: Counter[str] = field(default_factory=Counter)
    _overlapped: set[str] = field(default_factory=set)
    _backlog_at: float = 0.0
    _people_at: float = 0.0

    def perform(self, seconds: float) -> None:
        """Strike and submit for so many seconds; then nothing is frozen any more."""
        began = time.monotonic()
        due: list[Strike] = []
        coming = iter(self.strikes)
        following = next(coming, None)
        while (elapsed := time.monotonic() - began) < seconds:
            while following and following.at <= elapsed:
                due.append(following)
                following = next(coming, None)
            for strike in list(due):
                if self._strike(strike):
                    due.remove(strike)
                elif elapsed - strike.at > PATIENCE_SECONDS:
                    due.remove(strike)
                    self.skipped.append(strike)
            if elapsed < seconds - 10:
                self._submit_more()
            self.step()
        for pid in list(self.frozen):
            self._thaw(pid)

    def step(self) -> None:
        """Do what is due: thaw, restart, submit, look for programs that run twice."""
        for pid, until in list(self.frozen.items()):
            if time.monotonic() > until:
                self._thaw(pid)
        self.world.tend()
        try:
            while self.load.waiting:
                self.load.waiting[0]()
                self.load.waiting.pop(0)
            self._let_people_look()
        except Unreachable:
            pass  # Redis is one of those that are struck; every call is repeated
        self._look_for_overlaps()
        time.sleep(0.1)

    def _let_people_look(self) -> None:
        if time.monotonic() > self._people_at and not self._redis_frozen:
            self._people_at = time.monotonic() + 1.0
            self.load.people_look()

    def _submit_more(self) -> None:
        if time.monotonic() < self._backlog_at or self.load.waiting or self._redis_frozen:
            return
        self._backlog_at = time.monotonic() + 0.5
        client, prefix = self.world.store.client, self.world.settings.key_prefix
        try:
            open_jobs = sum(int(client.zcard(f"{prefix}state:{state}")) for state in ("QUEUED", "RUNNING"))
        except RedisError:
            return
        if open_jobs < BACKLOG:
            with contextlib.suppress(Unreachable):
                self.load.more()

    @property
    def _redis_frozen(self) -> bool:
        assert self.world.server.process
        return self.world.server.process.pid in self.frozen

    # ---- strikes

    def _candidates(self, strike: Strike, attempts: list[Running]) -> list[tuple[int, list[Running]]]:
        """Give the processes that a strike may hit, with what they run."""
        workers = [service.process.pid for service in self.world.workers if service.alive]
        pools = {pid: children(pid) for pid in workers}
        match strike.target:
            case "worker":
                found = [(pid, [r for r in attempts if r.child in pools[pid]]) for pid in workers]
            case "pool child":
                found = [(c, [r for r in attempts if r.child == c]) for pid in workers for c in pools[pid]]
                found = [(c, hit) for c, hit in found if hit]
            case "warden":
                found = [(r.warden, [r]) for r in attempts]
            case "simulation":
                found = [(r.simulation, [r]) for r in attempts if r.simulation]
            case "orchestrator":
                found = [(s.process.pid, []) for s in self.world.orchestrators if s.alive]
            case "redis":
                redis = self.world.server.process
                found = [(redis.pid, [])] if redis and redis.poll() is None else []
        return [(pid, hit) for pid, hit in found if pid not in self.frozen]

    def _strike(self, strike: Strike) -> bool:
        candidates = self._candidates(strike, running(self.world.settings.scratch))
        if not candidates:
            return False
        pid, hit = candidates[int(strike.choice * len(candidates))]
        moment = time.time()
        try:
            os.kill(pid, getattr(signal, f"SIG{strike.blow}"))
        except ProcessLookupError:
            return False
        if strike.blow == "STOP":
            self.frozen[pid] = time.monotonic() + self.world.settings.lease_seconds + 1.5
        attempts = tuple((r.job, r.attempt) for r in hit)
        self.blows.append(Blow(strike=strike, pid=pid, moment=moment, attempts=attempts))
        if self.verbose:
            what = ", ".join(f"{job}/{n}" for job, n in attempts)
            print(f"{strike.at:7.1f} s  {strike.blow:<4} {strike.target:<12} {pid:>7} {what}", flush=True)
        return True

    def _thaw(self, pid: int) -> None:
        del self.frozen[pid]
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)

    # ---- watching

    def _look_for_overlaps(self) -> None:
        states = {pid: process.state for pid, process in processes().items()}
        seen: Counter[str] = Counter()
        for attempt in running(self.world.settings.scratch):
            if attempt.simulation and states.get(attempt.simulation, "Z") not in "TZ":
                seen[attempt.job] += 1
        twice = {job for job, count in seen.items() if count > 1}
        for job in twice & self._overlapped:
            self.overlaps[job] += 1
        self._overlapped = twice
