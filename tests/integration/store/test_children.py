"""What a job waited for is read page by page, and an outage of Redis in the middle is waited for."""

from __future__ import annotations

from typing import TypeVar

from tasks import batches
from tasks.batches import NewJob, Owner
from tasks.errors import Unreachable
from tasks.scripts import Call
from tasks.settings import Settings
from tasks.specs import parse_spec
from tasks.store import Store, connect
from worker.children import read_children

T = TypeVar("T")


class OutageOnce(Store):
    """A store whose second answer does not come."""

    asked = 0

    def run(self, what: Call[T]) -> T:
        """Answer, but for the second time."""
        self.asked += 1
        if self.asked == 2:
            raise Unreachable("Redis does not answer")
        return super().run(what)


def test_an_outage_while_children_are_read_is_waited_for(settings: Settings) -> None:
    store = OutageOnce(connect(settings), settings)
    spec = parse_spec({"engine": "xtb", "method": "GFN2-xTB", "molecule": {"smiles": "O"}})
    owner = Owner(owner="chemist")
    new = [NewJob(id=f"one-{i}", spec=spec) for i in range(250)]
    Store.run(store, batches.submit_whole("one", owner, new, settings, manifest_hash="0" * 64))

    children = read_children(store, settings, "one")

    assert store.asked == 3, "two pages, the second one asked for twice"
    assert [child.job_id for child in children] == [job.id for job in new]
