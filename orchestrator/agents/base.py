"""What an agent is: it turns its step into exact specs, and the results of those jobs into findings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from orchestrator.state import Finding, Goal, Plan, Species, Step, Usage
from tasks.results import AnyResult, Artifact, Failure
from tasks.settings import Settings
from tasks.specs import AnySpec


@dataclass(frozen=True, kw_only=True)
class JobResult:
    """What became of one job of a step."""

    job_id: str
    spec: AnySpec
    #: ``SUCCEEDED``, ``FAILED`` or ``CANCELLED``
    state: str
    result: AnyResult | None = None
    failure: Failure | None = None
    artifacts: tuple[Artifact, ...] = ()
    compute_seconds: float = 0.0

    @property
    def reason(self) -> str:
        """Why it gave no result, in words that follow its name."""
        if self.state == "CANCELLED":
            return "was cancelled"
        if self.failure is None:
            return "ended without a result"
        remedy = f" ({self.failure.remedy})" if self.failure.remedy else ""
        return f"{self.failure.message.rstrip('.')} [{self.failure.error_class}]{remedy}"


@dataclass(frozen=True, kw_only=True)
class Context:
    """What an agent sees of the run besides its step.

    Attributes
    ----------
    workspace
        The shared folder; artifacts are relative to it.
    folder
        The run's own folder in it, where an agent may write new files.
    offered
        Engines that workers have declared, for resolving ``auto``.
    plan
        The run's plan with the states of its steps, for the report.
    settings
        The installation's, for agents whose tools are services elsewhere.
    """

    run_id: str
    request: str
    species: tuple[Species, ...]
    findings: tuple[Finding, ...]
    workspace: Path
    folder: Path
    offered: frozenset[str] = frozenset()
    plan: Plan = field(default_factory=Plan)
    #: of the installation, for agents that ask services elsewhere; None: the defaults
    settings: Settings | None = None
    #: of the summary: the answer as a language model worded it, checked; empty: the findings' own sentences
    prose: str = ""
    #: of the summary: what became of that; empty: no language model was asked
    prose_note: str = ""
    #: of the summary: what the run has used of a language model
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, kw_only=True)
class Work:
    """What a step needs next: jobs to be computed, or nothing more because it is done with these findings."""

    specs: tuple[AnySpec, ...] = ()
    #: estimated cost of the specs together; None: not known
    core_seconds: float | None = None
    finding: Finding | None = None
    #: molecules as this step knows them now; None: unchanged
    species: tuple[Species, ...] | None = None
    #: why the step cannot be done; empty: it can
    error: str = ""


class Agent(ABC):
    """One agent; adding one is one file and one entry in ``orchestrator.agents``."""

    name: ClassVar[str]
    #: what it is for, in a line
    description: ClassVar[str]
    #: what it can do, one short phrase each
    abilities: ClassVar[tuple[str, ...]] = ()
    #: the programs, libraries and services that it uses
    tools: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def plan_jobs(self, step: Step, context: Context) -> Work:
        """Begin a step: give the exact specs of its first round, or its findings if no job is needed."""

    @abstractmethod
    def interpret(self, step: Step, context: Context, results: Sequence[JobResult]) -> Work:
        """Look at the results of the newest round: give findings, or the specs of another round."""


__all__ = ["Agent", "Context", "Finding", "Goal", "JobResult", "Species", "Step", "Work"]
