from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from orchestrator.agents import AGENTS, Context, JobResult, Work
from orchestrator.handover import seen_by
from orchestrator.planning import make_plan
from orchestrator.state import Finding, Plan, Species, Step, StepStatus
from orchestrator.steps import with_molecules
from tasks.results import Failure, QuantumResult
from tasks.specs import AnySpec, QuantumSpec


@dataclass
class Walk:
    """A run's steps taken one by one by their agents, with results given by hand."""

    text: str
    workspace: Path
    plan: Plan = field(default_factory=Plan)
    species: tuple[Species, ...] = ()
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        _, self.plan, self.species = make_plan(self.text)

    @property
    def context(self) -> Context:
        return Context(
            run_id="run-1",
            request=self.text,
            species=self.species,
            findings=self.findings,
            workspace=self.workspace,
            folder=self.workspace / "runs" / "run-1",
            offered=frozenset({"pyscf", "xtb"}),
            plan=self.plan,
        )

    def step(self, number: int) -> Step:
        return self.plan.step(number)

    def begin(self, number: int) -> Work:
        return self._take(number, AGENTS[self.step(number).agent].plan_jobs(self.step(number), self._of(number)))

    def end(self, number: int, results: list[JobResult]) -> Work:
        return self._take(
            number, AGENTS[self.step(number).agent].interpret(self.step(number), self._of(number), results)
        )

    def _of(self, number: int) -> Context:
        return replace(self.context, species=seen_by(self.step(number), self.plan, self.species))

    def _take(self, number: int, work: Work) -> Work:
        if work.species is not None:
            self.species = with_molecules(self.species, self.step(number), work.species)
        if work.finding is not None:
            self.findings += (work.finding,)
            self.plan = self.plan.replace(self.step(number).model_copy(update={"status": StepStatus.DONE}))
        return work


def result(spec: AnySpec, **values: object) -> JobResult:
    """Give a job that succeeded with these values, on the geometry that it was given."""
    assert isinstance(spec, QuantumSpec)
    base = QuantumResult(
        energy_hartree=-1.0, xyz=spec.molecule.xyz, engine=spec.engine, engine_version="1.0", level=spec.method
    )
    return JobResult(
        job_id=f"job-{spec.label}",
        spec=spec,
        state="SUCCEEDED",
        result=base.model_copy(update=values),
        compute_seconds=2.0,
    )


def failure(spec: AnySpec, message: str = "The SCF did not converge in 100 cycles.") -> JobResult:
    """Give a job that failed."""
    reason = Failure(error_class="scf_not_converged", message=message, remedy="Try another starting geometry.")
    return replace(result(spec), state="FAILED", result=None, failure=reason)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "workspace"
