"""Why a job has not started, in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.why import explain

WORKER = {
    "id": "w",
    "host": "h",
    "serves": True,
    "state": "active",
    "cores": 4,
    "memory_mb": 8000,
    "free_cores": 4,
    "free_memory_mb": 8000,
    "workspace_seen": True,
}


def said(*workers: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Give what the store says of a ready job that asks for two cores."""
    return {
        "state": "QUEUED",
        "place": "ready",
        "queue": "pyscf",
        "declared": True,
        "ahead": 0,
        "cores": 2,
        "memory_mb": 2000,
        "workers": [{**WORKER, **worker} for worker in workers],
        "now_ms": 1_000_000,
        "delayed_until_ms": 0,
        **changes,
    }


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        (said(), "No live worker offers pyscf."),
        (said(declared=False), "No live worker offers pyscf, and none ever has."),
        (said({"serves": False}), "No live worker offers pyscf; 1 other worker is alive."),
        (said({"serves": False}, {"serves": False}), "No live worker offers pyscf; 2 other workers are alive."),
        (said({"state": "draining"}), "Every worker that offers pyscf is stopping and takes no more work."),
        (said({"cores": 1}), "It asks for 2 cores, and no worker that offers pyscf has more than 1."),
        (said({"memory_mb": 1000}), "It asks for 2000 MB, and no worker that offers pyscf has more than 1000."),
        (said({"cores": 1}, {"memory_mb": 1}), "No single worker that offers pyscf has both 2 cores and 2000 MB."),
        (
            said({"licence": {"name": "gaussian", "count": 4}}, ahead=3),
            "It waits for a licence: all 4 of gaussian are taken by other jobs.",
        ),
        (
            said({"free_cores": 1}, ahead=1),
            "It waits its turn: 1 job is before it in the queue pyscf, 3 of 4 cores are taken.",
        ),
        (
            said({"free_cores": 1}),
            "It is next in the queue pyscf, and waits until 2 cores and 2000 MB are free on one worker"
            " (most free now: 1 core).",
        ),
        (said({}), "It is next in the queue pyscf, and is offered in a moment."),
        (
            said({"workspace_seen": False}),
            "No worker that offers pyscf sees this installation's workspace, where the job has begun.",
        ),
        (said(workers={}), "No live worker offers pyscf."),
        (said(state="HELD", place=""), "Job j is held; it starts when somebody lets it go."),
        (said(state="RUNNING", place="leased"), "Job j has started: it runs."),
        (said(state="FAILED", place=""), "Job j has ended: FAILED."),
        (said({}, place="offered"), "Job j was offered to a worker and starts in a moment."),
    ],
)
def test_one_sentence(what: dict[str, Any], sentence: str) -> None:
    assert explain("j", what) == sentence


def test_a_job_that_is_tried_again_later_says_when() -> None:
    assert explain("j", said(place="delayed", delayed_until_ms=1_020_400)).endswith("in 20 s, after a failure.")


def test_a_parked_job_waits_for_its_children() -> None:
    assert "a batch of jobs of its own" in explain("j", said(state="PARKED", place=""))
