"""Records: what the store knows of a job, an attempt, a batch, a run, a worker. Read from it, never written back."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from tasks.results import Artifact, Checkpoint, Correction, Failure, Progress, Result


class JobState(StrEnum):
    """Where a job is in its life."""

    QUEUED = "QUEUED"
    HELD = "HELD"
    RUNNING = "RUNNING"
    PARKED = "PARKED"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def ended(self) -> bool:
        """Whether this state never changes again."""
        return self in (JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED)


class RunState(StrEnum):
    """Where a run is in its life."""

    QUEUED = "QUEUED"
    ACTIVE = "ACTIVE"
    WAITING = "WAITING"
    NEEDS_PERSON = "NEEDS_PERSON"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def ended(self) -> bool:
        """Whether this state never changes again."""
        return self in (RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED)


def read_json(value: object) -> object:
    """Read a field that holds JSON; empty: none."""
    if value in ("", None):
        return None
    return json.loads(value) if isinstance(value, str | bytes) else value


def _list(value: object) -> object:
    read = read_json(value)
    return () if read is None or read == {} else read


def read_moment(value: object) -> object:
    """Read milliseconds since 1970 as a moment in UTC; empty: none."""
    if value in ("", None):
        return None
    return datetime.fromtimestamp(float(value) / 1000, UTC) if isinstance(value, str | int | float) else value


Moment = Annotated[datetime | None, BeforeValidator(read_moment)]
JsonProgress = Annotated[Progress | None, BeforeValidator(read_json)]
JsonCheckpoint = Annotated[Checkpoint | None, BeforeValidator(read_json)]
JsonFailure = Annotated[Failure | None, BeforeValidator(read_json)]
JsonResult = Annotated[Result | None, BeforeValidator(read_json)]
JsonCorrections = Annotated[tuple[Correction, ...], BeforeValidator(_list)]
JsonArtifacts = Annotated[tuple[Artifact, ...], BeforeValidator(_list)]


class Record(BaseModel):
    """Base of all records; fields that this version does not know are left out."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class JobRecord(Record):
    """What became of a job so far."""

    id: str
    state: JobState
    owner: str
    queue: str
    engine: str
    task: str
    label: str = ""
    batch: str = ""
    batch_index: int = 0
    run: str = ""
    priority: int = 5
    cores: int = 1
    memory_mb: int = 0
    walltime_seconds: int = 0
    spec: Annotated[dict[str, Any], BeforeValidator(read_json)]
    #: the one set it stands in: ready, delayed, offered, leased, or none
    place: str = ""
    #: newest attempt; 0: none yet
    attempt: int = 0
    accepted_attempt: int | None = None
    failures: int = 0
    #: attempts in a row that ended by a host's fault
    faults: int = 0
    offers: int = 0
    worker: str = ""
    task_id: str = ""
    cancel_requested: bool = False
    progress: JsonProgress = None
    checkpoint: JsonCheckpoint = None
    checkpoint_before: JsonCheckpoint = None
    result: JsonResult = None
    failure: JsonFailure = None
    artifacts: JsonArtifacts = ()
    #: of all attempts
    corrections: JsonCorrections = ()
    compute_seconds: float = 0.0
    retry_of: str = ""
    parked_on: str = ""
    sequence: int = 0
    created: Moment = Field(default=None, alias="created_ms")
    queued: Moment = Field(default=None, alias="queued_ms")
    claimed: Moment = Field(default=None, alias="claimed_ms")
    started: Moment = Field(default=None, alias="started_ms")
    ended: Moment = Field(default=None, alias="ended_ms")


class AttemptRecord(Record):
    """One try at a job on one worker."""

    attempt: int
    claim_id: str
    worker: str
    host: str
    #: ``open``, ``lost``, ``done``, ``failed``, ``preempted``, ``walltime``, ``host``, ``parked`` or
    #: ``cancelled``
    how: str
    phase: str = ""
    progress: JsonProgress = None
    checkpoint_from: JsonCheckpoint = None
    checkpoint: JsonCheckpoint = None
    failure: JsonFailure = None
    #: of this and earlier attempts
    corrections: JsonCorrections = ()
    #: of the program's output, as the newest renewal told them
    last_lines: Annotated[tuple[str, ...], BeforeValidator(_list)] = ()
    started: Moment = Field(default=None, alias="started_ms")
    ended: Moment = Field(default=None, alias="ended_ms")


class BatchRecord(Record):
    """A set of jobs submitted together."""

    id: str
    owner: str
    label: str = ""
    count: int
    manifest_hash: str
    manifest: str = ""
    waiter_run: str = ""
    waiter_job: str = ""
    sealed: bool = False
    cancel_mark: bool = False
    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0
    created: Moment = Field(default=None, alias="created_ms")
    complete: Moment = Field(default=None, alias="complete_ms")


class RunRecord(Record):
    """One execution of the supervisor graph for one request."""

    id: str
    owner: str
    request: str
    state: RunState
    epoch: int = 0
    holder: str = ""
    takedowns: int = 0
    cancel_requested: bool = False
    #: why it failed, or why it is tried again: what was in its way when it was given back last
    error: str = ""
    answer: str = ""
    #: ids of LangGraph's interrupts that it waited in when it was claimed
    interrupts: Annotated[tuple[str, ...], BeforeValidator(_list)] = ()
    options: Annotated[dict[str, Any], BeforeValidator(lambda value: read_json(value) or {})] = Field(
        default_factory=dict
    )
    #: the ended run whose last checkpoint this one began from; empty: it began anew
    retry_of: str = ""
    #: what it has used of a language model; what was under way when its orchestrator died counts as asked for
    model_calls: int = 0
    model_prompt_tokens: int = 0
    model_completion_tokens: int = 0
    created: Moment = Field(default=None, alias="created_ms")
    changed: Moment = Field(default=None, alias="changed_ms")
    ended: Moment = Field(default=None, alias="ended_ms")


class EngineOffer(Record):
    """One engine as a worker registered it."""

    engine: str
    version: str
    tasks: tuple[str, ...] = ()


class WorkerRecord(Record):
    """A worker and what it offers."""

    id: str
    name: str
    host: str
    state: str
    pid: int = 0
    version: str = ""
    cores: int
    memory_mb: int
    queues: Annotated[tuple[str, ...], BeforeValidator(_list)] = ()
    engines: Annotated[tuple[EngineOffer, ...], BeforeValidator(_list)] = ()
    workspace_seen: bool = False
    #: why it is quarantined
    reason: str = ""
    celery_queue: str = ""
    hostname: str = ""
    beat: Moment = Field(default=None, alias="beat_ms")
    registered: Moment = Field(default=None, alias="registered_ms")


class InboxEntry(BaseModel):
    """What a batch or a person says to a run."""

    model_config = ConfigDict(frozen=True, extra="allow")

    id: str
    kind: Literal["batch", "cancel", "answer", "approve", "reject", "revise", "look"]
    batch: str = ""
    #: the question that is answered, or the gate that is decided
    about: str = ""
    #: the answer, or the feedback
    text: str = ""
    #: who says it
    by: str = ""
    #: of a revision: the step to begin at
    step: int = 0
