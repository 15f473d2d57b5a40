"""Work that holds the processor, in processes of its own, so that the service's loop and its renewals never starve."""

from __future__ import annotations

import asyncio
import ctypes
import multiprocessing
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

T = TypeVar("T")

_PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """End this process when the service is killed; Ctrl-C is the service's to handle."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Apart:
    """A pool of processes that replaces itself when one of them was killed."""

    def __init__(self, size: int = 2) -> None:
        self.size = size
        self._pool = self._make()

    def _make(self) -> ProcessPoolExecutor:
        # Spawned, not forked: the service runs threads.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(max_workers=self.size, mp_context=context, initializer=die_with_parent)

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Run a function of a module, with arguments that can be pickled; once more if its process was killed."""
        pool = self._pool
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(pool, function, *arguments)
        except BrokenProcessPool:
            if pool is self._pool:
                self._pool = self._make()
            return await loop.run_in_executor(self._pool, function, *arguments)

    def close(self) -> None:
        """Let go of the processes."""
        self._pool.shutdown(wait=False, cancel_futures=True)
