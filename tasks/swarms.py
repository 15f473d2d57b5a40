"""Specs of a swarm and of the evaluations that it asks for: which cations, on which backbone, judged by what.

A score is a weighted mean of desirabilities, each a piecewise linear curve over one property. It ranks candidates by
what was computed for an isolated cation in implicit water; it predicts no measured property of a membrane.
"""

from __future__ import annotations

from difflib import get_close_matches
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from tasks.cations import FAMILIES, RING_SUBSTITUENTS, RINGS, SUBSTITUENTS, Encoding
from tasks.elements import parse_xyz
from tasks.errors import InputError
from tasks.jobspec import Frozen, Job

#: repeat units by the names that people use; ``[*]`` are the ends of the repeat unit. Other backbones by their SMILES.
BACKBONES = {
    "PBF_BB_1": "[*]c1ccc(-c2ccc([*])cc2)cc1",
    "PP_BB_1": "[*]c1ccc([*])cc1",
    "PPO_BB_1": "[*]Oc1ccc([*])cc1",
}


class Property(NamedTuple):
    """One thing that a candidate can be judged by: what computes it, and what a report calls it."""

    by: Literal["gfn2", "scan", "descriptor"]
    title: str
    unit: str


PROPERTIES = {
    "lumo_ev": Property("gfn2", "LUMO", "eV"),
    "gap_ev": Property("gfn2", "Gap", "eV"),
    "sn2_barrier_kcal_per_mol": Property("scan", "SN2 barrier", "kcal/mol"),
    "iec_mmol_per_g": Property("descriptor", "IEC", "mmol/g"),
    "logp": Property("descriptor", "logP", ""),
    "volume_cubic_angstrom": Property("descriptor", "Volume", "Å³"),
    "labute_surface_square_angstrom": Property("descriptor", "Labute surface", "Å²"),
    "molar_mass_g_per_mol": Property("descriptor", "Molar mass", "g/mol"),
    "heavy_atoms": Property("descriptor", "Heavy atoms", ""),
}
Point = tuple[float, float]


def _known(field: str, given: str, table: dict[str, object] | dict[str, Property] | dict[str, str]) -> str:
    names = list(table)
    for name in names:
        if name.lower() == given.strip().lower():
            return name
    near = get_close_matches(given.lower(), names, n=3, cutoff=0.5)
    lead = f"Did you mean {', '.join(near)}?" if near else f"Known are {', '.join(names)}."
    raise InputError(field, given, "is not known", lead)


class Objective(Frozen):
    """One property with its desirability: points (value, 0 to 1), linear between them and constant beyond."""

    property: str
    curve: tuple[Point, ...]
    weight: float = Field(default=1.0, gt=0, le=1e6)

    @field_validator("property")
    @classmethod
    def _known(cls, value: str) -> str:
        return _known("property", value, PROPERTIES)

    @field_validator("curve")
    @classmethod
    def _rising(cls, value: tuple[Point, ...]) -> tuple[Point, ...]:
        right = "Give at least two points (value, desirability), values rising, desirabilities from 0 to 1."
        if len(value) < 2 or any(a[0] >= b[0] for a, b in pairwise(value)):
            raise InputError("curve", value, "has fewer than two points, or values that do not rise", right)
        if any(not 0 <= y <= 1 for _, y in value):
            raise InputError("curve", value, "has a desirability outside 0 to 1", right)
        return value

    def desirability(self, value: float) -> float:
        """Give how desirable a value is, from 0 to 1."""
        if value <= self.curve[0][0]:
            return self.curve[0][1]
        for (x1, y1), (x2, y2) in pairwise(self.curve):
            if value <= x2:
                return y1 + (y2 - y1) * (value - x1) / (x2 - x1)
        return self.curve[-1][1]


#: LUMO and gap stand for the resistance to hydroxide, the ion exchange capacity for how much is gained a gram. The
#: ends of the curves span what GFN2 with ALPB water gives for common cations (aryl about -6.7, TMA -1.3 eV).
DEFAULT_OBJECTIVES = (
    Objective(property="lumo_ev", curve=((-6.5, 0.0), (-3.0, 0.6), (-1.0, 1.0)), weight=2.0),
    Objective(property="gap_ev", curve=((4.5, 0.0), (11.0, 1.0)), weight=1.0),
    Objective(property="iec_mmol_per_g", curve=((1.5, 0.0), (4.0, 1.0)), weight=1.0),
)
_DEFAULT_SUBSTITUENTS = ("methyl", "ethyl", "propyl", "isopropyl", "butyl", "2-methoxyethyl", "benzyl")
_DEFAULT_RING_SUBSTITUENTS = ("hydrogen", "methyl", "ethyl")
Names = Annotated[tuple[str, ...], Field(min_length=1, max_length=50)]


class SwarmSpec(Job):
    """A search for cations by particle swarm.

    Attributes
    ----------
    backbone
        Name of ``BACKBONES``, or the SMILES of a repeat unit with two ``[*]``; it enters by the ion exchange capacity.
    families, substituents, ring_substituents, rings
        What candidates are made of, in the order in which the encoding runs over them (``tasks.cations``).
    max_heavy_atoms
        Larger candidates are not computed and score 0.
    particles, steps
        Size of the swarm, and steps in all: when a swarm is resumed, those that it has done count.
    inertia, cognitive, social
        Defaults: constriction factors, Clerc and Kennedy, IEEE Trans. Evol. Comput. 6 (2002) 58.
    relax
        Whether candidates are relaxed with GFN2-xTB in water before they are judged, or judged as the force field
        leaves them.
    evaluation_jobs
        Into how many jobs the evaluations of a step are divided: as many as can run at a time.
    step_seconds
        Time that the evaluations of a step may take on a worker; a step that exceeds it is repeated once.
    inputs
        ``state``: ``state.json`` of a swarm of the same configuration, to go on from.
    """

    kind: Literal["swarm"] = "swarm"
    backbone: str = "PBF_BB_1"
    families: Names = ("piperidinium",)
    substituents: Names = _DEFAULT_SUBSTITUENTS
    ring_substituents: Names = _DEFAULT_RING_SUBSTITUENTS
    rings: Names = tuple(RINGS)
    max_heavy_atoms: int = Field(default=24, ge=5, le=80)
    particles: int = Field(default=24, ge=2, le=10_000)
    steps: int = Field(default=8, ge=1, le=10_000)
    inertia: float = Field(default=0.7298, ge=0, le=2)
    cognitive: float = Field(default=1.49618, ge=0, le=4)
    social: float = Field(default=1.49618, ge=0, le=4)
    seed: int = Field(default=42, ge=0, lt=2**32)
    objectives: Annotated[tuple[Objective, ...], Field(min_length=1, max_length=20)] = DEFAULT_OBJECTIVES
    relax: bool = True
    evaluation_jobs: int = Field(default=2, ge=1, le=1000)
    evaluation_memory_mb: int = Field(default=1000, ge=256)
    step_seconds: int = Field(default=3600, ge=1)
    keep: int = Field(default=10, ge=1, le=100)
    engine: Literal["pso"] = "pso"

    @field_validator("families", mode="before")
    @classmethod
    def _one_or_several(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("families", "substituents", "ring_substituents", "rings")
    @classmethod
    def _names(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        field = info.field_name or ""
        table: dict[str, dict[str, object]] = {
            "families": dict(FAMILIES),
            "substituents": dict(SUBSTITUENTS),
            "ring_substituents": dict(RING_SUBSTITUENTS),
            "rings": dict(RINGS),
        }
        names = tuple(_known(field, name, table[field]) for name in value)
        if len(set(names)) < len(names):
            raise InputError(field, ", ".join(names), "names something twice", "Name each once.")
        return names

    @field_validator("backbone")
    @classmethod
    def _backbone(cls, value: str) -> str:
        value = value.strip()
        if value.count("*") == 2:
            return value
        if value.count("*"):
            remedy = "A repeat unit has two ends, for example '[*]c1ccc([*])cc1'."
            raise InputError("backbone", value, f"has {value.count('*')} places [*]", remedy)
        try:
            return _known("backbone", value.upper(), BACKBONES)
        except InputError:
            remedy = f"Known are {', '.join(BACKBONES)}; or give a repeat unit as SMILES, '[*]c1ccc([*])cc1'."
            raise InputError("backbone", value, "is not a known backbone", remedy) from None

    @model_validator(mode="after")
    def _judged_by_different_things(self) -> Self:
        names = [objective.property for objective in self.objectives]
        if len(set(names)) < len(names):
            raise InputError("objectives", ", ".join(names), "name a property twice", "Give one curve for each.")
        if set(self.inputs) - {"state"}:
            raise InputError("inputs", ", ".join(self.inputs), "are not for a swarm", "It takes 'state' alone.")
        return self

    @property
    def task(self) -> str:
        """What is done, for listings."""
        return "swarm"

    @property
    def backbone_smiles(self) -> str:
        """The repeat unit."""
        return BACKBONES.get(self.backbone, self.backbone)

    @property
    def encoding(self) -> Encoding:
        """The space that is searched."""
        return Encoding(
            families=self.families,
            substituents=self.substituents,
            ring_substituents=self.ring_substituents,
            rings=self.rings,
        )

    @property
    def computed(self) -> tuple[str, ...]:
        """The properties that need evaluations on workers."""
        return tuple(o.property for o in self.objectives if PROPERTIES[o.property].by != "descriptor")

    def score(self, values: dict[str, float]) -> float:
        """Give the score of a candidate: the weighted mean of its desirabilities, from 0 to 1.

        Raises
        ------
        KeyError
            If a property is missing.
        """
        total = sum(o.weight * o.desirability(values[o.property]) for o in self.objectives)
        return total / sum(o.weight for o in self.objectives)


class Candidate(Frozen):
    """One molecule to be evaluated: canonical SMILES, structure in ångström (hydrogens after the heavy atoms)."""

    smiles: str = Field(min_length=1)
    xyz: str
    charge: int = Field(ge=-20, le=20)

    @field_validator("xyz")
    @classmethod
    def _structure(cls, value: str) -> str:
        parse_xyz(value)
        return value


class EvaluationSpec(Job):
    """Properties of many small molecules by GFN2-xTB in water, one after the other in one job.

    Attributes
    ----------
    properties
        Names of ``PROPERTIES`` that GFN2 gives.
    limit_seconds
        Time after which no molecule is begun; those that were not reached are said to be so.
    """

    kind: Literal["evaluation"] = "evaluation"
    molecules: Annotated[tuple[Candidate, ...], Field(min_length=1, max_length=10_000)]
    properties: Names
    relax: bool = True
    limit_seconds: int = Field(default=3600, ge=1)
    engine: Literal["pso"] = "pso"

    @field_validator("properties")
    @classmethod
    def _computed(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        offered: dict[str, object] = {name: p for name, p in PROPERTIES.items() if p.by != "descriptor"}
        return tuple(_known("properties", name, offered) for name in value)

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        names = [one.smiles for one in self.molecules]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError("molecules", twice, "is there twice", "Name each molecule once.")
        return self

    @property
    def task(self) -> str:
        """What is done, for listings."""
        return "evaluation"
