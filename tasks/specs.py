"""All specs: what one simulation is asked to do. A spec never changes once it is submitted.

A new kind of simulation is a module with its spec (a ``Job`` with ``kind``, ``engine``, ``task``), and an entry here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError, field_validator

from tasks.dynamics import DynamicsSpec
from tasks.errors import InputError
from tasks.jobspec import NAME, Frozen, Job, Molecule, Resources
from tasks.quantum import QuantumSpec, check_electrons
from tasks.swarms import EvaluationSpec, SwarmSpec
from tasks.wavefunctions import WavefunctionSpec

__all__ = [
    "NAME", "AnySpec", "DynamicsSpec", "EvaluationSpec", "Frozen", "Job", "JobSpec", "Molecule", "ProgramSpec",
    "QuantumSpec", "Resources", "SwarmSpec", "WavefunctionSpec", "canonical_json", "check_electrons", "dump_spec",
    "engine_of", "input_error", "kind_of", "parse_spec", "queue_of", "spec_hash",
]  # fmt: skip


class ProgramSpec(Job):
    """A run of a command-line program that the operator has declared."""

    kind: Literal["program"] = "program"
    program: str
    parameters: dict[str, str | int | float | bool] = Field(default_factory=dict)

    @field_validator("program")
    @classmethod
    def _name(cls, value: str) -> str:
        if not NAME.fullmatch(value):
            raise InputError("program", value, "is not a name", "Give the name of a program that a worker declares.")
        return value

    @property
    def task(self) -> str:
        """What is done, for listings: a program has one task, itself."""
        return self.program


AnySpec = QuantumSpec | DynamicsSpec | SwarmSpec | EvaluationSpec | WavefunctionSpec | ProgramSpec
JobSpec = Annotated[AnySpec, Field(discriminator="kind")]
_ADAPTER: TypeAdapter[AnySpec] = TypeAdapter(JobSpec)
#: the values of ``kind``, which pydantic puts into the path of an error
KINDS = ("quantum", "dynamics", "swarm", "evaluation", "wavefunction", "program")


def engine_of(spec: AnySpec) -> str:
    """Give the engine that a spec asks for (``auto`` if none was chosen yet)."""
    return "program" if isinstance(spec, ProgramSpec) else spec.engine


def queue_of(spec: AnySpec) -> str:
    """Give the queue of a spec: engine (a program: its name as well) and tag.

    Raises
    ------
    InputError
        If the engine is still ``auto``.
    """
    engine = engine_of(spec)
    if engine == "auto":
        raise InputError(
            "engine", "auto", "was not resolved before submission", "Choose an engine that a worker offers."
        )
    queue = f"program.{spec.program}" if isinstance(spec, ProgramSpec) else engine
    return f"{queue}@{spec.tag}" if spec.tag else queue


def kind_of(data: Mapping[str, object]) -> str:
    """Give the kind of a spec that does not say it."""
    return "program" if "program" in data else "wavefunction" if "analyses" in data else "quantum"


def parse_spec(data: object, where: str = "") -> AnySpec:
    """Read a spec.

    Raises
    ------
    InputError
        With field, value and what would be right, for the first thing that is wrong.
    """
    if isinstance(data, dict) and "kind" not in data:
        data = {**data, "kind": kind_of(data)}
    try:
        return _ADAPTER.validate_python(data)
    except ValidationError as error:
        raise input_error(error, where) from None


def input_error(error: ValidationError, where: str = "") -> InputError:
    """Turn pydantic's report into our one message."""
    first = error.errors()[0]
    cause = first.get("ctx", {}).get("error")
    path = ".".join(str(part) for part in first["loc"] if part not in KINDS)
    field = ", ".join(filter(None, (where, path)))
    if isinstance(cause, InputError):
        return InputError(", ".join(filter(None, (where, cause.field))), cause.value, cause.problem, cause.remedy)
    known = {"extra_forbidden": "is not a field of this kind of job", "missing": "is missing"}
    problem = known.get(first["type"], first["msg"][0].lower() + first["msg"][1:])
    value = "" if first["type"] == "missing" else first["input"]
    return InputError(field or "spec", value, problem, "See `simrelay schema` for what each field takes.")


def canonical_json(value: Any) -> str:
    """Give JSON with sorted keys and no blanks: equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def dump_spec(spec: AnySpec) -> dict[str, Any]:
    """Give a spec as plain JSON values."""
    return spec.model_dump(mode="json", exclude_none=True)


def spec_hash(value: Any) -> str:
    """Give the SHA-256 of a value's canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()
