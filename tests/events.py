"""The order of a run's events, as ``orchestrator.stream.derive`` promises it, checked on what was told."""

from __future__ import annotations

from tasks.events import EventRecord
from tests.model.reading import texts_of


def check_order(told: tuple[EventRecord, ...], *, ended: bool = True) -> None:
    """Fail where numbers have gaps or doubles, or an event stands before one that it must follow."""
    assert [event.number for event in told] == list(range(1, len(told) + 1))
    under_way: set[int] = set()
    planned, batches, seen_jobs = False, set[str](), set[str]()
    for event in told:
        data = event.data
        if event.kind == "plan":
            planned = True
        elif event.kind == "agent_start":
            assert planned
            assert data["step"] not in under_way, f"step {data['step']} started twice"
            under_way.add(data["step"])
        elif event.kind == "text_delta":
            assert data["of"] != "step" or data["step"] in under_way
        elif event.kind == "action" and data.get("proposed"):
            assert data["step"] in under_way
        elif event.kind == "action":
            assert data["step"] in under_way
            assert data["batch"] not in batches, f"{data['batch']} was told twice"
            batches.add(data["batch"])
        elif event.kind == "job":
            batch, _, _ = data["job"].rpartition("-")
            assert batch in batches
            assert int(batch.split("-s")[1].split("-r")[0]) in under_way
            seen_jobs.add(data["job"])
        elif event.kind == "progress":
            assert data["job"] in seen_jobs
        elif event.kind == "agent_end":
            under_way.remove(data["step"])
    texts = texts_of(event.data for event in told if event.kind == "text_delta")
    kinds = [event.kind for event in told]
    assert kinds.count("done") == int(ended)
    if ended:
        assert kinds[-1] == "done"
        if told[-1].data["state"] == "SUCCEEDED":
            assert not under_way
            assert told[-1].data["answer"] in texts.values()
