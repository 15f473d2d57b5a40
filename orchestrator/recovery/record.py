"""What a run's state keeps of its recoveries: each is one action on failed jobs of a step, and what came of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from tasks.memory import Check, Parameters

#: the most recoveries, and failed jobs of each, that a state keeps by name
KEPT_RECOVERIES = 60
KEPT_JOBS = 20


class Action(StrEnum):
    """All that recovery may do."""

    RESUME = "resume_from_checkpoint"
    ENGINE = "other_engine"
    GEOMETRY = "other_start_geometry"
    RESOURCES = "more_resources"
    COARSER = "coarser_method"
    #: go on without what failed, and say so
    SKIP = "skip"
    ASK = "ask"


class RecoveryStatus(StrEnum):
    """What became of a recovery."""

    #: executed, and not judged yet
    OPEN = "open"
    #: executed, and its validator found everything right
    REPAIRED = "repaired"
    FAILED = "failed"
    #: it could not be judged, since its jobs were cancelled
    REJECTED = "rejected"
    #: a person is asked, or has answered
    ESCALATED = "escalated"
    #: nothing allowed was left, and nobody is asked
    EXHAUSTED = "exhausted"
    #: only looked at
    SHADOW = "shadow"


class Recovery(BaseModel):
    """One action on failed jobs of a step."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    step: int
    iteration: int = 0
    #: of the batch that was made in place of what failed; 0: none was
    round: int = 0
    #: of the failure; the same for the same kind of failure in every run
    signature: str
    error_class: str = ""
    message: str = ""
    action: Action
    source: Literal["memory", "policy", "diagnosis", "person"] = "diagnosis"
    parameters: Parameters = Field(default_factory=dict)
    #: what a reader has to know about results that it gave
    consequence: str = ""
    #: failed jobs that it is for (the first of them), and how many there are
    jobs: tuple[str, ...] = ()
    count: int = 0
    #: what people call these jobs
    labels: tuple[str, ...] = ()
    #: id of its episode
    episode: str = ""
    #: the episode or version of the policy that it was chosen by
    chosen_by: str = ""
    status: RecoveryStatus = RecoveryStatus.OPEN
    checks: tuple[Check, ...] = ()
    #: id of the question that a person is asked
    question: str = ""
    #: the answer was acted upon
    answered: bool = False

    @property
    def report(self) -> str:
        """What its validator found, in words."""
        failed = [check for check in self.checks if not check.passed]
        return "; ".join(dict.fromkeys(check.text or check.name for check in failed or self.checks))
