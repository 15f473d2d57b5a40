"""Failed jobs by hand: their specs are real, and what became of them is told."""

from __future__ import annotations

from orchestrator.recovery.classify import Failed
from tasks.records import JobRecord
from tasks.results import Artifact, Checkpoint, Failure, QuantumResult
from tasks.specs import AnySpec, dump_spec, engine_of, parse_spec

#: a molecule of several conformers
PROPANOL = {"smiles": "CCCO", "name": "propanol"}
WATER = "3\nwater\nO 0 0 0.119262\nH 0 0.763239 -0.477047\nH 0 -0.763239 -0.477047\n"


def quantum(**fields: object) -> AnySpec:
    """Give a DFT single point of water, with some fields changed."""
    common = {"molecule": {"smiles": "O", "xyz": WATER}, "charge": 0, "multiplicity": 1, "engine": "pyscf"}
    return parse_spec({**common, "method": "B3LYP", "basis": "def2-TZVP", **fields})


def checkpoint(number: int = 3) -> Checkpoint:
    return Checkpoint(number=number, files=(Artifact(path="restart", size_bytes=1, sha256="00"),))


def failed(spec: AnySpec | None = None, error_class: str = "scf_not_converged", **more: object) -> Failed:
    """Give a job that failed."""
    failure = Failure(error_class=error_class, message="It failed.", evidence=("the decisive line",))
    values: dict[str, object] = {"root": "j1", "job": "j1", "spec": spec or quantum(), "failure": failure, **more}
    return Failed(**values)  # type: ignore[arg-type]


def record(job: str, spec: AnySpec, state: str, error_class: str = "", **more: object) -> JobRecord:
    """Give a job's record."""
    failure = Failure(error_class=error_class, message="It failed.") if error_class else None
    values = {
        "id": job, "state": state, "owner": "ana", "queue": engine_of(spec), "engine": engine_of(spec),
        "task": str(spec.task), "spec": dump_spec(spec), "failure": failure, **more,
    }  # fmt: skip
    return JobRecord.model_validate(values)


def result(engine: str = "pyscf", level: str = "B3LYP/def2-TZVP (density fitting)", **more: object) -> QuantumResult:
    """Give what a calculation gave."""
    return QuantumResult.model_validate({"energy_hartree": -76.4, "engine": engine, "level": level, **more})
