"""The verdict: what the store, the processes and the folders say after everything has settled."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from tasks import events, listing, memory
from tasks.memory import EpisodeStatus
from tasks.records import AttemptRecord, JobRecord, JobState, RunState
from tasks.results import EvaluationResult, ProgramResult, QuantumResult
from tasks.specs import canonical_json
from tests.chaos.director import Blow, Director
from tests.chaos.load import Reference, difference
from tests.chaos.processes import belonging
from tests.chaos.schedule import BLOWS, TARGETS
from tests.integration.store.invariants import Dump, check

#: how often what was struck took longer than this to be claimed again is shown, in seconds after the lease
PROMISED_AFTER_LEASE = 5.0


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """How long it took until an attempt that was struck was followed by the next one.

    Attributes
    ----------
    outage
        Whether Redis was struck meanwhile, or less than a lease before: nothing is taken back then for one lease.
    """

    blow: Blow
    seconds: float
    outage: bool


@dataclass(kw_only=True)
class Verdict:
    """Violations by kind, and what was measured."""

    violations: dict[str, list[str]] = field(default_factory=dict)
    jobs: dict[str, JobRecord] = field(default_factory=dict)
    attempts: dict[str, tuple[AttemptRecord, ...]] = field(default_factory=dict)
    recoveries: list[Recovery] = field(default_factory=list)
    lost_seconds: list[float] = field(default_factory=list)

    def add(self, kind: str, text: str) -> None:
        """Note a violation."""
        self.violations.setdefault(kind, []).append(text)

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(len(texts) for texts in self.violations.values())


KINDS = (
    "lost", "duplicated", "overlapping", "stuck", "wrong result", "done again", "untrue attempt", "orphan", "leftover",
    "untrue event", "invariant",
)  # fmt: skip


def _everything(director: Director) -> tuple[dict[str, JobRecord], dict[str, tuple[AttemptRecord, ...]]]:
    store = director.world.store
    jobs: dict[str, JobRecord] = {}
    cursor = ""
    while True:
        page = store.run(listing.jobs(cursor=cursor, count=200))
        jobs.update({record.id: record for record in page.rows})
        cursor = page.cursor
        if not cursor:
            return jobs, {id_: store.run(listing.attempts(id_)) for id_ in jobs}


def judge(director: Director) -> Verdict:
    """Judge what the store holds; services may still run."""
    verdict = Verdict()
    verdict.jobs, verdict.attempts = _everything(director)
    for id_, name in director.load.jobs.items():
        record = verdict.jobs.get(id_)
        if record is None:
            verdict.add("lost", f"{id_}: there is no record")
        elif record.state is JobState.SUCCEEDED and (off := difference(name, record.result, director.references)):
            verdict.add("wrong result", f"{id_}: {off}")
        elif off := _cycles_again(record, verdict.attempts[id_], director.references.get(str(name))):
            verdict.add("done again", f"{id_}: {off}")
    _judge_swarms(verdict)
    for record in verdict.jobs.values():
        _judge_job(verdict, record, director)
    _judge_runs(verdict, director)
    for job, times in director.overlaps.items():
        verdict.add("overlapping", f"{job}: two programs at the same time, in {times} looks")
    _judge_store(verdict, director)
    _measure(verdict, director)
    return verdict


def _cycles_again(record: JobRecord, attempts: Sequence[AttemptRecord], reference: Reference | None) -> str:
    """Say how many SCF cycles an attempt needed that went on from a restart point, if that was no gain."""
    result = record.result
    if not isinstance(result, QuantumResult) or not isinstance(reference, QuantumResult):
        return ""
    went_on = next((attempt.checkpoint_from for attempt in attempts if attempt.how == "done"), None)
    if not went_on or not result.scf_cycles or not reference.scf_cycles or result.scf_cycles < reference.scf_cycles:
        return ""
    return f"{result.scf_cycles} SCF cycles after a restart {went_on.text}, {reference.scf_cycles} from the beginning"


def _judge_swarms(verdict: Verdict) -> None:
    evaluated: dict[str, Counter[str]] = {}
    for record in verdict.jobs.values():
        if isinstance(record.result, EvaluationResult):
            swarm = evaluated.setdefault(record.id.partition(".")[0], Counter())
            swarm.update(one.smiles for one in record.result.molecules)
    for parent, molecules in evaluated.items():
        if twice := sorted(smiles for smiles, times in molecules.items() if times > 1):
            verdict.add("done again", f"{parent}: evaluated twice: {', '.join(twice)}")


def _judge_job(verdict: Verdict, record: JobRecord, director: Director) -> None:
    attempts = verdict.attempts[record.id]
    if not record.state.ended:
        verdict.add(
            "stuck", f"{record.id}: {record.state} ({record.place or 'nowhere'}) after {len(attempts)} attempts"
        )
    elif record.state is not JobState.SUCCEEDED and not _was_late(record, director):
        why = record.failure.message if record.failure else ""
        verdict.add("lost", f"{record.id}: {record.state} {why}")
    if record.run and isinstance(record.result, ProgramResult) and record.spec["program"] == "countdown":
        steps = int(record.spec["parameters"]["steps"])
        if off := difference(steps, record.result, {}):
            verdict.add("wrong result", f"{record.id}: {off}")
    if [a.attempt for a in attempts] != list(range(1, record.attempt + 1)):
        verdict.add("untrue attempt", f"{record.id}: attempts {[a.attempt for a in attempts]} of {record.attempt}")
    if sum(a.how == "done" for a in attempts) > 1:
        verdict.add("duplicated", f"{record.id}: ended well more than once")
    for before, after in pairwise(attempts):
        if not before.ended or not after.started or before.ended > after.started:
            verdict.add("overlapping", f"{record.id}: attempt {after.attempt} began before {before.attempt} was closed")
    struck = sum(
        (record.id, a.attempt) in blow.attempts
        for a in attempts
        for blow in director.blows
        if blow.strike.target == "simulation" and blow.strike.blow != "STOP"
    )
    failed = [a for a in attempts if a.how == "failed"]
    if len(failed) > struck or record.failures != len(failed):
        why = "; ".join(f"{a.attempt}: {a.failure.error_class}: {a.failure.message}" for a in failed if a.failure)
        text = f"blamed for {len(failed)} ({record.failures} counted), its program was struck {struck} times: {why}"
        verdict.add("untrue attempt", f"{record.id}: {text}")


def _was_late(record: JobRecord, director: Director) -> bool:
    """Tell whether a job had to fail: it was given too little walltime, and is to be recovered."""
    reached = record.failure is not None and record.failure.error_class == "walltime"
    return record.run in director.load.late and not record.retry_of and reached


def _judge_runs(verdict: Verdict, director: Director) -> None:
    for id_, answer in director.load.runs.items():
        run = director.world.store.run(listing.run(id_))
        if run is None:
            verdict.add("lost", f"{id_}: there is no record")
        elif not run.state.ended:
            verdict.add("stuck", f"{id_}: {run.state}")
        elif run.state is not RunState.SUCCEEDED:
            verdict.add("lost", f"{id_}: {run.state} {run.error}")
        elif run.answer != answer:
            verdict.add("wrong result", f"{id_}: {run.answer}, not {answer}")
        else:
            _judge_batches(verdict, id_, director)
            _judge_events(verdict, id_, director)
    _judge_people(verdict, director)
    _judge_recoveries(verdict, director)


def _judge_batches(verdict: Verdict, run: str, director: Director) -> None:
    rows = director.world.store.run(listing.batches(run=run, count=100)).rows
    found = {batch.id: (batch.succeeded, batch.count) for batch in rows}
    expected = director.load.batches[run]
    if missing := sorted(expected.keys() - found.keys()):
        verdict.add("lost", f"{run}: batches {', '.join(missing)}")
    if more := sorted(found.keys() - expected.keys()):
        verdict.add("done again", f"{run}: batches {', '.join(more)}")
    for batch in found.keys() & expected.keys():
        if found[batch] != expected[batch]:
            verdict.add("wrong result", f"{batch}: {found[batch]} succeeded and made, not {expected[batch]}")


def _judge_events(verdict: Verdict, run: str, director: Director) -> None:
    """Judge what was told of a run: numbered without a gap, each gate and step once, and its end once and last."""
    told = director.world.store.run(events.page(run, count=events.MOST_EVENTS)).events
    if [event.number for event in told] != list(range(1, len(told) + 1)):
        verdict.add("untrue event", f"{run}: numbers {[event.number for event in told]}")
    if [event.kind for event in told].count("done") != 1 or told[-1].kind != "done":
        verdict.add("untrue event", f"{run}: ended with {[event.kind for event in told[-3:]]}")
    once = Counter(
        (event.kind, canonical_json(event.data)) for event in told if event.kind in ("approval", "action", "agent_end")
    )
    for (kind, data), times in once.items():
        if times > 1:
            verdict.add("untrue event", f"{run}: {kind} told {times} times: {data[:100]}")


def _judge_people(verdict: Verdict, director: Director) -> None:
    expected = {("plan", "approve"): 2, ("review", "revise"): 1, ("review", "approve"): 1}
    for run in director.load.looped:
        decided = Counter(said for (of, _), said in director.load.person.decided.items() if of == run)
        if decided != expected:
            verdict.add("wrong result", f"{run}: the person decided {dict(decided)}, not {expected}")


def _judge_recoveries(verdict: Verdict, director: Director) -> None:
    """Judge the memory: each failure that was recovered is one episode, with its verdict."""
    for run in director.load.late:
        rows = director.world.store.run(memory.episodes(run=run)).rows
        if [(row.action, row.status) for row in rows] != [("more_resources", EpisodeStatus.VERIFIED_SUCCESS)]:
            verdict.add("wrong result", f"{run}: episodes {[(row.action, row.status.value) for row in rows]}")


def _judge_store(verdict: Verdict, director: Director) -> None:
    dump = Dump(director.world.store.client, director.world.settings.key_prefix)
    try:
        check(dump)
    except AssertionError as error:
        verdict.add("invariant", str(error).splitlines()[0])
    for name in ("ready", "delayed", "offered", "leased", "runs:leased", "runs:ready", "sweep"):
        for member in dump.members(name):
            verdict.add("leftover", f"{name}: {member}")
    for key in dump.keys("worker:"):
        if key.endswith(":held") and dump.hash(key):
            verdict.add("leftover", f"{key}: {', '.join(dump.hash(key))}")
    for batch, row in dump.records("batch").items():
        if int(row["succeeded"]) + int(row["failed"]) + int(row["cancelled"]) > int(row["count"]):
            verdict.add("duplicated", f"batch {batch} counts more than its {row['count']} jobs")


def judge_host(verdict: Verdict, director: Director, unstopped: list[str]) -> None:
    """Judge what is left on the host after all services were told to stop."""
    world = director.world
    for name in unstopped:
        verdict.add("stuck", f"{name} did not stop when it was told to")
    redis = world.server.process
    for process in belonging(world.settings.home):
        if not redis or process.pid != redis.pid:
            verdict.add("orphan", f"{process.pid} ({process.state}): {' '.join(process.command)[:160]}")
    for left in sorted(world.settings.scratch.glob("*-*")):
        verdict.add("leftover", f"scratch of an attempt: {left.name}")


def _seconds(later: datetime, earlier: float) -> float:
    return later.timestamp() - earlier


def _measure(verdict: Verdict, director: Director) -> None:
    lease = director.world.settings.lease_seconds
    outages = [blow.moment for blow in director.blows if blow.strike.target == "redis"]
    for blow in director.blows:
        if blow.strike.blow == "STOP" and blow.strike.target == "simulation":
            continue  # it goes on where it was
        for id_, number in blow.attempts:
            attempts = {a.attempt: a for a in verdict.attempts.get(id_, ())}
            hit, following = attempts.get(number), attempts.get(number + 1)
            if hit and following and following.started and hit.how != "done":
                outage = any(blow.moment - 2 * lease < o < following.started.timestamp() for o in outages)
                seconds = _seconds(following.started, blow.moment)
                verdict.recoveries.append(Recovery(blow=blow, seconds=seconds, outage=outage))
                verdict.lost_seconds.append(_lost(verdict.jobs[id_], hit, following, blow.moment))


def _lost(record: JobRecord, hit: AttemptRecord, following: AttemptRecord, moment: float) -> float:
    """Give the computing seconds that were done again: of a countdown by its steps, else the whole attempt."""
    if record.engine != "program" or record.spec["program"] != "countdown":
        return max(0.0, moment - hit.started.timestamp()) if hit.started else 0.0
    begin = following.checkpoint_from
    found = re.search(r"\d+", begin.text) if begin else None
    reached = hit.progress.step or 0 if hit.progress else 0
    return max(0, reached - (int(found[0]) if found else 0)) * float(record.spec["parameters"]["pause"])


def table(verdict: Verdict, director: Director, seconds: float, seed: int) -> str:
    """Give the table, whose last line is the verdict."""
    blows = Counter((blow.strike.target, blow.strike.blow) for blow in director.blows)
    total = len(director.blows)
    lines = [f"{'struck':<14}" + "".join(f"{blow:>6}" for blow in BLOWS) + f"{'all':>6}"]
    for target in TARGETS:
        row = [blows[target, blow] for blow in BLOWS]
        lines.append(f"{target:<14}" + "".join(f"{n:>6}" for n in (*row, sum(row))))
    lines.append(f"{'all':<14}" + "".join(f"{sum(blows[t, b] for t in TARGETS):>6}" for b in BLOWS) + f"{total:>6}")
    engines = Counter(record.engine for record in verdict.jobs.values())
    hows = Counter(a.how for attempts in verdict.attempts.values() for a in attempts)
    known, load = verdict.jobs, director.load
    struck = Counter(known[job].engine for blow in director.blows for job, _ in blow.attempts if job in known)
    lease = director.world.settings.lease_seconds
    promised = f"lease {lease:g} s + {PROMISED_AFTER_LEASE:g} s promised"
    rows = [
        ("jobs", f"{len(verdict.jobs)} ({', '.join(f'{n} {e}' for e, n in sorted(engines.items()))})"),
        ("runs", f"{len(load.runs)} ({len(load.looped)} with a person, {len(load.late)} to be recovered)"),
        ("struck at work", ", ".join(f"{n} {e}" for e, n in sorted(struck.items()))),
        ("attempts", f"{sum(hows.values())} ({', '.join(f'{n} {h}' for h, n in sorted(hows.items()))})"),
        *((kind, f"{len(verdict.violations.get(kind, []))}") for kind in KINDS),
        ("recovery", _spread(verdict.recoveries)),
        ("without outage", _spread([r for r in verdict.recoveries if not r.outage])),
        ("kill -9 of worker", f"{_spread([r for r in verdict.recoveries if _is_lost_worker(r)])} ({promised})"),
        ("lost per kill", f"{statistics.fmean(verdict.lost_seconds or [0.0]):.2f} s of computing on average"),
    ]
    lines += ["", *(f"{name:<19}{text}" for name, text in rows)]
    for kind, texts in verdict.violations.items():
        lines += [f"  {kind}: {text}" for text in texts[:20]]
    said = f"{verdict.count} violation{'' if verdict.count == 1 else 's'}"
    lines.append(f"VERDICT: {said} in {len(verdict.jobs)} jobs, {total} kills, {seconds / 60:.1f} minutes, seed {seed}")
    return "\n".join(lines)


def _is_lost_worker(recovery: Recovery) -> bool:
    return (recovery.blow.strike.target, recovery.blow.strike.blow) == ("worker", "KILL") and not recovery.outage


def _spread(recoveries: list[Recovery]) -> str:
    found = sorted(recovery.seconds for recovery in recoveries)
    if not found:
        return "nothing had to be recovered"
    ninety_nine = found[min(len(found) - 1, int(0.99 * len(found)))]
    return f"median {statistics.median(found):.1f} s, 99 % {ninety_nine:.1f} s, of {len(found)}"
