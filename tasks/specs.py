"""Specs: what one simulation is asked to do. A spec never changes once it is submitted."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from tasks import units
from tasks.elements import electron_count, parse_xyz
from tasks.errors import InputError
from tasks.methods import Family, find_basis, find_method, find_solvent

#: every name that becomes part of a path or a key
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Frozen(BaseModel):
    """Base of all specs: immutable, and nothing unknown is accepted."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Resources(Frozen):
    """What an attempt may use on its worker."""

    cores: int = Field(default=1, ge=1, le=4096)
    memory_mb: int = Field(default=2000, ge=64)
    walltime_seconds: int = Field(default=86_400, ge=10)

    @model_validator(mode="before")
    @classmethod
    def _as_people_write(cls, data: object) -> object:
        return units.amounts(data, "resources")


class Molecule(Frozen):
    """One molecule: as SMILES, or as XYZ text in ångström, or as both (the SMILES then says what the XYZ is)."""

    smiles: str | None = None
    xyz: str | None = None
    name: str = Field(default="", max_length=120)

    @model_validator(mode="after")
    def _given(self) -> Self:
        if not (self.smiles or "").strip() and not (self.xyz or "").strip():
            raise InputError("molecule", "", "is empty", "Give a SMILES such as 'C[N+](C)(C)C', or an XYZ block.")
        if self.xyz:
            parse_xyz(self.xyz)
        return self


class Job(Frozen):
    """What all specs have in common."""

    resources: Resources = Resources()
    #: what people call this job
    label: str = Field(default="", max_length=120)
    #: only workers that carry this tag take the job
    tag: str = Field(default="", pattern=r"^[a-z0-9-]{0,32}$")


class QuantumSpec(Job):
    """A quantum-chemical calculation on one molecule.

    Attributes
    ----------
    charge
        Total charge in elementary charges; None: taken from the SMILES.
    multiplicity
        2S+1; None: taken from the SMILES, or the lowest possible for an XYZ block.
    basis
        Basis set; None: def2-SVP, or none where the method brings its own.
    solvent
        Implicit solvent by name; None: gas phase.
    engine
        Which program; ``auto``: whichever workers offer for the method, which is never changed.
    """

    kind: Literal["quantum"] = "quantum"
    molecule: Molecule
    charge: int | None = Field(default=None, ge=-20, le=20)
    multiplicity: int | None = Field(default=None, ge=1, le=20)
    task: Literal["single_point", "optimisation"] = "single_point"
    method: str = "B3LYP"
    basis: str | None = None
    solvent: str | None = None
    engine: Literal["auto", "pyscf", "xtb"] = "auto"

    @field_validator("method")
    @classmethod
    def _method(cls, value: str) -> str:
        return find_method(value).name

    @field_validator("solvent")
    @classmethod
    def _solvent(cls, value: str | None) -> str | None:
        return find_solvent(value) if value else None

    @model_validator(mode="before")
    @classmethod
    def _american(cls, data: object) -> object:
        if isinstance(data, dict) and data.get("task") in ("optimization", "optimize", "optimise", "opt"):
            return {**data, "task": "optimisation"}
        if isinstance(data, dict) and data.get("task") in ("single point", "single-point", "energy", "sp"):
            return {**data, "task": "single_point"}
        return data

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        method = find_method(self.method)
        if method.family is Family.TIGHT_BINDING:
            if self.basis:
                raise InputError(
                    "basis",
                    self.basis,
                    f"cannot be chosen with {method.name}",
                    "It brings its own: leave it out.",
                )
        else:
            object.__setattr__(self, "basis", find_basis(self.basis or "def2-SVP"))
        if self.engine != "auto" and self.engine not in method.engines:
            remedy = f"{method.name} is computed by {', '.join(method.engines)}."
            raise InputError("engine", self.engine, f"does not offer {method.name}", remedy)
        if self.molecule.xyz and self.charge is not None and self.multiplicity is not None:
            check_electrons(self.molecule.xyz, self.charge, self.multiplicity)
        return self

    @property
    def program(self) -> str:
        """The engine that computes this, once chosen."""
        return self.engine


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


JobSpec = Annotated[QuantumSpec | ProgramSpec, Field(discriminator="kind")]
_ADAPTER: TypeAdapter[QuantumSpec | ProgramSpec] = TypeAdapter(JobSpec)


def check_electrons(xyz: str, charge: int, multiplicity: int) -> None:
    """Raise InputError if a molecule of that charge cannot have that multiplicity."""
    electrons = electron_count(parse_xyz(xyz), charge)
    if electrons < 0:
        raise InputError("charge", charge, "leaves fewer than no electrons", "Check the charge.")
    if electrons % 2 == multiplicity % 2 or multiplicity > electrons + 1:
        kind = "an even" if electrons % 2 == 0 else "an odd"
        right = "1, 3, 5 …" if electrons % 2 == 0 else "2, 4, 6 …"
        raise InputError(
            "multiplicity",
            multiplicity,
            f"is impossible with {electrons} electrons ({kind} number, charge {charge:+d})",
            f"Possible are {right}.",
        )


def engine_of(spec: QuantumSpec | ProgramSpec) -> str:
    """Give the engine that a spec asks for (``auto`` if none was chosen yet)."""
    return "program" if isinstance(spec, ProgramSpec) else spec.engine


def queue_of(spec: QuantumSpec | ProgramSpec) -> str:
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


def parse_spec(data: object, where: str = "") -> QuantumSpec | ProgramSpec:
    """Read a spec.

    Raises
    ------
    InputError
        With field, value and what would be right, for the first thing that is wrong.
    """
    if isinstance(data, dict) and "kind" not in data:
        data = {**data, "kind": "program" if "program" in data else "quantum"}
    try:
        return _ADAPTER.validate_python(data)
    except ValidationError as error:
        raise input_error(error, where) from None


def input_error(error: ValidationError, where: str = "") -> InputError:
    """Turn pydantic's report into our one message."""
    first = error.errors()[0]
    cause = first.get("ctx", {}).get("error")
    path = ".".join(str(part) for part in first["loc"] if part not in ("quantum", "program"))
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


def dump_spec(spec: QuantumSpec | ProgramSpec) -> dict[str, Any]:
    """Give a spec as plain JSON values."""
    return spec.model_dump(mode="json", exclude_none=True)


def spec_hash(value: Any) -> str:
    """Give the SHA-256 of a value's canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()
