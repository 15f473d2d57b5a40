"""Events in words: one line for each kind, whatever is missing or long."""

from __future__ import annotations

import pytest

from orchestrator.cli.events import in_words
from orchestrator.views import EventView

STEP = {"step": 2, "agent": "qm_agent"}
BATCH = {**STEP, "batch": "b", "jobs": 3}
PLAN_STEPS = [{"step": 1, "description": "compute", "status": "pending"}]


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("thinking", {"text": "two\nmolecules"}, "two molecules"),
        ("plan", {"title": "t", "iteration": 0, "steps": PLAN_STEPS}, "t: 1. compute (pending)"),
        ("plan", {"title": "t", "iteration": 2, "steps": PLAN_STEPS}, "t, iteration 2: 1. compute (pending)"),
        ("agent_start", {**STEP, "description": "compute"}, "step 2, qm_agent: compute"),
        ("action", {**BATCH, "core_seconds": 7200.0}, "step 2, qm_agent: 3 jobs as b, about 2 core hours"),
        ("action", {**BATCH, "core_seconds": None}, "step 2, qm_agent: 3 jobs as b"),
        ("action", {"name": "ask", "arguments": {}}, "ask"),
        ("job", {"job": "j", "label": "water", "state": "RUNNING", "attempt": 2}, "j, water, attempt 2: RUNNING"),
        ("job", {"job": "j", "state": "QUEUED", "attempt": 0}, "j: QUEUED"),
        ("progress", {"job": "j", "attempt": 1, "progress": {"text": "cycle 3"}}, "j: cycle 3"),
        ("approval", {"gate": "plan-1", "status": "open", "text": "the plan"}, "plan-1 open: the plan"),
        ("approval", {"gate": "plan-1", "status": "approved", "by": "ana", "text": "x"}, "plan-1 approved by ana: x"),
        ("cue_user", {"question": "route-1", "text": "Which?"}, "route-1: Which?"),
        ("cue_user", {"question": "route-1", "answer": "a", "by": "ana"}, "route-1 answered by ana: a"),
        ("agent_end", {**STEP, "status": "done", "summary": "found"}, "step 2, qm_agent: done: found"),
        ("agent_end", {**STEP, "status": "failed", "error": "why", "summary": ""}, "step 2, qm_agent: failed: why"),
        ("done", {"state": "SUCCEEDED", "answer": "42", "error": ""}, "SUCCEEDED: 42"),
        ("done", {"state": "CANCELLED", "answer": "", "error": ""}, "CANCELLED"),
        ("of_a_newer_version", {}, ""),
    ],
)  # fmt: skip
def test_an_event_is_said_in_one_line(kind: str, data: dict[str, object], words: str) -> None:
    assert in_words(EventView(run="r", sequence=1, kind=kind, data=data)) == words
