"""A model whose use by a run is booked in the run's record, before it is spent: a budget outlives its orchestrator."""

from __future__ import annotations

from typing import Any

from orchestrator.model.budget import ModelError, OverBudget, answer_limit, estimated_tokens, with_cost
from orchestrator.model.client import Asking, Asks, Reply, Tell
from orchestrator.state import Usage
from tasks import runs
from tasks.runs import Spent
from tasks.settings import Settings
from tasks.store import AsyncStore


class Metered:
    """A model as one run asks it, under the run's epoch.

    A question is booked with its prompt and the longest answer that it may get, and put right when the answer is there.
    What a killed orchestrator had under way so counts in full. Each call also proves that the run is still held.

    Raises
    ------
    LeaseLost
        From ``ask``: if it is not; nothing was asked, or nobody will use the answer.
    """

    def __init__(self, model: Asks, store: AsyncStore, run: str, epoch: int) -> None:
        self.model, self._store, self._run, self._epoch = model, store, run, epoch

    @property
    def settings(self) -> Settings:
        """The installation's settings."""
        return self.model.settings

    async def ask(
        self,
        prompt: str,
        question: str,
        usage: Usage,
        *,
        schema: dict[str, Any] | None = None,
        temperature: float = 0,
        tell: Tell | None = None,
    ) -> Reply:
        """Ask one question, as ``Model.ask`` does; the usage given back is that of the record."""
        known = await self._spent()
        if known.calls < usage.calls:  # the run began with a version that booked nothing
            known = await self._spent(
                calls=usage.calls - known.calls,
                prompt_tokens=usage.prompt_tokens - known.prompt_tokens,
                completion_tokens=usage.completion_tokens - known.completion_tokens,
            )
        prompt_tokens = estimated_tokens(prompt + question)
        try:
            limit = answer_limit(known, prompt + question, self.settings)
        except OverBudget as error:
            raise Asking(str(error), known) from error
        await self._spent(calls=1, prompt_tokens=prompt_tokens, completion_tokens=limit)
        try:
            reply = await self.model.ask(prompt, question, known, schema=schema, temperature=temperature, tell=tell)
        except Asking as error:
            used = await self._settle(known, error.usage, prompt_tokens, limit)
            raise Asking(str(error), used) from error
        except ModelError:
            await self._spent(calls=-1, prompt_tokens=-prompt_tokens, completion_tokens=-limit)
            raise
        return Reply(
            text=reply.text, calls=reply.calls, usage=await self._settle(known, reply.usage, prompt_tokens, limit)
        )

    async def _settle(self, before: Usage, after: Usage, prompt_tokens: int, limit: int) -> Usage:
        """Put what was booked for a call right, once it is known what it used."""
        return await self._spent(
            prompt_tokens=after.prompt_tokens - before.prompt_tokens - prompt_tokens,
            completion_tokens=after.completion_tokens - before.completion_tokens - limit,
        )

    async def _spent(self, **more: int) -> Usage:
        spent: Spent = await self._store.run(runs.spend(self._run, self._epoch, **more))
        used = Usage(calls=spent.calls, prompt_tokens=spent.prompt_tokens, completion_tokens=spent.completion_tokens)
        return with_cost(used, self.settings)
