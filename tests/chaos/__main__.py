"""``python -m tests.chaos``: kill an installation at random while it works, then count; exits with 1 on a violation."""

from __future__ import annotations

import argparse
import logging
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

import structlog
from redis.exceptions import RedisError

from tasks import listing
from tasks.errors import Unreachable
from tests.chaos.director import Director
from tests.chaos.load import NAMES, Load, Reference
from tests.chaos.schedule import schedule
from tests.chaos.verdict import Verdict, judge, judge_host, table
from tests.chaos.world import World

#: how long everything may take to come to an end after the last strike
SETTLE_SECONDS = 150.0
REFERENCE_SECONDS = 120.0


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0, help="how long strikes go on")
    parser.add_argument("--seed", type=int, default=1, help="reproduces the schedule")
    parser.add_argument("--lease", type=float, default=7.0, help="lease in seconds; at least 5.5")
    parser.add_argument("--pause", type=float, default=4.0, help="mean seconds between two strikes")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cores", type=int, default=1, help="cores of each worker")
    parser.add_argument("--home", type=Path, help="an empty folder for the installation, which is kept")
    parser.add_argument("--verbose", action="store_true", help="print every strike")
    return parser.parse_args()


def until(director: Director, seconds: float, done: str) -> bool:
    """Go on without strikes until the jobs (``jobs``) or everything (``all``) has ended."""
    store, prefix = director.world.store, director.world.settings.key_prefix
    sets = [f"state:{state}" for state in ("QUEUED", "RUNNING", "HELD", "PARKED")]
    if done == "all":
        sets += [f"runs:state:{state}" for state in ("QUEUED", "ACTIVE", "WAITING", "NEEDS_PERSON")]
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        director.step()
        if director.load.waiting:
            continue
        try:
            if not any(store.client.exists(f"{prefix}{name}") for name in sets):
                return True
        except RedisError:
            continue
    return False


def perform(director: Director, seconds: float) -> Verdict:
    """Compute the references, let strikes go on, let everything settle, and judge."""
    world, load = director.world, director.load
    for ask in (load.undisturbed, load.undisturbed_analyses):
        ask()
        until(director, REFERENCE_SECONDS, "jobs")
    for name in NAMES:
        record = world.store.run(listing.job(f"ref-{name}"))
        if record and isinstance(record.result, Reference):
            director.references[name] = record.result
    director.perform(seconds)
    until(director, SETTLE_SECONDS, "all")
    try:
        verdict = judge(director)
    except Unreachable as error:
        verdict = Verdict()
        verdict.add("stuck", str(error))
    judge_host(verdict, director, world.stop_services())
    return verdict


def main() -> int:
    """Run one performance; gives the exit code."""
    given = arguments()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    home = given.home or Path(tempfile.mkdtemp(prefix="simrelay-chaos-"))
    home.mkdir(parents=True, exist_ok=True)
    seconds = given.minutes * 60
    world = World(home, given.lease, workers=given.workers, cores=given.cores, orchestrators=2)
    try:
        load = Load(store=world.store, draw=random.Random(given.seed))
        strikes = schedule(given.seed, seconds, given.pause)
        director = Director(world=world, load=load, strikes=strikes, verbose=given.verbose)
        verdict = perform(director, seconds)
        print(table(verdict, director, seconds, given.seed))
    finally:
        world.close()
    if verdict.count or given.home:
        print(f"logs and data are kept in {home}", file=sys.stderr)
    else:
        shutil.rmtree(home)
    return 1 if verdict.count else 0


if __name__ == "__main__":
    sys.exit(main())
