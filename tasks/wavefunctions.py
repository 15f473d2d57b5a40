"""The spec of a wavefunction analysis: what is wanted of the orbitals that an earlier calculation left."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from tasks.errors import InputError
from tasks.jobspec import Job

Analysis = Literal[
    "orbitals", "composition", "mulliken", "loewdin", "hirshfeld", "cubes", "pictures", "density", "potential"
]  # fmt: skip
ANALYSES: tuple[Analysis, ...] = (
    "orbitals", "composition", "mulliken", "loewdin", "hirshfeld", "cubes", "pictures", "density", "potential",
)  # fmt: skip
#: the name of the one input: PySCF's checkpoint file, or a molden file
SOURCE = "wavefunction"
#: roles of artifacts that can be that input, the better first
SOURCE_ROLES = ("orbitals", "molden")
#: the most orbitals of one job that cubes or pictures are made of
MAX_ORBITALS = 20

_ORBITAL = re.compile(r"(?:(HOMO)(?:-(\d{1,3}))?|(LUMO)(?:\+(\d{1,3}))?|(\d{1,5}))( alpha| beta)?")


def _orbital(value: str) -> str:
    name = re.sub(r"\s*([+-])\s*", r"\1", value.strip())
    name = re.sub(r"^(homo|lumo)", lambda match: match[1].upper(), name, flags=re.IGNORECASE)
    name = re.sub(r"[ ,]*\(?\b(alpha|beta)\)?$", lambda match: f" {match[1].lower()}", name, flags=re.IGNORECASE)
    if not _ORBITAL.fullmatch(name) or name.split()[0] == "0":
        remedy = "Write HOMO, LUMO, HOMO-1, LUMO+2, or a number from 1; with ' alpha' or ' beta' for open shells."
        raise InputError("orbitals", value, "is not an orbital", remedy)
    return re.sub(r"[+-]0+(?=$| )", "", name)


class WavefunctionSpec(Job):
    """An analysis of the orbitals in a file: PySCF's checkpoint of a quantum job, or a molden file.

    Attributes
    ----------
    analyses
        What is wanted: ``orbitals`` (energies and occupations), ``composition`` (Mulliken shares of atoms and shells in
        the named orbitals), charges by ``mulliken``, ``loewdin`` and ``hirshfeld``, ``cubes`` and ``pictures`` of the
        named orbitals, cubes of the electron ``density`` and of the electrostatic ``potential``.
    orbitals
        ``HOMO``, ``LUMO``, ``HOMO-1``, ``LUMO+2``, or a number from 1 in order of energy; of open shells alpha, unless
        `` beta`` follows.
    spacing_angstrom
        Distance of the points of cubes.
    margin_angstrom
        How far cubes reach beyond the outermost atoms.
    isovalue
        Of the surfaces in pictures, in e^(1/2) bohr^(-3/2).
    engine
        Which program; ``auto``: whichever workers offer, our own first.
    """

    kind: Literal["wavefunction"] = "wavefunction"
    analyses: tuple[Analysis, ...] = ("orbitals", "mulliken", "loewdin")
    orbitals: tuple[Annotated[str, AfterValidator(_orbital)], ...] = Field(
        default=("HOMO", "LUMO"), max_length=MAX_ORBITALS
    )
    spacing_angstrom: float = Field(default=0.15, ge=0.05, le=0.5)
    margin_angstrom: float = Field(default=3.0, ge=1.0, le=10.0)
    isovalue: float = Field(default=0.04, ge=0.001, le=5.0)
    engine: Literal["auto", "wavefunction", "multiwfn"] = "auto"

    @field_validator("analyses")
    @classmethod
    def _some(cls, value: tuple[Analysis, ...]) -> tuple[Analysis, ...]:
        if not value:
            raise InputError("analyses", "", "is empty", f"Name at least one of {', '.join(ANALYSES)}.")
        return tuple(name for name in ANALYSES if name in value)

    @field_validator("orbitals")
    @classmethod
    def _distinct(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(value))

    @model_validator(mode="after")
    def _consistent(self) -> WavefunctionSpec:
        if set(self.inputs) != {SOURCE}:
            remedy = (
                f'Name one file: {{"{SOURCE}": {{"job": "<id>"}}}} for the orbitals of a quantum job, or'
                f' {{"{SOURCE}": {{"file": "<id>"}}}} for a molden file that `simrelay file put` took.'
            )
            raise InputError("inputs", ", ".join(self.inputs), f"must hold exactly one file, {SOURCE!r}", remedy)
        if not self.orbitals and {"composition", "cubes", "pictures"} & set(self.analyses):
            raise InputError("orbitals", "", "is empty", "Name at least one, such as HOMO.")
        return self

    @property
    def task(self) -> str:
        """What is done, for listings."""
        return "analysis"

    def files(self) -> dict[str, str]:
        """Give the names of the cubes and pictures that are asked for, by role: ``cube.LUMO``, ``picture.HOMO-1``."""
        named: dict[str, str] = {}
        if {"cubes", "pictures"} & set(self.analyses):
            named |= {f"cube.{orbital}": f"{file_stem(orbital)}.cube" for orbital in self.orbitals}
        if "pictures" in self.analyses:
            named |= {f"picture.{orbital}": f"{file_stem(orbital)}.png" for orbital in self.orbitals}
        named |= {f"cube.{what}": f"{what}.cube" for what in ("density", "potential") if what in self.analyses}
        return named


def file_stem(orbital: str) -> str:
    """Give the name of an orbital as part of a file's name: ``HOMO-1``, ``orbital-12``, ``LUMO-plus-1-beta``."""
    stem = f"orbital-{orbital}" if orbital[0].isdigit() else orbital
    return stem.replace("+", "-plus-").replace(" ", "-")
