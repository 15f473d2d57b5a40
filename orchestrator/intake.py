"""The gate before the queue: requests and batches are checked as a whole, by a pool of processes, or refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, TypeVar

from orchestrator import checking
from orchestrator.apart import Apart
from orchestrator.asking import Options
from orchestrator.checking import Checked, Offer
from orchestrator.inputs import earlier_job, resolve_inputs
from orchestrator.library import Added, calls
from orchestrator.model import Asks
from orchestrator.planning.asked import Asked
from orchestrator.problems import BadInput, Problem
from orchestrator.stateless import Taken, Turn
from orchestrator.turns import Tell, turn
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
    model
        The language model of stateless turns, which has no run to be booked on; None: rules only.
    """

    def __init__(self, settings: Settings, store: AsyncStore, apart: Apart, model: Asks | None = None) -> None:
        self.settings, self.store, self._apart, self._model = settings, store, apart, model
        self._adding = asyncio.Semaphore(1)

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

    async def add_document(self, path: Path, name: str, kept_at: str) -> Added:
        """Add a file to the library, one after the other: reading may take minutes, and others wait for the processes.

        Raises
        ------
        InputError
            If it cannot be read.
        """
        async with self._adding:
            return await self.run(calls.add, self.settings, path, name, kept_at)

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

    async def turn(self, asked: Asked, history: Sequence[Turn], tell: Tell | None = None) -> Taken:
        """Take a turn of a conversation that nobody keeps.

        Parameters
        ----------
        tell
            Is given what happens meanwhile.

        Raises
        ------
        InputError
            If the request cannot be used.
        """
        offer = await self.offer(wait_for_worker=True)
        told = {} if tell is None else {"tell": tell}
        return await turn(
            asked, history, offer.engines, settings=self.settings, run=self.run, model=self._model, **told
        )

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
