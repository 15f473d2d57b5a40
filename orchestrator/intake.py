"""The gate before the queue: requests and batches are checked as a whole, by a pool of processes, or refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from orchestrator import checking
from orchestrator.apart import Apart
from orchestrator.asking import Options
from orchestrator.checking import Checked, Offer
from orchestrator.inputs import earlier_job, resolve_inputs
from orchestrator.planning.asked import Asked
from orchestrator.problems import BadInput, Problem
from orchestrator.stateless import Taken, Turn, take_turn
from tasks import listing
from tasks.errors import InputError, Refused
from tasks.settings import Settings
from tasks.specs import AnySpec, parse_spec
from tasks.store import AsyncStore
from tasks.wavefunctions import SOURCE

T = TypeVar("T")
#: jobs that one call of a process checks
_CHUNK = 16


class Intake:
    """Checks what comes in.

    Parameters
    ----------
    apart
        The processes that do it; ended by whoever made them.
    """

    def __init__(self, settings: Settings, store: AsyncStore, apart: Apart) -> None:
        self.settings, self.store, self._apart = settings, store, apart

    async def run(self, what: Callable[..., T], *arguments: object) -> T:
        """Run a function of a module in one of the processes.

        Raises
        ------
        Refused
            If the process died, twice.
        """
        try:
            return await self._apart.run(what, *arguments)
        except BrokenProcessPool as error:
            raise Refused("the process that worked on this died; is the host out of memory?") from error

    async def offer(self, *, wait_for_worker: bool) -> Offer:
        """Read what workers have ever declared."""
        declared = await self.store.run(listing.declared())
        return Offer(
            queues=frozenset(declared),
            programs={d["program"]: d["declaration"] for d in declared.values() if d.get("engine") == "program"},
            wait_for_worker=wait_for_worker,
            max_atoms=self.settings.max_atoms,
            pubchem_url=self.settings.pubchem_url,
        )

    async def preview(
        self, request: str, owner: str, *, wait_for_worker: bool = False, options: Options | None = None
    ) -> dict[str, Any]:
        """Plan a request without doing anything.

        Raises
        ------
        InputError
            If the request cannot be planned, or nobody has ever offered to compute it.
        """
        offer = await self.offer(wait_for_worker=wait_for_worker)
        planned = await self.run(checking.preview, request, offer, options)
        if isinstance(planned, Problem):
            raise planned.error()
        for job in (job for step in planned["steps"] for job in step["jobs"] if "source_job" in job):
            source = await earlier_job(job["source_job"], owner, self.store)
            job["spec"] |= {"inputs": {SOURCE: source.file.model_dump()}, "label": source.label}
            job["source_job"] = source.job_id
        return planned

    async def turn(self, asked: Asked, history: Sequence[Turn]) -> Taken:
        """Take a turn of a conversation that nobody keeps.

        Raises
        ------
        InputError
            If the request cannot be used.
        """
        offer = await self.offer(wait_for_worker=True)
        taken = await self.run(take_turn, asked, tuple(history), offer.engines, self.settings)
        if isinstance(taken, Problem):
            raise taken.error()
        return taken

    async def check(self, jobs: Sequence[dict[str, Any]], *, wait_for_worker: bool = False) -> list[AnySpec]:
        """Check and complete all jobs of a batch.

        Raises
        ------
        BadInput
            With every problem of every job.
        InputError
            If there are none, or too many.
        """
        if not jobs:
            raise InputError("jobs", len(jobs), "is an empty list", "Give at least one job.")
        if len(jobs) > self.settings.max_batch_jobs:
            remedy = f"Submit at most {self.settings.max_batch_jobs} at once (SIMRELAY_MAX_BATCH_JOBS)."
            raise InputError("jobs", len(jobs), "are too many for one batch", remedy)
        offer = await self.offer(wait_for_worker=wait_for_worker)
        exact, problems = await resolve_inputs(jobs, self.store, self.settings.workspace)
        rows = list(enumerate(exact))
        chunks = [rows[first : first + _CHUNK] for first in range(0, len(rows), _CHUNK)]
        answers = await asyncio.gather(*(self.run(checking.check, chunk, offer) for chunk in chunks))
        checked = [one for answer in answers for one in answer]
        # A row whose file was not found would only be refused once more, for missing it.
        unknown = {problem.row for problem in problems}
        problems += [p for one in checked for p in one.problems if p.row not in unknown]
        if problems:
            raise BadInput(sorted(problems, key=lambda problem: problem.row or 0))
        return await asyncio.to_thread(_complete, checked)


def _complete(checked: Sequence[Checked]) -> list[AnySpec]:
    return [parse_spec(one.spec) for one in checked]
