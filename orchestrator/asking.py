"""What a caller chose for a run, and what people are asked: questions, and gates that they open or close."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class Part(BaseModel):
    """Base of everything in the state: immutable; fields of a newer version are dropped on reading."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Pipeline(StrEnum):
    """How far people are in the loop."""

    #: no gates: plan, execute, report
    SHORT = "short"
    #: the plan is approved before anything of it begins, and so is what costs more than the plan said
    FULL = "full"
    #: as full, and the results are reviewed before the report: approved, or revised from a named step on
    LOOPED = "looped"


class Options(Part):
    """What the caller chose for a run; it stands in the run's record, since LangGraph's config is not checkpointed."""

    #: the agent that the request is for; empty: the supervisor decides
    agent: str = ""
    #: the agents that may be used; empty: all
    agents: tuple[str, ...] = ()
    pipeline: Pipeline = Pipeline.SHORT
    #: how often a looped run may be revised
    max_iterations: int = Field(default=3, ge=1, le=20)
    #: whether a language model may be asked, if one is configured
    model: bool = True


class Candidate(Part):
    """One thing that a question can be answered with."""

    value: str
    #: what it means, in words
    text: str


class Question(Part):
    """What only a person can say; the run waits for it."""

    id: str
    text: str
    candidates: tuple[Candidate, ...] = ()
    #: whether only a candidate's value is an answer
    closed: bool = True
    #: what asked: ``supervisor``, or a step's agent
    asked_by: str = "supervisor"
    #: the step that it belongs to; 0: none
    step: int = 0
    answer: str = ""
    #: who answered
    by: str = ""

    @property
    def open(self) -> bool:
        """Whether it waits for its answer."""
        return not self.answer


class GateKind(StrEnum):
    """What a gate is in front of."""

    #: the plan, before anything of it begins
    PLAN = "plan"
    #: one batch of exact specs that costs more than was approved
    COST = "cost"
    #: the report, after everything else was done
    REVIEW = "review"


class GateStatus(StrEnum):
    """What became of a gate."""

    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"
    REVISED = "revised"
    EXPIRED = "expired"


class Gate(Part):
    """What a person has to approve before it goes on; it is bound to the hash of exactly what was shown."""

    id: str
    kind: GateKind
    #: SHA-256 of the canonical JSON of what is approved
    hash: str
    #: what is asked, for people
    text: str
    steps: tuple[int, ...] = ()
    iteration: int = 0
    #: estimated; None: not known
    core_seconds: float | None = None
    expires: datetime
    status: GateStatus = GateStatus.OPEN
    by: str = ""
    feedback: str = ""

    @property
    def open(self) -> bool:
        """Whether it waits for a person."""
        return self.status is GateStatus.OPEN


def next_number(asked: Sequence[Gate | Question]) -> int:
    """Give the number of what is asked next: above all there are, since a run taken up again has lost some."""
    return max((int(one.id.rpartition("-")[2]) for one in asked), default=0) + 1
