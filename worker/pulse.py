"""The pulse of an attempt: the lease renewed in time and the warden told that its parent lives, whatever else goes on.

Everything that may take long (waiting for a program, copying a checkpoint) calls it often; it does what is due.
"""

from __future__ import annotations

import time
from typing import Literal

from tasks import jobs
from tasks.errors import Unreachable
from tasks.jobs import RenewAnswer, Token
from tasks.results import Checkpoint, Correction, Progress
from tasks.settings import Settings
from tasks.store import Store
from worker.warded import WardedProgram


class Pulse:
    """Renews one attempt's lease.

    Attributes
    ----------
    answer
        What the last renewal answered.
    cut_off
        Whether the last renewal was not answered.
    answered
        When it was answered, on the monotonic clock.
    progress, checkpoint, last_lines, corrections, fell_back_to
        What the next renewal stores.
    phase
        Where the attempt is: ``running``, then ``finishing``.
    program
        The program whose warden is to hear beats; None before it starts.
    """

    def __init__(self, store: Store, settings: Settings, token: Token) -> None:
        self.store, self.settings, self.token = store, settings, token
        self.answer: RenewAnswer = "ok"
        self.answered = time.monotonic()
        self.cut_off = False
        self.progress: Progress | None = None
        self.checkpoint: Checkpoint | None = None
        self.last_lines: tuple[str, ...] = ()
        self.corrections: tuple[Correction, ...] = ()
        self.fell_back_to: Checkpoint | Literal["scratch"] | None = None
        self.phase = "running"
        self.program: WardedProgram | None = None
        self._due = self.answered + settings.beat_seconds

    def __call__(self) -> None:
        """Do what is due."""
        self.beat()
        if time.monotonic() >= self._due:
            self.renew()

    def beat(self) -> None:
        """Tell the warden that this process lives; it must hear so before anything that may block."""
        if self.program:
            self.program.tell("beat")

    def renew(self) -> None:
        """Renew now, whether Redis answers or not."""
        self.beat()
        call = jobs.renew(
            self.token,
            self.settings,
            last_lines=self.last_lines,
            progress=self.progress,
            checkpoint=self.checkpoint,
            phase=self.phase,
            corrections=self.corrections,
            fell_back_to=self.fell_back_to,
        )
        try:
            self.answer = self.store.run(call)
        except Unreachable:
            # A call that waits in vain blocks everything else: not more than half of the time.
            self.cut_off, pause = True, max(self.settings.beat_seconds, self.settings.renew_timeout_seconds)
        else:
            self.cut_off, pause = False, self.settings.beat_seconds
            self.answered = time.monotonic()
            self.checkpoint = None
        self._due = time.monotonic() + pause
        self.beat()

    def renew_until_answered(self) -> None:
        """Renew until Redis has what there is to be told, or the lease is known to be lost."""
        self.renew()
        while self.cut_off:
            time.sleep(self.settings.beat_seconds / 4)
            self.renew()

    @property
    def silent_seconds(self) -> float:
        """How long Redis has not answered."""
        return time.monotonic() - self.answered
