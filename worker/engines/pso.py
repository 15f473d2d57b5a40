"""Swarms over cations and their evaluations (``worker.programs.swarm_job`` and ``evaluation_job``)."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import ValidationError

from tasks.results import EvaluationResult, Failure, Progress, SwarmResult
from tasks.specs import EvaluationSpec, Resources, SwarmSpec, canonical_json, dump_spec
from worker.engines.base import Bench, Child, Children, Collected, Command, Engine, Exit, Offer, Snapshot
from worker.engines.openmp import has_system_openmp, installed_openmp, openmp_environment
from worker.engines.output import LOG_FILE, evidence, failure_from_log, last_line, tail
from worker.engines.quantum import installed_version, own_packages, thread_environment
from worker.loading import check_trouble
from worker.programs import common
from worker.programs.swarm_request import REQUEST_FILE, WAITING_MARK, Request, Returned, SwarmJob

# Named here as well, since their modules load numpy and RDKit.
_STATE_FILE, _DONE_FILE = "state.json", "done.json"
#: packages that its programs load; numpy comes with tblite
_PACKAGES = ("tblite", "ase", "rdkit", "matplotlib")
#: files of a swarm to keep, by role
_SWARM_FILES = {
    "log": LOG_FILE,
    "state": _STATE_FILE,
    "best_solutions": "best_solutions.csv",
    "history": "best_fitness_history.csv",
    "recovery_trace": "recovery_trace.jsonl",
    "progress_figure": "progress.png",
    "structures_figure": "top_structures.png",
}
AnyOfIts = SwarmSpec | EvaluationSpec


class ParticleSwarm(Engine[AnyOfIts]):
    """A swarm waits for its evaluations without a slot; both go on from what was done."""

    name: ClassVar[str] = "pso"
    needs: ClassVar[str] = "pip install 'simrelay[worker,swarm]'"
    #: both programs end at once on SIGTERM: their restart points are already in place
    stop_grace_seconds: ClassVar[float] = 10.0

    @classmethod
    def detect(cls) -> Offer | None:
        """Look for the packages that its programs load, and for the OpenMP library that tblite needs."""
        if cls._missing():
            return None
        command = (sys.executable, "-P", "-m")
        version = f"tblite {installed_version('tblite')}, rdkit {installed_version('rdkit')}"
        return Offer(engine=cls.name, version=version, command=command, tasks=("swarm", "evaluation"))

    @staticmethod
    def _missing() -> list[str]:
        missing = [package for package in _PACKAGES if not installed_version(package)]
        if not (has_system_openmp() or installed_openmp()):
            missing.append("libgomp (or cmeel-libomp)")
        return missing

    def trouble(self) -> str:
        """Name what its programs need and this host has not, or what they cannot load."""
        if found := super().trouble():
            return found
        if self.offer.command[0] == sys.executable and (missing := self._missing()):
            return f"not installed: {', '.join(missing)}; install simrelay[swarm]"
        environment = {**self.offer.environment, **own_packages(), **openmp_environment()}
        checks = (
            (*self.offer.command, f"worker.programs.{name}_job", common.CHECK) for name in ("swarm", "evaluation")
        )
        return next((found for check in checks if (found := check_trouble(check, environment))), "")

    def prepare(self, bench: Bench[AnyOfIts]) -> Sequence[Command]:
        """Write the job file with what came back from the jobs that were waited for, and the restart point."""
        if isinstance(bench.spec, SwarmSpec):
            program, kept = "swarm", _STATE_FILE
            returned = None if bench.children is None else tuple(_returned(child) for child in bench.children)
            job = SwarmJob(spec=bench.spec, returned=returned).model_dump_json()
        else:
            program, kept = "evaluation", _DONE_FILE
            facts = {"memory_mb": bench.memory_mb, "failures": bench.failures}
            job = canonical_json({"spec": dump_spec(bench.spec), **facts})
        common.write_atomically(bench.scratch / common.JOB_FILE, job)
        if bench.restart and (bench.restart / kept).is_file():
            shutil.copyfile(bench.restart / kept, bench.scratch / kept)
        elif bench.inputs and (bench.inputs / "state").is_file():
            shutil.copyfile(bench.inputs / "state", bench.scratch / kept)
        environment = {
            **self.offer.environment,
            **thread_environment(bench.cores),
            **own_packages(),
            **openmp_environment(),
            "MPLCONFIGDIR": str(bench.scratch),
        }
        argv = (*self.offer.command, f"worker.programs.{program}_job", common.JOB_FILE)
        return (Command(argv=argv, environment=environment, output=LOG_FILE),)

    def progress(self, bench: Bench[AnyOfIts]) -> Progress | None:
        """Read ``progress.json``."""
        path = bench.scratch / common.PROGRESS_FILE
        return Progress.model_validate_json(path.read_bytes()) if path.exists() else None

    def snapshot(self, bench: Bench[AnyOfIts]) -> Snapshot | None:
        """Name the restart point, which is replaced in one step."""
        path = bench.scratch / (_STATE_FILE if isinstance(bench.spec, SwarmSpec) else _DONE_FILE)
        if not path.exists():
            return None
        progress = self.progress(bench)
        return Snapshot(files=(path,), text=progress.text if progress else "the state that it began from")

    def children(self, bench: Bench[AnyOfIts]) -> Children | None:
        """Give the evaluations that the swarm waits for, if its program ended for their sake."""
        if not isinstance(bench.spec, SwarmSpec) or last_line(bench.scratch / LOG_FILE) != WAITING_MARK:
            return None
        request = Request.model_validate_json((bench.scratch / REQUEST_FILE).read_bytes())
        spec = bench.spec
        # What stops a job at its time is the program itself, so that nothing of what it did is lost.
        walltime = max(10, spec.step_seconds + 600)
        resources = Resources(cores=1, memory_mb=spec.evaluation_memory_mb, walltime_seconds=walltime)
        return Children(
            name=request.name,
            specs=tuple(
                EvaluationSpec(
                    molecules=group,
                    properties=spec.computed,
                    relax=spec.relax,
                    limit_seconds=spec.step_seconds,
                    resources=resources,
                    label=f"{request.name}, {len(group)} molecules",
                    tag=spec.tag,
                )
                for group in request.jobs
            ),
        )

    def ended_well(self, bench: Bench[AnyOfIts], exits: Sequence[Exit]) -> bool:
        """Look for the mark as the last line of the output, and for a complete result."""
        program = "swarm" if isinstance(bench.spec, SwarmSpec) else "evaluation"
        if last_line(bench.scratch / LOG_FILE) != common.ended_mark(program):
            return False
        return self._result(bench) is not None

    def diagnose(self, bench: Bench[AnyOfIts], exits: Sequence[Exit]) -> Failure:
        """Take the program's own reason; without one, what exit and output tell."""
        path, log = bench.scratch / common.FAILURE_FILE, bench.scratch / LOG_FILE
        if path.exists():
            return Failure.model_validate_json(path.read_bytes())
        if any(exit.code == common.EXIT_STOPPED for exit in exits):
            return Failure(error_class="killed", message="The program was stopped by SIGTERM before its end.")
        if lines := [line for line in tail(log) if line.startswith(("ModuleNotFoundError", "ImportError"))]:
            return Failure(
                error_class="program_failed",
                message="The program could not be loaded on this host.",
                evidence=evidence(lines),
                remedy="Install simrelay[swarm], or detect the engines of this host anew.",
                before_start=True,
            )
        return failure_from_log(log, exits)

    def collect(self, bench: Bench[AnyOfIts]) -> Collected:
        """Read ``result.json``, and name the files to keep."""
        result = self._result(bench)
        if result is None:
            raise FileNotFoundError(bench.scratch / common.RESULT_FILE)
        named = _SWARM_FILES if isinstance(bench.spec, SwarmSpec) else {"log": LOG_FILE}
        paths: dict[str, Path] = {role: bench.scratch / name for role, name in named.items()}
        return Collected(result=result, files={role: path for role, path in paths.items() if path.exists()})

    def _result(self, bench: Bench[AnyOfIts]) -> SwarmResult | EvaluationResult | None:
        kind = SwarmResult if isinstance(bench.spec, SwarmSpec) else EvaluationResult
        try:
            return kind.model_validate_json((bench.scratch / common.RESULT_FILE).read_bytes())
        except (FileNotFoundError, ValidationError):
            return None


def _returned(child: Child) -> Returned:
    """Give what a job that was waited for brought back."""
    smiles = tuple(one.smiles for one in child.spec.molecules) if isinstance(child.spec, EvaluationSpec) else ()
    if isinstance(child.result, EvaluationResult):
        return Returned(smiles=smiles, evaluated=child.result.molecules, not_reached=child.result.not_reached)
    ended = Failure(error_class="cancelled", message=f"its job {child.job_id} ended {child.state.value}")
    return Returned(smiles=smiles, failure=child.failure or ended)
