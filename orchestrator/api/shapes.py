"""What requests hold, and what several routes answer with."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

from orchestrator.asking import Options
from tasks.records import BatchRecord, JobRecord

#: every id and name that becomes part of a key or path (tasks.specs.NAME)
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
OWNER = r"^[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,63}$"

Id = Annotated[str, Path(pattern=NAME)]
Count = Annotated[int, Query(ge=1, le=1000)]
#: where the page before ended
Cursor = Annotated[str, Query(pattern=r"^\d{0,20}$")]


class Body(BaseModel):
    """Base of all request bodies."""

    model_config = ConfigDict(extra="forbid")


class NewRun(Body):
    """A request for a run. The caller chooses the id, so sending it twice makes one run."""

    id: str = Field(pattern=NAME)
    request: str = Field(max_length=10_000)
    owner: str = Field(pattern=OWNER)
    #: make another run also if one for the same request has not ended
    new: bool = False
    #: only say what would be done
    dry_run: bool = False
    #: accept work that no worker has ever offered to do
    wait_for_worker: bool = False
    #: agent, agents, pipeline, revisions, language model
    options: Options = Options()


class Retry(Body):
    """Who takes an ended run up again, and under which id; sending it twice makes one run."""

    id: str = Field(pattern=NAME)
    owner: str = Field(pattern=OWNER)
    #: make another run also if one for the same request has not ended
    new: bool = False


class Verdict(Body):
    """What a person decides about a gate."""

    gate: str = Field(max_length=64)
    verdict: Literal["approve", "reject", "revise"]
    by: str = Field(pattern=OWNER)
    #: what is to be different; needed for a revision
    text: str = Field(default="", max_length=10_000)
    #: of a revision: the step to begin at; 0: the first one behind the gate
    step: int = Field(default=0, ge=0)


class Answer(Body):
    """What a person answers to a question."""

    question: str = Field(max_length=64)
    text: str = Field(min_length=1, max_length=10_000)
    by: str = Field(pattern=OWNER)


class Revocation(Body):
    """Why an episode is not to be recalled any more."""

    by: str = Field(pattern=OWNER)
    why: str = Field(max_length=1000)


class Promotion(Body):
    """The failure whose verified successes are to become a rule."""

    signature: str = Field(min_length=1, max_length=300)
    by: str = Field(pattern=OWNER)


class Rollback(Body):
    """The version of the policy to go back to, and why."""

    version: int = Field(ge=0)
    by: str = Field(pattern=OWNER)
    why: str = Field(max_length=1000)


class NewBatch(Body):
    """Jobs to be submitted together. The caller chooses the id, so sending it twice makes one batch."""

    id: str = Field(pattern=NAME)
    jobs: list[dict[str, Any]]
    owner: str = Field(pattern=OWNER)
    label: str = Field(default="", max_length=120)
    priority: int = Field(default=5, ge=0, le=9)
    dry_run: bool = False
    wait_for_worker: bool = False


class NewChange(Body):
    """Jobs to be changed: named, or all that fit every given filter.

    The caller chooses ``id``, that of the batch which a retry or rerun makes, so sending it twice makes nothing twice.
    """

    jobs: list[Annotated[str, Field(pattern=NAME)]] = Field(default_factory=list, max_length=20_000)
    state: str = ""
    owner: str = ""
    run: str = ""
    batch: str = ""
    queue: str = ""
    #: every job that the change can touch
    all: bool = False
    #: only say which jobs that would be
    dry_run: bool = False
    id: str = Field(default="", pattern=rf"{NAME}|^$")


class Drain(Body):
    """How a worker drains."""

    #: finish what runs instead of giving it back
    finish_current: bool = False


def job_row(job: JobRecord) -> dict[str, Any]:
    """Give a job as a row of a listing: without its spec."""
    return job.model_dump(mode="json", exclude={"spec", "checkpoint_before"})


def batch_row(batch: BatchRecord) -> dict[str, Any]:
    """Give a batch, with how many of its jobs are left."""
    ended = batch.succeeded + batch.failed + batch.cancelled
    return batch.model_dump(mode="json", exclude={"manifest"}) | {"open": max(batch.count - ended, 0)}
