"""Results: what came out of an attempt, as its outcome file and the job's record hold it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Value(BaseModel):
    """Base of all parts of an outcome; unknown fields of a newer worker are kept out, not refused."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Artifact(Value):
    """A file, named by its path relative to the workspace; never its content."""

    path: str
    size_bytes: int
    sha256: str
    #: what it is: ``geometry``, ``log``, ``checkpoint``, ``orbitals``, …
    role: str = ""


class Progress(Value):
    """How far a running attempt is."""

    #: what goes on, for people: ``SCF cycle 7, -213.99801 Eh``
    text: str
    #: where in the whole it is: ``scf``, ``optimisation step``, …
    stage: str = ""
    step: int | None = None
    total: int | None = None
    energy_hartree: float | None = None


class Checkpoint(Value):
    """A restart point that lies in the workspace."""

    #: counts up within one job; a higher number is further on
    number: int
    #: what it holds, for people: ``after SCF cycle 7``
    text: str = ""
    files: tuple[Artifact, ...] = ()


class QuantumResult(Value):
    """What a quantum-chemical calculation gives; None: the output does not hold it."""

    kind: Literal["quantum"] = "quantum"
    energy_hartree: float
    homo_ev: float | None = None
    lumo_ev: float | None = None
    gap_ev: float | None = None
    #: norm of the dipole moment; for ions about the centre of mass
    dipole_debye: float | None = None
    #: one a atom, in elementary charges, in the order of the geometry
    mulliken_charges: tuple[float, ...] | None = None
    loewdin_charges: tuple[float, ...] | None = None
    #: harmonic, lowest first, imaginary ones negative; without translations and rotations
    frequencies_per_cm: tuple[float, ...] | None = None
    imaginary_modes: int | None = None
    #: at the geometry of the frequencies, largest component; a stationary point has less than 4.5e-4
    largest_gradient_hartree_per_bohr: float | None = None
    #: rotations that bring the molecule to where it was, as detected; it divides the rotational partition function
    symmetry_number: int | None = None
    #: of the temperature and pressure below: ideal gas, rigid rotor, harmonic oscillator
    zero_point_energy_hartree: float | None = None
    enthalpy_hartree: float | None = None
    entropy_hartree_per_kelvin: float | None = None
    gibbs_energy_hartree: float | None = None
    temperature_kelvin: float | None = None
    pressure_pascal: float | None = None
    scf_cycles: int | None = None
    optimisation_steps: int | None = None
    #: final geometry, XYZ in ångström
    xyz: str | None = None
    engine: str = ""
    engine_version: str = ""
    #: as a paper would write it: ``B3LYP/def2-SVP (density fitting)``
    level: str = ""


class ProgramResult(Value):
    """What a declared program gives: the values that its operator's patterns find in the output."""

    kind: Literal["program"] = "program"
    values: dict[str, str] = Field(default_factory=dict)
    last_line: str = ""


AnyResult = QuantumResult | ProgramResult
Result = Annotated[AnyResult, Field(discriminator="kind")]


class Correction(Value):
    """What was changed after a failure so that the same attempt could go on."""

    #: of its file in ``worker.corrections``
    name: str
    #: what was wrong and what was changed, for people
    text: str
    #: settings of the engine that it changes
    changes: dict[str, float | int | str | bool] = Field(default_factory=dict)


class Failure(Value):
    """Why an attempt did not end well."""

    #: ``scf_not_converged``, ``out_of_memory``, ``bad_input``, ``program_failed``, ``killed``, …
    error_class: str
    message: str
    #: the decisive lines of the output
    evidence: tuple[str, ...] = ()
    #: what to try
    remedy: str = ""
    #: the same input would fail again, so it is not tried again
    permanent: bool = False
    #: the attempt failed before the program began to compute (missing file, no scratch): the host is suspect
    before_start: bool = False


class Outcome(Value):
    """The outcome file of an attempt: written last, when every result is in place (DESIGN, rule 12)."""

    job_id: str
    attempt: int
    claim_id: str
    succeeded: bool
    result: Result | None = None
    failure: Failure | None = None
    artifacts: tuple[Artifact, ...] = ()
    #: of all attempts up to this one
    corrections: tuple[Correction, ...] = ()
    compute_seconds: float = 0.0
