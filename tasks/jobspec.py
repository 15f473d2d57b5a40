"""What the specs of all engines have in common: resources, label, tag, and files of other jobs to work on."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from tasks import units
from tasks.elements import parse_xyz
from tasks.errors import InputError

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


def _inside_workspace(value: str) -> str:
    path = PurePosixPath(value)
    if not value or path.is_absolute() or ".." in path.parts or path.as_posix() != value:
        raise ValueError(f"{value!r} is not a path within the workspace")
    return value


class InputFile(Frozen):
    """A file in the workspace that a job works on, exactly: a worker refuses another content under that path."""

    #: relative to the workspace
    path: Annotated[str, AfterValidator(_inside_workspace)]
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size_bytes: int = Field(ge=0)


class Job(Frozen):
    """What all specs have in common."""

    resources: Resources = Resources()
    #: what people call this job
    label: str = Field(default="", max_length=120)
    #: only workers that carry this tag take the job
    tag: str = Field(default="", pattern=r"^[a-z0-9-]{0,32}$")
    #: files to work on, by the name under which the engine finds them
    inputs: dict[Annotated[str, Field(pattern=rf"^{NAME.pattern}$")], InputFile] = Field(default_factory=dict)
