"""The spec of a quantum-chemical calculation: the same words mean the same physics on every engine."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from tasks.dispersion import check_dispersion
from tasks.elements import electron_count, parse_xyz
from tasks.errors import InputError
from tasks.jobspec import Job, Molecule
from tasks.methods import (
    Demand,
    Family,
    Method,
    capable_engines,
    find_basis,
    find_method,
    find_solvent,
    lacking,
)

Task = Literal["single_point", "optimisation", "frequencies", "optimisation_frequencies"]


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
    dispersion
        Dispersion correction; None: none besides what the method itself brings.
    density_fitting
        Whether Coulomb (and exchange) integrals are fitted with an auxiliary basis (RI); not for tight binding.
    solvent
        Implicit solvent by name; None: gas phase.
    solvent_model
        None: CPCM, or ALPB for tight binding.
    temperature_kelvin, pressure_pascal
        Of the thermochemistry after frequencies (ideal gas, rigid rotor, harmonic oscillator).
    engine
        Which program; ``auto``: the first that workers offer and that computes exactly this; nothing else is changed.
    engine_reason
        Why that engine, where Simrelay chose it.
    """

    kind: Literal["quantum"] = "quantum"
    molecule: Molecule
    charge: int | None = Field(default=None, ge=-20, le=20)
    multiplicity: int | None = Field(default=None, ge=1, le=20)
    task: Task = "single_point"
    method: str = "B3LYP"
    basis: str | None = None
    dispersion: Literal["D3BJ", "D4"] | None = None
    density_fitting: bool = True
    solvent: str | None = None
    solvent_model: Literal["CPCM", "SMD", "ALPB"] | None = None
    temperature_kelvin: float = Field(default=298.15, gt=0, le=5000)
    pressure_pascal: float = Field(default=101_325.0, gt=0, le=1e9)
    engine: Literal["auto", "pyscf", "xtb", "orca"] = "auto"
    engine_reason: str = Field(default="", max_length=200)

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
        if isinstance(data, dict) and data.get("task") in ("frequency", "freq", "vibrations"):
            return {**data, "task": "frequencies"}
        if isinstance(data, dict) and data.get("task") in ("opt_freq", "optimization_frequencies", "opt+freq"):
            return {**data, "task": "optimisation_frequencies"}
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
            if self.dispersion:
                problem = f"cannot be chosen with {method.name}"
                raise InputError("dispersion", self.dispersion, problem, "It brings its own: leave it out.")
        else:
            object.__setattr__(self, "basis", find_basis(self.basis or "def2-SVP"))
            check_dispersion(self.dispersion, method.name)
        self._settle_solvent(method)
        self._check_engine()
        if self.molecule.xyz and self.charge is not None and self.multiplicity is not None:
            check_electrons(self.molecule.xyz, self.charge, self.multiplicity)
        return self

    @property
    def demand(self) -> Demand:
        """What an engine has to have for it."""
        return Demand(self.task, self.method, self.solvent_model, self.dispersion, self.density_fitting)

    def _check_engine(self) -> None:
        """Raise InputError if the engine, or no engine at all, computes exactly this."""
        able = capable_engines(self.demand)
        if self.engine in able or (self.engine == "auto" and able):
            return
        who = f"It is computed by {', '.join(able)}." if able else "No engine computes all of that together."
        if self.engine == "auto":
            raise InputError("engine", "auto", f"finds no engine that computes {self.demand}", who)
        field, value = lacking(self.engine, self.demand)
        what = value if field in ("method", "task") else f"{field} {value}"
        raise InputError("engine", self.engine, f"does not offer {what}", who)

    def _settle_solvent(self, method: Method) -> None:
        tight = method.family is Family.TIGHT_BINDING
        if self.solvent_model and not self.solvent:
            remedy = "Name the solvent too, such as water, or leave the model out."
            raise InputError("solvent_model", self.solvent_model, "is given without a solvent", remedy)
        if self.solvent_model and (self.solvent_model == "ALPB") != tight:
            right = "ALPB" if tight else "CPCM or SMD"
            raise InputError("solvent_model", self.solvent_model, f"is not for {method.name}", f"Take {right}.")
        if self.solvent:
            object.__setattr__(self, "solvent_model", self.solvent_model or ("ALPB" if tight else "CPCM"))


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
