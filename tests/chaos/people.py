"""The people of the runs: somebody who approves each plan, has the results revised once, and approves them then."""

from __future__ import annotations

from dataclasses import dataclass, field

from tasks import events, runs
from tasks.records import InboxEntry
from tasks.store import Store

#: the step that is done anew
REVISED = 2


@dataclass(kw_only=True)
class Person:
    """Watches the events of runs, and decides every gate that they tell of.

    Attributes
    ----------
    seen
        The newest event of each run that was acted upon.
    decided
        What was said to which run about which gate: its kind, and the verdict.
    """

    store: Store
    seen: dict[str, int] = field(default_factory=dict)
    decided: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)

    def look(self, run: str) -> None:
        """Decide what a run asks for.

        Raises
        ------
        Unreachable
            If Redis does not answer; the same is decided at the next look.
        NotFound
            If the run is not there yet.
        """
        page = self.store.run(events.page(run, after=self.seen.get(run, 0), count=events.MOST_EVENTS))
        for event in page.events:
            if event.kind == "approval" and event.data["status"] == "open":
                self._decide(run, event.data["gate"], event.data["kind"])
            self.seen[run] = event.number

    def _decide(self, run: str, gate: str, kind: str) -> None:
        before = [said for (of, about), said in self.decided.items() if of == run and about != gate]
        revise = kind == "review" and ("review", "revise") not in before
        verdict = "revise" if revise else "approve"
        text, step = ("do it again", REVISED) if revise else ("", 0)
        entry = InboxEntry(id=f"gate:{run}:{gate}", kind=verdict, about=gate, text=text, by="ana", step=step)
        self.store.run(runs.post(run, entry))  # may be repeated, as long as nobody has answered
        self.decided[run, gate] = kind, verdict
