"""Properties of many small molecules by GFN2-xTB in water, one after the other.

Run as ``python -m worker.programs.evaluation_job job.json``. Each molecule is computed by the program of the engine
``xtb``, so that the numbers are those of a quantum job. After each molecule the results so far are a restart point; a
molecule at which the program failed twice is passed over and said to have done so.
"""

from __future__ import annotations

import time
from importlib.metadata import version
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from tasks.results import Evaluated, EvaluationResult, Progress
from tasks.specs import EvaluationSpec
from tasks.swarms import PROPERTIES, Candidate
from worker.programs import xtb_job
from worker.programs.common import Desk, JobFailed, QuantumJob, run_program, say, write_atomically
from worker.programs.swarm_molecules import broken_bond, keep_rdkit_quiet
from worker.programs.swarm_request import LEVEL

DONE_FILE = "done.json"
#: how often the program may fail at a molecule before it is passed over
_FAILURES = 2


class Done(BaseModel):
    """What is done, as ``done.json`` holds it."""

    model_config = ConfigDict(frozen=True)

    evaluated: tuple[Evaluated, ...] = ()
    #: the molecule that is being computed, with the failures that the job had when it was begun
    begun: dict[str, int] = Field(default_factory=dict)


class EvaluationJob(BaseModel):
    """The job file: the spec, the memory that the program may use, and how many attempts have failed."""

    model_config = ConfigDict(frozen=True)

    spec: EvaluationSpec
    memory_mb: int
    failures: int = 0


def evaluate(candidate: Candidate, job: EvaluationJob, folder: Path) -> Evaluated:
    """Compute one molecule; what cannot be computed is told as its error."""
    smiles, spec = candidate.smiles, job.spec
    quantum = QuantumJob(
        xyz=candidate.xyz,
        charge=candidate.charge,
        multiplicity=1,
        task="optimisation" if spec.relax else "single_point",
        method="GFN2-xTB",
        solvent="water",
        solvent_model="ALPB",
        memory_mb=job.memory_mb,
        max_scf_cycles=250,
    )
    try:
        result = xtb_job.calculate(quantum, Desk(folder))
    except JobFailed as failed:
        return Evaluated(smiles=smiles, error=f"{failed.failure.error_class}: {failed.failure.message}")
    finally:
        # The next molecule must not find the restart point of this one.
        (folder / "restart.json").unlink(missing_ok=True)
    if spec.relax and (bond := broken_bond(smiles, result.xyz or "")):
        return Evaluated(smiles=smiles, error=f"fell apart when it was relaxed: {bond}")
    found = {"lumo_ev": result.lumo_ev, "gap_ev": result.gap_ev}
    values = {name: found[name] for name in spec.properties if PROPERTIES[name].by == "gfn2"}
    if missing := [name for name, value in values.items() if value is None]:
        return Evaluated(smiles=smiles, error=f"GFN2-xTB gave no {', '.join(missing)}")
    if "sn2_barrier_kcal_per_mol" in spec.properties:
        from worker.programs.barrier import NoReaction, sn2_barrier

        try:
            values["sn2_barrier_kcal_per_mol"] = sn2_barrier(smiles, result.xyz or candidate.xyz, candidate.charge)
        except NoReaction as error:
            return Evaluated(smiles=smiles, error=f"SN2 barrier: {error}")
    return Evaluated(smiles=smiles, values={name: value for name, value in values.items() if value is not None})


def calculate(job: EvaluationJob, desk: Desk) -> EvaluationResult:
    """Do one job, and give what came out."""
    path, molecules = desk.folder / DONE_FILE, job.spec.molecules
    done = Done.model_validate_json(path.read_bytes()) if path.exists() else Done()
    known = {one.smiles: one for one in done.evaluated}
    if known:
        say(f"RESTARTED after {len(known)} of {len(molecules)} molecules.")
    began, not_reached = time.monotonic(), []
    for number, candidate in enumerate(molecules, 1):
        smiles = candidate.smiles
        if smiles in known:
            continue
        if time.monotonic() - began > job.spec.limit_seconds:
            not_reached.append(smiles)
            continue
        # Being interrupted is no failure: a molecule is not blamed for what befell its worker.
        first = done.begun.get(smiles, job.failures)
        desk.progress(Progress(text=f"molecule {number} of {len(molecules)}", step=number, total=len(molecules)))
        say(f"EVALUATING {number} of {len(molecules)}: {smiles}")
        if job.failures - first >= _FAILURES:
            known[smiles] = Evaluated(smiles=smiles, error=f"ended the program {_FAILURES} times")
        else:
            done = done.model_copy(update={"begun": {smiles: first}})
            write_atomically(path, done.model_dump_json())
            known[smiles] = evaluate(candidate, job, desk.folder)
        done = Done(evaluated=tuple(known.values()))
        write_atomically(path, done.model_dump_json())
    return EvaluationResult(
        molecules=tuple(known[one.smiles] for one in molecules if one.smiles in known),
        not_reached=tuple(not_reached),
        engine="pso",
        engine_version=f"tblite {version('tblite')}",
        level=f"{LEVEL}, {'relaxed' if job.spec.relax else 'force-field geometries'}",
    )


def main() -> None:
    """Run the job that the command line names."""
    keep_rdkit_quiet()
    run_program("evaluation", calculate, EvaluationJob)


if __name__ == "__main__":
    main()
