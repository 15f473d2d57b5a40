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


class Measured(Value):
    """A mean with its standard error, from blocks of a trajectory; None: too few blocks for one."""

    value: float
    error: float | None = None


class Diffusion(Value):
    """Self-diffusion of one kind of molecule in a periodic box; not corrected for the size of the box."""

    species: str
    molecules: int
    coefficient_m2_per_s: float
    #: standard error of the mean of the blocks
    error_m2_per_s: float
    #: time lags between which a line was fitted to the mean square displacement
    fit_start_ps: float
    fit_end_ps: float
    blocks: int


class ClusterMember(Value):
    """A molecule of a cluster."""

    species: str
    #: which of its species in the box, counted from 1
    number: int
    atoms: int
    #: between its heavy atom and the cation's that are nearest to each other; 0 of the cation itself
    distance_angstrom: float


class TakenCluster(Value):
    """Molecules taken out of a frame of a trajectory; their structure is the artifact ``cluster``, in this order."""

    members: tuple[ClusterMember, ...]
    charge: int
    time_ps: float


class DynamicsResult(Value):
    """What a molecular dynamics simulation gives; None: it was not measured."""

    kind: Literal["dynamics"] = "dynamics"
    #: number of molecules by species
    molecules: dict[str, int]
    atoms: int
    frames: int
    production_ps: float
    temperature_kelvin: Measured
    density_g_per_cm3: Measured
    #: cube root of the mean volume
    edge_nm: float
    diffusion: tuple[Diffusion, ...] = ()
    #: simulated time a day of computing, in the newest part of the production
    nanoseconds_per_day: float | None = None
    engine: str = ""
    engine_version: str = ""
    #: force fields and treatment of forces, as a paper would write it
    level: str = ""
    #: what these numbers do not mean
    #: what was taken out of the last frame, if the spec asks for something
    cluster: TakenCluster | None = None
    caveats: tuple[str, ...] = ()


class Orbital(Value):
    """One molecular orbital."""

    #: from 1 in order of energy, each spin for itself
    number: int
    #: ``HOMO``, ``LUMO+1``, …: where it stands
    name: str
    #: of an open shell ``alpha`` or ``beta``
    spin: str = ""
    occupation: float
    #: absent where the file does not hold energies
    energy_ev: float | None = None
    #: Mulliken share of every atom, in the order of the geometry; they sum to 1
    atom_shares: tuple[float, ...] | None = None
    #: Mulliken share by angular momentum: ``s``, ``p``, ``d``, …
    shell_shares: dict[str, float] | None = None


class WavefunctionResult(Value):
    """What an analysis of orbitals gives; None: not asked for."""

    kind: Literal["wavefunction"] = "wavefunction"
    #: the geometry that the orbitals belong to, XYZ in ångström
    xyz: str
    charge: int
    multiplicity: int
    homo_ev: float | None = None
    lumo_ev: float | None = None
    gap_ev: float | None = None
    #: those that were named, and if orbitals were asked for ten on either side of the gap
    orbitals: tuple[Orbital, ...] = ()
    #: one a atom, in elementary charges, in the order of the geometry
    mulliken_charges: tuple[float, ...] | None = None
    loewdin_charges: tuple[float, ...] | None = None
    hirshfeld_charges: tuple[float, ...] | None = None
    #: electrons that the grid of the Hirshfeld charges holds, a measure of its error
    integrated_electrons: float | None = None
    engine: str = ""
    engine_version: str = ""
    #: what the numbers rest on besides the orbitals
    notes: tuple[str, ...] = ()


class Evaluated(Value):
    """What was computed for one molecule; with ``error``, why it could not be, and nothing else."""

    smiles: str
    #: property -> value, the unit in the name: ``lumo_ev``
    values: dict[str, float] = Field(default_factory=dict)
    error: str = ""


class EvaluationResult(Value):
    """Properties of many molecules."""

    kind: Literal["evaluation"] = "evaluation"
    molecules: tuple[Evaluated, ...]
    #: SMILES that were not reached within the time of the job
    not_reached: tuple[str, ...] = ()
    engine: str = ""
    engine_version: str = ""
    level: str = ""


class Ranked(Value):
    """One of the best candidates of a swarm: its score ranks it among the others, and predicts nothing."""

    smiles: str
    score: float
    values: dict[str, float] = Field(default_factory=dict)


class SwarmResult(Value):
    """What a swarm found."""

    kind: Literal["swarm"] = "swarm"
    #: best first
    ranking: tuple[Ranked, ...]
    #: what the scores are, for people
    scores: str = "Scores rank these candidates by the stated objectives; they are no predictions."
    steps: int
    particles: int
    seed: int
    #: different molecules that were computed, also those without a result
    evaluations: int
    #: molecules that have no result, and score 0
    failed: int
    #: steps that timed out and succeeded when they were repeated
    recovered_steps: int = 0
    configuration_sha256: str = ""
    engine: str = ""
    engine_version: str = ""
    level: str = ""


AnyResult = QuantumResult | DynamicsResult | EvaluationResult | SwarmResult | WavefunctionResult | ProgramResult
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
    #: the host broke it off after the program had begun (its disk was full): the host is suspect as well
    host_fault: bool = False


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
