"""The state of a run, as the graph's checkpoints hold it: summaries and references, never structures or logs.

Every field has a default and every list a cap, so that an old checkpoint loads and none grows without bound.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from orchestrator.asking import Gate, Options, Part, Question
from orchestrator.recovery.record import KEPT_RECOVERIES, Recovery
from tasks.dynamics import Cluster
from tasks.jobspec import InputFile
from tasks.quantum import Task
from tasks.results import Artifact
from tasks.swarms import SwarmSpec

SCHEMA_VERSION = 3
#: the most entries that a run's history keeps
HISTORY_CAP = 200
#: the most characters of one of them; what is longer stands where it belongs: in a question, a gate, a step
HISTORY_LINE_CAP = 300
#: the agent that merges what the others found out
SUMMARY = "summary_agent"


class StepStatus(StrEnum):
    """What became of a step."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


class Species(Part):
    """One molecule that the request is about; its structure lies in the workspace."""

    name: str
    smiles: str
    formula: str = ""
    #: average molar mass (IUPAC standard atomic weights)
    mass_dalton: float | None = None
    charge: int = 0
    multiplicity: int = 1
    atoms: int = 0
    geometry: Artifact | None = None
    #: how the geometry was made: ``ETKDGv3 + MMFF94s``, ``GFN2-xTB``, …
    geometry_level: str = ""
    #: why later steps leave it out; empty: they do not
    error: str = ""
    #: the step that found it; 0: the request names it
    found_by: int = 0
    #: where its name was looked up: ``PubChem CID 2519, 2026-12-01``; empty: nowhere
    source: str = ""


class LookedUp(Part):
    """A molecule whose name a request gave, and that was looked up elsewhere."""

    name: str
    smiles: str
    synonyms: tuple[str, ...] = ()
    #: who said so, under which number, and when
    source: str


class Usage(Part):
    """What a run has used of a language model."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    #: in the currency of the prices in the settings; None: no prices are set
    cost: float | None = None

    @property
    def in_words(self) -> str:
        """``3 calls, 1240 tokens, cost 0.0031``; empty if nothing was used."""
        if not self.calls:
            return ""
        tokens = self.prompt_tokens + self.completion_tokens
        cost = "" if self.cost is None else f", cost {self.cost:.4f}"
        return f"{self.calls} call{'' if self.calls == 1 else 's'}, {tokens} tokens{cost}"


class Event(Part):
    """What a run tells those who watch it; it gets its number and time where it is stored.

    Its key makes it one: the same event told twice is stored once.
    """

    key: str
    kind: Literal[
        "thinking", "plan", "agent_start", "text_delta", "action", "job", "progress", "approval", "cue_user", "error",
        "agent_end", "done",
    ]  # fmt: skip
    data: dict[str, Any] = Field(default_factory=dict)


class Decision(Part):
    """How the supervisor decided what to do: the first rule that hit, in the fixed order."""

    rule: Literal["named", "single_agent", "active_plan", "complexity", "keyword_route", "model", "answer", "respond",
                  "abstain"] = "abstain"  # fmt: skip
    #: the agent it went to; empty with a plan of several agents, or when abstaining
    agent: str = ""
    reason: str = ""


class Source(Part):
    """Orbitals that a quantum job left: what an analysis works on."""

    #: empty: a file that a user put into the workspace
    job_id: str
    #: what people call its molecule
    label: str
    #: ``B3LYP/def2-SVP (density fitting)``
    level: str = ""
    smiles: str = ""
    file: InputFile


class Goal(Part):
    """What a quantum or chemistry step is to find out, read from the request."""

    #: ``homo``, ``lumo``, ``gap``, ``energy``, ``dipole``, ``charges``, ``geometry``, ``formula``, ``mass``, …
    properties: tuple[str, ...] = ()
    task: Task = "single_point"
    method: str = "B3LYP"
    basis: str | None = None
    dispersion: str | None = None
    solvent: str | None = None
    solvent_model: str | None = None
    #: of the thermochemistry; None: the defaults of the spec
    temperature_kelvin: float | None = None
    pressure_pascal: float | None = None
    engine: str = "auto"
    compare: bool = False
    #: number of the step whose optimised geometry is used, also in a box; None: that of the chemistry step
    geometry_step: int | None = None
    #: the whole level of theory as a paper writes it: ``B3LYP/def2-SVP//GFN2-xTB``
    protocol: str = ""
    #: resources of each job; None: the defaults
    cores: int | None = None
    memory_mb: int | None = None
    #: of an analysis of orbitals: what is wanted, and of which orbitals
    analyses: tuple[str, ...] = ()
    orbitals: tuple[str, ...] = ()
    #: of the surfaces in pictures; None: the default of the spec
    isovalue: float | None = None
    #: the earlier job whose orbitals are analysed: ``last`` or an id; empty: those of the steps before
    source_job: str = ""
    #: that job's orbitals, once they were found
    source: Source | None = None
    #: of a design step: the swarm that it runs
    swarm: SwarmSpec | None = None
    #: of a simulation: what is taken out of its last frame, as a molecule for later steps
    cluster: Cluster | None = None
    #: of a design step: how many of the best candidates later steps compute
    candidates: int = 1
    #: of a literature or web step: what is looked for; of a simulation beside others: its part of the request; of a
    #: check of SMILES: these, with blanks between them
    query: str = ""
    #: SMILES of the run's molecules that the step is about; empty: all
    molecules: tuple[str, ...] = ()
    #: the step whose molecules it is about, such as a swarm's; None: as ``molecules`` says
    molecules_step: int | None = None
    #: how many of a swarm's candidates the step is about, the best first; None: all that were handed on
    best: int | None = None
    #: of a chemistry step: what is done besides identifying (``selfies``, ``similarity``, ``descriptors``, …)
    operations: tuple[str, ...] = ()


class Column(Part):
    """A column of a table of findings; the unit stands in the heading."""

    title: str
    unit: str = ""


class Table(Part):
    """Findings as a table: small, for the report and the terminal."""

    columns: tuple[Column, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


class Quantity(Part):
    """One number that a step found out, in full precision, for figures and for other agents."""

    species: str
    #: ``energy``, ``homo``, ``lumo``, ``gap``, ``dipole``, ``zero_point``, ``enthalpy``, ``entropy``, ``gibbs``
    name: str
    value: float
    unit: str


class Picture(Part):
    """A figure of a finding: its file in the run's folder, and what it shows."""

    file: Artifact
    caption: str


class Produced(Part):
    """What a step left of one molecule, for the steps after it."""

    smiles: str
    #: empty: no job was needed
    job_id: str = ""
    level: str = ""
    artifacts: tuple[Artifact, ...] = ()
    #: the structure that the step made of it, in the run's folder, and how; None: it made none
    geometry: Artifact | None = None
    geometry_level: str = ""


class Finding(Part):
    """What one step found out."""

    step: int
    agent: str
    summary: str
    table: Table | None = None
    artifacts: tuple[Artifact, ...] = ()
    notes: tuple[str, ...] = ()
    values: tuple[Quantity, ...] = ()
    pictures: tuple[Picture, ...] = ()
    produced: tuple[Produced, ...] = ()
    #: level of theory and program: ``B3LYP/def2-SVP (density fitting), pyscf 2.14.0``
    level: str = ""
    #: not all of it was computed as the step's goal says: recovery took a coarser method
    deviates: bool = False
    #: time of computing on workers, all jobs together
    compute_seconds: float = 0.0
    #: how far it got, in a word or two: ``identified``, ``computed``, ``analysed``, ``found``
    stage: str = ""
    #: what a language model says of it, checked against the rest; never a source of numbers itself; empty: none did
    prose: str = ""
    #: what that model proposes to do next, a line each; nothing was started
    proposed: tuple[str, ...] = ()


#: what recovery has to do with it: nothing yet, it is at it, or it has done what it could
Trouble = Literal["", "open", "settled"]


class Manifest(Part):
    """Exact specs, frozen before anything is dispatched: a file in the workspace and its hash."""

    artifact: Artifact
    #: SHA-256 of the canonical JSON of the specs
    hash: str
    count: int


class Dispatched(Part):
    """A batch of a step and round."""

    batch_id: str
    round: int
    manifest: Manifest
    #: estimated cost of all its jobs; None: not known
    core_seconds: float | None = None
    #: its jobs are in the store
    sent: bool = False
    #: all its jobs have ended
    complete: bool = False
    #: its step has looked at the results
    interpreted: bool = False
    #: of a repair: the batch whose failed jobs its jobs are made in place of
    repairs: str = ""
    #: of a repair: its jobs only make the structures that those of the next batch begin from
    prepares: bool = False
    trouble: Trouble = ""


class Step(Part):
    """One step of a plan; it belongs to one agent and starts when all that it depends on are done."""

    number: int
    agent: str
    description: str
    depends_on: tuple[int, ...] = ()
    status: StepStatus = StepStatus.PENDING
    goal: Goal = Goal()
    #: rounds of jobs dispatched so far, the newest last
    batches: tuple[Dispatched, ...] = ()
    error: str = ""
    #: how often a person has had it done anew
    iteration: int = 0
    trouble: Trouble = ""

    @property
    def over(self) -> bool:
        """Whether nothing more comes of it: it is not waited for, computed or recovered."""
        return self.status not in (StepStatus.PENDING, StepStatus.RUNNING) and self.trouble != "open"


def molecules_of(step: Step, species: tuple[Species, ...]) -> tuple[Species, ...]:
    """Give the molecules of a run that a step is about."""
    if step.goal.molecules_step is not None:
        return _best(step, tuple(one for one in species if one.found_by == step.goal.molecules_step))
    if step.goal.molecules:
        return tuple(one for one in species if one.smiles in step.goal.molecules and not one.found_by)
    return _best(step, species)


def _best(step: Step, species: tuple[Species, ...]) -> tuple[Species, ...]:
    """Give the candidates that a step is about, which a swarm hands on in the order of their ranks."""
    if step.goal.best is None:
        return species
    found = [one for one in species if one.found_by][step.goal.best :]
    return tuple(one for one in species if one not in found)


class Plan(Part):
    """What the supervisor decided to do."""

    title: str = ""
    steps: tuple[Step, ...] = ()

    def step(self, number: int) -> Step:
        """Give the step of that number."""
        return next(step for step in self.steps if step.number == number)

    def replace(self, step: Step) -> Plan:
        """Give the plan with that step in place of the one of its number."""
        return self.model_copy(update={"steps": tuple(step if s.number == step.number else s for s in self.steps)})

    def ready(self) -> list[Step]:
        """Give the pending steps whose dependencies are all done.

        The summary also starts when some of them failed, as long as one is done.
        """
        done = {s.number for s in self.steps if s.status is StepStatus.DONE}
        over = {s.number for s in self.steps if s.over}
        return [
            s
            for s in self.steps
            if s.status is StepStatus.PENDING
            and (set(s.depends_on) <= done or (s.agent == SUMMARY and set(s.depends_on) <= over and done))
        ]

    def hopeless(self) -> list[Step]:
        """Give the pending steps that can never start, since something that they depend on failed."""
        over = (StepStatus.FAILED, StepStatus.SKIPPED)
        bad = {s.number for s in self.steps if s.status in over and s.over}
        ready = {s.number for s in self.ready()}
        pending = [s for s in self.steps if s.status is StepStatus.PENDING and s.number not in ready]
        return [s for s in pending if set(s.depends_on) & bad and (s.agent != SUMMARY or self._over(s))]

    def with_hopeless_skipped(self) -> Plan:
        """Give the plan in which every step is skipped that can never start."""
        plan = self
        while hopeless := plan.hopeless():
            for step in hopeless:
                plan = plan.replace(step.model_copy(update={"status": StepStatus.SKIPPED}))
        return plan

    def _over(self, step: Step) -> bool:
        return all(self.step(n).over for n in step.depends_on)

    @property
    def ended(self) -> bool:
        """Whether no step can go on."""
        return not self.ready() and all(s.status is not StepStatus.RUNNING for s in self.steps)


def _capped(old: list[str], new: list[str]) -> list[str]:
    short = (line if len(line) <= HISTORY_LINE_CAP else f"{line[: HISTORY_LINE_CAP - 1]}…" for line in new)
    return [*old, *short][-HISTORY_CAP:]


class RunState(BaseModel):
    """The whole state of one run."""

    model_config = ConfigDict(extra="ignore")

    schema_version: int = SCHEMA_VERSION
    run_id: str = ""
    owner: str = ""
    request: str = ""
    options: Options = Options()
    decision: Decision = Decision()
    species: tuple[Species, ...] = ()
    #: molecules of names that were looked up: planning the request again asks nobody again
    looked_up: tuple[LookedUp, ...] = ()
    plan: Plan = Plan()
    findings: tuple[Finding, ...] = ()
    #: one line an event, for people
    history: Annotated[list[str], _capped] = Field(default_factory=list)
    #: the answer for the terminal, once there is one
    answer: str = ""
    report: Artifact | None = None
    figures: tuple[Artifact, ...] = ()
    #: why the run could not go on; empty: it could
    error: str = ""
    finished: bool = False
    questions: tuple[Question, ...] = ()
    gates: tuple[Gate, ...] = ()
    #: how often a person has had a part of the plan done anew
    iteration: int = 0
    #: what a person wants changed; used once, then empty
    feedback: str = ""
    usage: Usage = Usage()
    #: what was done about failed steps, the newest last
    recoveries: Annotated[tuple[Recovery, ...], AfterValidator(lambda all_of_them: all_of_them[-KEPT_RECOVERIES:])] = ()
    #: why a person ended it; empty: no person did
    stopped: str = ""
    #: told to those who watch, in the transaction that writes this checkpoint
    events: tuple[Event, ...] = ()
    #: how many events states of this run have told; numbers their keys
    told: int = 0
    #: entries of the run's inbox whose effect is in this checkpoint, and which leave the inbox with it
    consumed: tuple[str, ...] = ()


def checked(**changes: Any) -> dict[str, Any]:
    """Give a partial update, validated here: LangGraph validates on read only, when a bad value is stored already.

    Raises
    ------
    ValidationError
        If a value does not fit the state.
    LossyValue
        If a checkpoint could not hold a value as it is; the message names its field.
    """
    from orchestrator.serde import lossless  # LangGraph, which the command line does without

    # From plain values: Pydantic takes an instance of a model as valid, however it was made.
    valid = RunState.model_validate({name: lossless(value, name) for name, value in changes.items()})
    return {name: getattr(valid, name) for name in changes}


def state_schema() -> dict[str, Any]:
    """Give the JSON schema of the state, as the API publishes it."""
    return RunState.model_json_schema()
