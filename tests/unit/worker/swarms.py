"""Running swarms without a store: what they wait for is computed at once, by the same engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tasks.records import JobState
from tasks.specs import EvaluationSpec, SwarmSpec
from tests.unit.worker import harness
from worker.engines.base import Bench, Child, Exit
from worker.engines.pso import ParticleSwarm

#: tetraalkylammonium of two substituents, no relaxation: seconds of work
SMALL: dict[str, object] = {
    "families": ["tetraalkylammonium"],
    "substituents": ["methyl", "ethyl", "propyl"],
    "particles": 4,
    "steps": 2,
    "seed": 3,
    "relax": False,
}


def engine() -> ParticleSwarm:
    """Give the engine of this host."""
    offer = ParticleSwarm.detect()
    assert offer is not None
    return ParticleSwarm(offer)


def swarm_bench(spec: SwarmSpec | EvaluationSpec, scratch: Path, **more: object) -> Bench[SwarmSpec | EvaluationSpec]:
    """Give a bench in a new folder."""
    scratch.mkdir(parents=True)
    return Bench(spec=spec, scratch=scratch, cores=1, memory_mb=1000, **more)  # type: ignore[arg-type]


def compute(spec: EvaluationSpec, folder: Path) -> Child:
    """Compute one evaluation job."""
    pso, bench = engine(), swarm_bench(spec, folder)
    exits = harness.run(pso, bench)
    assert pso.ended_well(bench, exits), pso.diagnose(bench, exits)
    return Child(
        job_id=folder.name,
        spec=spec,
        state=JobState.SUCCEEDED,
        result=pso.collect(bench).result,
        failure=None,
        artifacts=(),
    )


def drive(
    spec: SwarmSpec, folder: Path, answer: Callable[[EvaluationSpec, Path], Child] = compute, **first: object
) -> tuple[Bench[SwarmSpec | EvaluationSpec], list[Exit], list[EvaluationSpec]]:
    """Run a swarm to its end, each attempt from the restart point of the one before; gives its last bench.

    Parameters
    ----------
    answer
        Gives what becomes of a job that the swarm waits for.
    first
        What the bench of the first attempt has besides.
    """
    pso, asked = engine(), []
    more = first
    for attempt in range(50):
        bench = swarm_bench(spec, folder / f"attempt-{attempt}", **more)
        exits = harness.run(pso, bench)
        wanted = pso.children(bench)
        if wanted is None:
            return bench, exits, asked
        restart = harness.keep(pso, bench, folder / f"restart-{attempt}")
        children = []
        for number, one in enumerate(wanted.specs):
            assert isinstance(one, EvaluationSpec)
            asked.append(one)
            children.append(answer(one, folder / f"child-{attempt}-{number}"))
        more = {"restart": restart, "children": children}
    raise AssertionError("the swarm never came to its end")
