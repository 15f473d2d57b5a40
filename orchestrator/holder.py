"""The holder: claims runs that are ready, drives the graph on each under its lease, and lets go when it waits.

Any number of orchestrators do this at once. A run that waits costs nothing here: it is a few keys in Redis.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command
from redis.exceptions import RedisError

from orchestrator.agents import AGENTS, Agent
from orchestrator.apart import Apart
from orchestrator.graph import Planner, RunCancelled, Supervisor
from orchestrator.model import connect_model
from orchestrator.planning.decide import plan_request
from orchestrator.retry import taken_up_again
from orchestrator.saver import FencedSaver, run_config
from orchestrator.state import SCHEMA_VERSION, RunState
from orchestrator.steps import open_batches
from orchestrator.workspace_proof import holds_proof, read_token
from tasks import listing, records, runs
from tasks.errors import LeaseLost, Refused, SimrelayError, Unreachable
from tasks.faults import fault_point
from tasks.runs import Held
from tasks.settings import Settings
from tasks.store import AsyncStore

log = structlog.get_logger()

#: runs that one orchestrator drives at the same time; one process is bound by Python at about this (FACTS, section 3)
AT_ONCE = 16
#: how long a run that is ready waits at most if the wake-up message was missed
POLL_SECONDS = 1.0
#: how long runs that are under way may go on after a stop was asked for
STOP_SECONDS = 5.0

#: what is in a run's way, but will not always be: Redis away or full, a workspace that cannot be read or written
_PASSING = (Unreachable, Refused, RedisError, OSError)


class Holder:
    """Drives runs for one orchestrator."""

    def __init__(
        self,
        settings: Settings,
        store: AsyncStore,
        orchestrator_id: str,
        *,
        agents: Mapping[str, Agent] = AGENTS,
        plan: Planner = plan_request,
    ) -> None:
        self.settings, self.store, self.id = settings, store, orchestrator_id
        self.saver = FencedSaver(store.client, store)
        self.apart = Apart()
        self.model = connect_model(settings)
        self.supervisor = Supervisor(
            settings=settings, store=store, agents=agents, plan=plan, apart=self.apart, model=self.model
        )
        self.graph: CompiledStateGraph[RunState] | None = None
        #: token of the workspace (``workspace_proof``); empty until an orchestrator has made one
        self.token = ""
        self.driving: set[asyncio.Task[None]] = set()

    async def setup(self) -> None:
        """Make the checkpointer's indexes and compile the graph; may be called again."""
        if self.graph is None:
            await self.saver.asetup()  # before compile (FACTS, section 3)
            self.graph = self.supervisor.graph().compile(checkpointer=self.saver)

    async def view(self, run: str) -> RunState:
        """Read the newest checkpointed state of a run; an empty state if there is none yet."""
        await self.setup()
        assert self.graph
        snapshot = await self.graph.aget_state(run_config(run, 0))
        return RunState.model_validate(snapshot.values)

    async def run(self, stop: asyncio.Event) -> None:
        """Claim and drive runs until told to stop; what is under way then is given back."""
        wake = asyncio.Event()
        listener = asyncio.create_task(self._listen(wake))
        stopping = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                try:
                    await self.setup()
                    await self._claim_all()
                except (Unreachable, RedisError, OSError) as error:
                    log.warning("claim_failed", orchestrator=self.id, error=str(error))
                    await asyncio.wait({stopping}, timeout=POLL_SECONDS)
                woken = asyncio.create_task(wake.wait())
                await asyncio.wait(
                    {woken, stopping, *self.driving}, timeout=POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                woken.cancel()
                wake.clear()
        finally:
            listener.cancel()
            stopping.cancel()
            if self.driving:
                await asyncio.wait(self.driving, timeout=STOP_SECONDS)
            for task in self.driving:
                task.cancel()
            await asyncio.gather(listener, stopping, *self.driving, return_exceptions=True)
            self.apart.close()
            if self.model:
                await self.model.close()

    async def _sees_workspace(self) -> bool:
        """Look before each claim: what a run writes must not land where a mount is gone."""
        self.token = self.token or await read_token(self.store, self.settings)
        if not self.token or holds_proof(self.settings, self.token):
            return True
        log.warning("workspace_not_seen", orchestrator=self.id, workspace=str(self.settings.workspace))
        return False

    async def _claim_all(self) -> None:
        if not await self._sees_workspace():
            return
        while len(self.driving) < AT_ONCE:
            held = await self.store.run(runs.claim(self.id, self.settings))
            if held is None:
                return
            task = asyncio.create_task(self._drive(held))
            self.driving.add(task)
            task.add_done_callback(self.driving.discard)

    async def _listen(self, wake: asyncio.Event) -> None:
        """Be told as soon as a run is ready; while Redis is away, polling does without."""
        while True:
            try:
                async with self.store.client.pubsub() as channel:
                    await channel.subscribe(f"{self.settings.key_prefix}wake")
                    while True:
                        if await channel.get_message(ignore_subscribe_messages=True, timeout=POLL_SECONDS):
                            wake.set()
            except (RedisError, OSError):
                await asyncio.sleep(POLL_SECONDS)

    # ---- one run

    async def _drive(self, held: Held) -> None:
        """Work on a run as long as it is held and does not wait; our own mistakes end the run, not the orchestrator."""
        log.info("run_claimed", run=held.id, epoch=held.epoch, orchestrator=self.id)
        work = asyncio.create_task(self._work(held))
        keeping = asyncio.create_task(self._keep(held, work))
        try:
            await asyncio.wait({work})
            await self._look_at_end(held, work)
            if work.cancelled() and keeping.done() and keeping.result():
                await self._end_cancelled(held)
        except asyncio.CancelledError:  # this orchestrator stops
            work.cancel()
            await asyncio.wait({work})
            await self._give_back(held)
            raise
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)

    async def _look_at_end(self, held: Held, work: asyncio.Task[None]) -> None:
        error = None if work.cancelled() else work.exception()
        if error is not None:
            log.warning("run_left", run=held.id, epoch=held.epoch, error=f"{type(error).__name__}: {error}")
        if isinstance(error, _PASSING):
            await asyncio.sleep(self.settings.beat_seconds)
            await self._give_back(held, str(error))

    async def _end_cancelled(self, held: Held) -> None:
        try:
            await self._end(held, records.RunState.CANCELLED)
        except (LeaseLost, Unreachable, RedisError) as error:  # whoever claims it next finds the cancel in its inbox
            log.warning("cancel_not_ended", run=held.id, epoch=held.epoch, error=str(error))

    async def _keep(self, held: Held, work: asyncio.Task[None]) -> bool:
        """Renew the lease; stop the work when it is lost, or cannot be proven for one whole lease.

        True: the work was stopped since the run is to be cancelled.
        """
        clock = asyncio.get_running_loop().time
        renewed = clock()
        while not work.done():
            await asyncio.sleep(self.settings.beat_seconds)
            try:
                cancelled = await self.store.run(runs.renew(held.id, held.epoch, self.settings))
                renewed = clock()
            except LeaseLost as error:
                log.warning("lease_lost", run=held.id, epoch=held.epoch, error=str(error))
                work.cancel()
                return False
            except (Unreachable, RedisError):
                if clock() - renewed > self.settings.lease_seconds:
                    work.cancel()
                    return False
                continue
            if cancelled:
                work.cancel()
                return True
        return False

    async def _give_back(self, held: Held, why: str = "") -> None:
        try:
            await self.store.run(runs.release(held.id, held.epoch, records.RunState.QUEUED, error=why))
        except (LeaseLost, Unreachable, RedisError):
            log.info("run_not_given_back", run=held.id, epoch=held.epoch)

    async def _end(self, held: Held, state: records.RunState, *, error: str = "", answer: str = "") -> bool:
        ended = await self.store.run(runs.release(held.id, held.epoch, state, error=error, answer=answer))
        if ended:
            log.info("run_ended", run=held.id, state=state.value, error=error)
        return ended

    async def _work(self, held: Held) -> None:
        if held.poison:
            node = "the same node"
            text = (
                f"took {held.record.takedowns} orchestrators down, one after the other, at {node} without a checkpoint"
            )
            await self._end(held, records.RunState.FAILED, error=text)
            return
        if any(entry.kind == "cancel" for entry in held.inbox):
            await self._end(held, records.RunState.CANCELLED)
            return
        try:
            await self._advance(held)
        except RunCancelled:
            await self._end(held, records.RunState.CANCELLED)
        except (LeaseLost, *_PASSING):
            raise  # nothing that was written counts, or nothing can be: the lease ends by itself
        except SimrelayError as error:
            await self._end(held, records.RunState.FAILED, error=str(error))
        except Exception as error:
            log.exception("run_failed", run=held.id, epoch=held.epoch)
            await self._end(held, records.RunState.FAILED, error=f"internal error: {type(error).__name__}: {error}")
            raise

    async def _advance(self, held: Held) -> None:
        """Invoke the graph until the run ends or waits."""
        assert self.graph
        config = run_config(held.id, held.epoch)
        if held.record.interrupts and held.inbox:
            # The common case, without reading the checkpoint twice: nothing has touched it since it was left waiting.
            await self.graph.ainvoke(_look_again(held.record.interrupts), config, durability="sync")
        snapshot = await self.graph.aget_state(config)
        while True:
            if snapshot.values and not snapshot.next:
                state = RunState.model_validate(snapshot.values)
                if state.finished:
                    if await self._finish(held, state):
                        return
                    # Something came in meanwhile: a cancel ends the run, anything else has no more effect.
                    entries = (await self.store.run(runs.look(held.id, held.epoch))).inbox
                    if not entries:
                        raise SimrelayError("the plan ended while a batch of it was still open")
                    if any(entry.kind == "cancel" for entry in entries):
                        raise RunCancelled(held.id)
                    await self.graph.aupdate_state(config, {"consumed": tuple(e.id for e in entries)}, as_node="finish")
                    snapshot = await self.graph.aget_state(config)
                    continue
            elif snapshot.interrupts and await self._wait(held, snapshot):
                return
            await self.graph.ainvoke(await self._next_input(held, snapshot), config, durability="sync")
            snapshot = await self.graph.aget_state(config)

    async def _next_input(self, held: Held, snapshot: Any) -> Any:
        if not snapshot.values and held.record.retry_of:
            ended = await self._last_state(held.record.retry_of)
            return taken_up_again(ended, held.id, held.record.owner, held.record.request, held.record.options)
        if not snapshot.values:
            return {
                "schema_version": SCHEMA_VERSION,
                "run_id": held.id,
                "owner": held.record.owner,
                "request": held.record.request,
                "options": held.record.options,
            }
        if snapshot.interrupts:
            return _look_again([pending.id for pending in snapshot.interrupts])
        return None

    async def _last_state(self, run: str) -> RunState:
        """Read the last state of an ended run; of a retry that never began, that of the run which it takes up."""
        while True:
            state = await self.view(run)
            record = None if state.run_id else await self.store.run(listing.run(run))
            if record is None or not record.retry_of:
                return state
            run = record.retry_of

    async def _finish(self, held: Held, state: RunState) -> bool:
        await self.saver.prune_run(held.id, held.epoch, keep=1)
        if state.stopped:
            return await self._end(held, records.RunState.CANCELLED, error=state.stopped)
        if state.error:
            return await self._end(held, records.RunState.FAILED, error=state.error, answer=state.answer)
        return await self._end(held, records.RunState.SUCCEEDED, answer=state.answer)

    async def _wait(self, held: Held, snapshot: Any) -> bool:
        """Let go of a run that waits; False: something is there for it already."""
        state = RunState.model_validate(snapshot.values)
        await self.saver.prune_run(held.id, held.epoch)
        fault_point("before_release")
        awaits = [batch.batch_id for _, batch in open_batches(state.plan)]
        released = await self.store.run(
            runs.release(
                held.id,
                held.epoch,
                # Only a person can wake a run that waits for no batch.
                records.RunState.WAITING if awaits else records.RunState.NEEDS_PERSON,
                awaits=awaits,
                interrupts=[pending.id for pending in snapshot.interrupts],
            )
        )
        fault_point("after_release")
        if released:
            log.info("run_waits", run=held.id, epoch=held.epoch, batches=awaits)
        return released


def _look_again(interrupts: Sequence[str]) -> Command[Any]:
    """Resume by interrupt id. Waking means "look": the node looks at the store, whatever it is resumed with."""
    return Command(resume=dict.fromkeys(interrupts, "look"))
