"""Records as the API gives them: the same fields, with moments as ISO 8601 text instead of the store's milliseconds."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from orchestrator.state import RunState
from tasks.counts import Counts, Held
from tasks.memory import Episode, Noted, Parameters, Rule, Version
from tasks.records import AttemptRecord, BatchRecord, JobRecord, RunRecord, WorkerRecord
from tasks.results import Artifact, Failure


class View(BaseModel):
    """Base of the answers; what a newer service adds is left out."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class JobView(JobRecord):
    """A job; in listings without its spec."""

    spec: dict[str, Any] = Field(default_factory=dict)
    created: datetime | None = None
    queued: datetime | None = None
    claimed: datetime | None = None
    started: datetime | None = None
    ended: datetime | None = None


class AttemptView(AttemptRecord):
    """One try at a job."""

    started: datetime | None = None
    ended: datetime | None = None


class RunRecordView(RunRecord):
    """A run's record."""

    created: datetime | None = None
    changed: datetime | None = None
    ended: datetime | None = None


class BatchView(BatchRecord):
    """A batch; open: jobs that have not ended."""

    created: datetime | None = None
    complete: datetime | None = None
    open: int = 0


class WorkerView(WorkerRecord):
    """A worker, and what its jobs take of it."""

    beat: datetime | None = None
    registered: datetime | None = None
    held: Held = Held()


class RunView(View):
    """A run with its newest checkpointed state, its batches, and at most some hundred of its jobs."""

    run: RunRecordView
    state: RunState | None = None
    batches: tuple[BatchView, ...] = ()
    jobs: tuple[JobView, ...] = ()
    more_jobs: bool = False
    workspace: str = ""


class JobDetail(View):
    """A job with its spec and attempts."""

    job: JobView
    attempts: tuple[AttemptView, ...] = ()
    workspace: str = ""


class Created(View):
    """The run that a request led to: ``created``, ``exists`` or ``attached``."""

    run: str
    answer: str


class Answered(View):
    """What became of a cancel."""

    answer: str
    state: str = ""


class EventView(View):
    """Something that a run told; of the kind ``lost``, without a number: how many are kept no longer, and the first
    that is."""

    run: str
    sequence: int = 0
    time: datetime | None = None
    kind: str
    data: dict[str, Any] = Field(default_factory=dict)


class EventPage(View):
    """Events that follow a number; after: where the next page begins; ended: there will be no more."""

    run: str
    events: tuple[EventView, ...] = ()
    after: int = 0
    first: int = 1
    lost: int = 0
    ended: bool = False


class AgentView(View):
    """An agent: what it is for, what it can do, and with what."""

    name: str
    description: str
    abilities: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


class WorkerAnswer(View):
    """What became of a change of a worker."""

    worker: str
    answer: str
    state: str


class FileView(View):
    """A file in the workspace that a user put there."""

    #: its id
    file: str
    path: str
    size_bytes: int


class Change(View):
    """What a change did to one job: ``ok``, ``requested``, ``already``, ``refused``, ``unknown``; or ``would``."""

    job: str
    answer: str
    state: str = ""
    label: str = ""
    owner: str = ""
    #: of a retry or rerun: the new job
    new_job: str = ""


class Changed(View):
    """What a change of jobs did; batch: the one that holds what a retry or rerun made."""

    changes: tuple[Change, ...] = ()
    batch: str = ""
    dry_run: bool = False


class BatchAnswer(View):
    """A batch, and what became of a change of it: ``created``, ``exists``, ``valid``, ``ok``, …"""

    batch: dict[str, Any]
    answer: str = ""
    workspace: str = ""


class RunPage(View):
    """A page of runs."""

    runs: tuple[RunRecordView, ...]
    cursor: str = ""


class JobPage(View):
    """A page of jobs; incomplete: why the search index may miss some."""

    jobs: tuple[JobView, ...]
    cursor: str = ""
    total: int | None = None
    incomplete: str = ""


class BatchPage(View):
    """A page of batches."""

    batches: tuple[BatchView, ...]
    cursor: str = ""


class ResultRow(View):
    """What came out of one job of a batch."""

    index: int
    job: str
    label: str = ""
    smiles: str = ""
    engine: str = ""
    task: str = ""
    state: str
    result: dict[str, Any] | None = None
    failure: Failure | None = None
    compute_seconds: float = 0.0
    artifacts: tuple[Artifact, ...] = ()


class EpisodeView(Episode):
    """One recovery that is remembered."""

    created: datetime | None = None
    changed: datetime | None = None


class EpisodePage(View):
    """A page of episodes."""

    episodes: tuple[EpisodeView, ...]
    cursor: str = ""


class EpisodeDetail(View):
    """One episode, and why it is not recalled; empty: it is."""

    episode: EpisodeView
    not_recalled: str = ""


class ProposalView(View):
    """What memory or policy would try for a failure."""

    signature: str
    action: str
    parameters: Parameters = Field(default_factory=dict)
    source: str
    by: str = ""


class Recalled(View):
    """What would be tried for some failures, best first."""

    signatures: tuple[str, ...]
    proposals: tuple[ProposalView, ...]


class Decided(View):
    """What became of a decision: ``ok``, or ``already``."""

    answer: str


class VersionView(Version):
    """A version of the policy."""

    created: datetime | None = None


class NotedView(Noted):
    """A line of the memory's account."""

    at: datetime | None = None


class PolicyView(View):
    """The policy as it stands."""

    active: int
    rules: dict[str, Rule]
    versions: tuple[VersionView, ...] = ()
    audit: tuple[NotedView, ...] = ()


class Promoted(View):
    """A new version of the policy, and its rule."""

    version: int
    signature: str
    rule: Rule


class Log(View):
    """The end of what a job's program wrote."""

    job: str
    attempt: int
    path: str
    text: str


class Why(View):
    """Why a job has not started."""

    model_config = ConfigDict(frozen=True, extra="allow")

    job: str
    sentence: str


class StatusView(Counts):
    """Counts of the installation."""

    version: str = ""
    workspace: str = ""
