"""The work that is going on while things are killed: jobs of several kinds, and runs with batches behind them."""

from __future__ import annotations

import contextlib
import random
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tasks import batches, listing, runs
from tasks.batches import NewJob, Owner
from tasks.errors import NotFound
from tasks.records import JobState
from tasks.results import Artifact, DynamicsResult, ProgramResult, QuantumResult, SwarmResult, WavefunctionResult
from tasks.specs import parse_spec
from tasks.store import Store
from tests.chaos.people import Person

_WATER = "3\n\nO 0.0 0.0 0.12\nH 0.0 0.76 -0.48\nH 0.0 -0.76 -0.48\n"
_BENT_WATER = "3\n\nO 0.0 0.0 0.10\nH 0.0 0.90 -0.50\nH 0.0 -0.85 -0.60\n"
_METHANOL = (
    "6\n\nC -0.05 0.66 0.0\nO -0.05 -0.78 0.0\nH -1.09 0.98 0.0\nH 0.44 1.07 .91\nH 0.44 1.07 -0.91\nH 0.90 -1.06 0.0\n"
)
_HYDROGEN = "2\n\nH 0.0 0.0 0.0\nH 0.0 0.0 0.74\n"
_AMMONIUM = "5\n\nN 0 0 0\nH 0.59 0.59 0.59\nH -0.59 -0.59 0.59\nH -0.59 0.59 -0.59\nH 0.59 -0.59 -0.59\n"
#: far from where the stand-in for ORCA has its springs at rest
_STRETCHED = "3\n\nO 0 0 0\nH 1.5 0 0\nH 1.8 1.4 0\n"

Spec = dict[str, Any]


def _quantum(xyz: str, **more: object) -> Spec:
    return {"molecule": {"xyz": xyz}, "charge": 0, "multiplicity": 1, **more}


_ORCA_RESOURCES = {"cores": 1, "memory_mb": 1000}
#: every result must agree with the undisturbed one
QUANTUM: dict[str, Spec] = {
    "xtb-water": _quantum(_BENT_WATER, method="GFN2-xTB", engine="xtb", task="optimisation"),
    "xtb-methanol": _quantum(_METHANOL, method="GFN2-xTB", engine="xtb", task="optimisation"),
    "pyscf-hydrogen": _quantum(_HYDROGEN, method="HF", basis="STO-3G", engine="pyscf"),
    "pyscf-water": _quantum(_WATER, method="HF", basis="STO-3G", engine="pyscf"),
    "pyscf-ammonium": _quantum(_AMMONIUM, method="HF", basis="STO-3G", engine="pyscf", charge=1),
    "orca-optimisation": _quantum(_STRETCHED, engine="orca", task="optimisation", resources=_ORCA_RESOURCES),
    "orca-thermochemistry": _quantum(
        _STRETCHED, engine="orca", task="optimisation_frequencies", resources=_ORCA_RESOURCES
    ),
}
#: analyses, by the quantum jobs whose orbitals they take
ANALYSED = {"analysis-water": "pyscf-water", "analysis-ammonium": "pyscf-ammonium"}
#: a swarm and its evaluations: as every job that waits for others, it must end as the undisturbed one does
SWARM: Spec = {
    "kind": "swarm", "families": ["tetraalkylammonium"], "substituents": ["methyl", "ethyl", "propyl"],
    "particles": 4, "steps": 3, "seed": 3, "relax": False, "resources": {"memory_mb": 1000},
}  # fmt: skip
#: a box of water over several stages; its trajectory must have each frame once
DYNAMICS: Spec = {
    "kind": "dynamics", "system": {"water": 205, "edge_nm": 1.87}, "cutoff_nm": 0.8, "nvt_ps": 2, "npt_ps": 0,
    "production_ps": 10, "ensemble": "NVT", "checkpoint_seconds": 1, "resources": {"cores": 1},
}  # fmt: skip
#: each is computed once without being disturbed, as are the analyses after them
COMPARED: dict[str, Spec] = {**QUANTUM, "swarm": SWARM, **({"dynamics": DYNAMICS} if shutil.which("gmx") else {})}
NAMES = sorted((*COMPARED, *ANALYSED))
#: what their undisturbed results are
Reference = QuantumResult | SwarmResult | DynamicsResult | WavefunctionResult
#: steps of a countdown, its pause in seconds
_COUNTDOWNS = ((20, 0.1), (60, 0.1), (100, 0.1), (30, 0.2))


def countdown(steps: int, pause: float) -> Spec:
    """Give the spec of a countdown."""
    return {"program": "countdown", "parameters": {"steps": steps, "pause": pause}}


def analysis(orbitals: Artifact) -> Spec:
    """Give the spec of an analysis of the orbitals that a job left."""
    file = orbitals.model_dump(include={"path", "sha256", "size_bytes"})
    asked = {"analyses": ["mulliken", "loewdin", "hirshfeld", "cubes"], "orbitals": ["HOMO"], "engine": "wavefunction"}
    return {"kind": "wavefunction", "inputs": {"wavefunction": file}, "spacing_angstrom": 0.25, **asked}


@dataclass(kw_only=True)
class Load:
    """What was asked for, and what must come out.

    Attributes
    ----------
    jobs
        Ids of all jobs that were submitted outside of runs, each with its spec's name (a countdown: its steps).
    runs
        Ids of all runs, with the answer that they must give.
    batches
        Of each run the batches that it must have, with the jobs of each that succeed, and that there are.
    looped, late
        Runs with a person in the loop, and runs with a job that only a recovery brings to its end.
    waiting
        Calls that Redis has not answered yet; each may be repeated.
    """

    store: Store
    draw: random.Random
    jobs: dict[str, str | int] = field(default_factory=dict)
    runs: dict[str, str] = field(default_factory=dict)
    batches: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)
    looped: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    waiting: list[Callable[[], object]] = field(default_factory=list)
    number: int = 0

    def __post_init__(self) -> None:
        self.person = Person(store=self.store)

    def batch(self, specs: dict[str, tuple[Spec, str | int]]) -> None:
        """Ask for a batch: ids with spec and name."""
        self.number += 1
        batch, owner = f"c{self.number}", Owner(owner=f"user{self.number % 3}")
        jobs = [NewJob(id=id_, spec=parse_spec(spec)) for id_, (spec, _) in specs.items()]
        store = self.store
        self.waiting += [
            lambda: store.run(batches.open_batch(batch, owner, count=len(jobs), manifest_hash=batch)),
            lambda: store.run(batches.submit(batch, owner, jobs, store.settings)),
            lambda: store.run(batches.seal(batch, owner)),
        ]
        self.jobs.update({id_: name for id_, (_, name) in specs.items()})

    def undisturbed(self) -> None:
        """Ask for one job of each spec that is compared."""
        self.batch({f"ref-{name}": (spec, name) for name, spec in COMPARED.items()})

    def undisturbed_analyses(self) -> None:
        """Ask for one analysis of each kind, of what the undisturbed jobs left."""
        specs = {name: self._analysis(name) for name in ANALYSED}
        self.batch({f"ref-{name}": (spec, name) for name, spec in specs.items()})

    def _analysis(self, name: str) -> Spec:
        """Give the analysis of what the newest finished job of its kind left: of a struck one as soon as there is one.

        Raises
        ------
        Unreachable
            If Redis does not answer.
        """
        for job in [job for job, known in reversed(self.jobs.items()) if known == ANALYSED[name]]:
            record = self.store.run(listing.job(job))
            if record and record.state is JobState.SUCCEEDED:
                return analysis(next(artifact for artifact in record.artifacts if artifact.role == "orbitals"))
        raise AssertionError(f"no {ANALYSED[name]} has ended well, not even the undisturbed one")

    def more(self) -> None:
        """Ask for a few jobs, or a run.

        Raises
        ------
        Unreachable
            If Redis does not answer; nothing was asked for then.
        """
        if self.draw.random() < 0.4:
            self._run()
            return
        specs: dict[str, tuple[Spec, str | int]] = {}
        for index in range(self.draw.randint(1, 3)):
            id_ = f"j{self.number + 1}-{index}"
            if self.draw.random() < 0.4:
                steps, pause = self.draw.choice(_COUNTDOWNS)
                specs[id_] = (countdown(steps, pause), steps)
            else:
                name = self.draw.choice(NAMES)
                specs[id_] = (COMPARED[name] if name in COMPARED else self._analysis(name), name)
        self.batch(specs)

    def _run(self) -> None:
        run = f"run{len(self.runs) + 1}"
        match self.draw.choices(("short", "looped", "late"), (4, 3, 2))[0]:
            case "looped":
                self._looped_run(run)
            case "late":
                self._late_run(run)
            case _:
                jobs, rounds = self.draw.randint(1, 3), self.draw.randint(1, 2)
                request = f"count {jobs} times to {self.draw.choice((10, 30))} pausing 0.1 in {rounds} rounds"
                batches = {f"{run}-s1-r{n}": (jobs, jobs) for n in range(1, rounds + 1)}
                self._create(run, request, f"{jobs} SUCCEEDED", batches)

    def _looped_run(self, run: str) -> None:
        """Ask for a run of two steps side by side, of which a person has the second one done anew."""
        jobs = self.draw.randint(1, 2)
        request = f"count {jobs} times to 15 pausing 0.1 in 1 rounds; count 1 times to 10 pausing 0.1 in 1 rounds"
        batches = {f"{run}-s1-r1": (jobs, jobs), f"{run}-s2-r1": (1, 1), f"{run}-s2-r2": (1, 1)}
        self.looped.append(run)
        self._create(run, request, f"{jobs} SUCCEEDED; 1 SUCCEEDED", batches, pipeline="looped")

    def _late_run(self, run: str) -> None:
        """Ask for a run whose job reaches its walltime, and is recovered with twice as much of it."""
        self.late.append(run)
        batches = {f"{run}-s1-r1": (0, 1), f"{run}-s1-r2": (1, 1)}
        self._create(run, "late 1 times to 12.5 pausing 0 in 1 rounds", "1 SUCCEEDED", batches)

    def _create(
        self, run: str, request: str, answer: str, batches: dict[str, tuple[int, int]], **options: object
    ) -> None:
        store = self.store
        self.waiting.append(lambda: store.run(runs.create(run, "ana", request, options=options, attach=False)))
        self.runs[run], self.batches[run] = answer, batches

    def people_look(self) -> None:
        """Let the person look at the runs that ask for one.

        Raises
        ------
        Unreachable
            If Redis does not answer.
        """
        for run in self.looped:
            with contextlib.suppress(NotFound):  # it is still to be made
                self.person.look(run)


def difference(name: str | int, result: object, references: Mapping[str, Reference]) -> str:
    """Say in what a result differs from the uninterrupted one; empty: in nothing."""
    if isinstance(name, int):
        expected = {"sum": str(sum(range(name + 1)))}
        if isinstance(result, ProgramResult) and result.values == expected:
            return ""
        return f"gave {result}, not {expected}"
    if name not in references:
        return f"there is no uninterrupted {name} to compare with"
    reference = references[name]
    if isinstance(reference, SwarmResult):
        return "" if result == reference else f"{name}: gave {result}, not {reference}"
    if isinstance(reference, DynamicsResult):
        # Molecular dynamics that went on from a checkpoint is not the same to the last bit.
        same = isinstance(result, DynamicsResult) and _shape(result) == _shape(reference)
        return "" if same else f"{name}: gave {result}, not {_shape(reference)}"
    if isinstance(reference, WavefunctionResult):
        return f"{name}: {off}" if (off := _of_analysis(result, reference)) else ""
    if not isinstance(result, QuantumResult):
        return f"gave {result}"
    by = abs(result.energy_hartree - reference.energy_hartree)
    return "" if by <= 1e-6 else f"{name}: {result.energy_hartree} Eh, off by {by:.2e} Eh"


def _shape(result: DynamicsResult) -> tuple[dict[str, int], int, float]:
    return result.molecules, result.frames, result.production_ps


def _of_analysis(result: object, reference: WavefunctionResult) -> str:
    if not isinstance(result, WavefunctionResult):
        return f"gave {result}"
    if result.charge != reference.charge or result.orbitals[0].name != "HOMO":
        return f"charge {result.charge}, orbitals {result.orbitals}"
    for kind in ("mulliken", "loewdin", "hirshfeld"):
        charges, expected = getattr(result, f"{kind}_charges"), getattr(reference, f"{kind}_charges")
        # Orbitals of a job that was interrupted are converged as well, but not to the last digit the same.
        if any(abs(q - e) > 1e-4 for q, e in zip(charges, expected, strict=True)):
            return f"{kind} charges {charges}, not {expected}"
        if abs(sum(charges) - result.charge) > 1e-3:
            return f"{kind} charges sum to {sum(charges)}, not to {result.charge}"
    return ""
