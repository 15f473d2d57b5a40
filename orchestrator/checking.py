"""Checking and completing what a user asks for, in processes of their own: it holds the processor (RDKit).

Functions here take and give what can be pickled, and never raise for a user's mistake.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from orchestrator.asking import Options
from orchestrator.inputs import complete_analysis
from orchestrator.problems import Problem, of_error, of_validation
from tasks.errors import InputError
from tasks.methods import capable_engines
from tasks.programs import ProgramDeclaration, find_program, validate_parameters, within_limits
from tasks.specs import (
    AnySpec,
    DynamicsSpec,
    EvaluationSpec,
    JobSpec,
    ProgramSpec,
    QuantumSpec,
    SwarmSpec,
    WavefunctionSpec,
    dump_spec,
    kind_of,
    queue_of,
)

_ADAPTER: TypeAdapter[AnySpec] = TypeAdapter(JobSpec)


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What workers have ever declared, and what is accepted without.

    Attributes
    ----------
    queues
        All queues that were ever declared.
    programs
        Declared programs, as plain values.
    wait_for_worker
        Whether work for queues that nobody has declared is accepted as well.
    """

    queues: frozenset[str]
    programs: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    wait_for_worker: bool = False
    max_atoms: int = 400
    #: where names of molecules are looked up; empty: nowhere
    pubchem_url: str = ""

    @property
    def engines(self) -> frozenset[str]:
        """The declared engines that are no programs."""
        return frozenset(queue for queue in self.queues if not queue.startswith("program."))


@dataclass(frozen=True, kw_only=True)
class Checked:
    """One job of a list: its exact spec as plain values, or what is wrong with it."""

    spec: dict[str, Any] | None = None
    problems: tuple[Problem, ...] = ()


def check(rows: Sequence[tuple[int, dict[str, Any]]], offer: Offer) -> list[Checked]:
    """Check and complete some jobs of a list, each with its position."""
    return [_check(row, data, offer) for row, data in rows]


def _check(row: int, data: dict[str, Any], offer: Offer) -> Checked:
    from orchestrator.chemistry.complete import complete_spec
    from orchestrator.chemistry.solutions import complete_dynamics
    from orchestrator.chemistry.swarms import complete_evaluation, complete_swarm

    if "kind" not in data:
        data = {**data, "kind": kind_of(data)}
    try:
        spec = _ADAPTER.validate_python(data)
        if isinstance(spec, QuantumSpec):
            spec = _check_quantum(spec, complete_spec(spec, offer.engines, offer.max_atoms), offer)
        elif isinstance(spec, DynamicsSpec):
            spec = complete_dynamics(spec, offer.max_atoms)
        elif isinstance(spec, WavefunctionSpec):
            spec = complete_analysis(spec, offer.engines)
        elif isinstance(spec, SwarmSpec):
            spec = complete_swarm(spec)
        elif isinstance(spec, EvaluationSpec):
            spec = complete_evaluation(spec, offer.max_atoms)
        else:
            spec = _check_program(spec, offer)
        refuse_undeclared(queue_of(spec), offer)
    except ValidationError as error:
        return Checked(problems=tuple(of_validation(error, row)))
    except InputError as error:
        return Checked(problems=(of_error(error, row),))
    return Checked(spec=dump_spec(spec))


def _check_quantum(asked: QuantumSpec, complete: QuantumSpec, offer: Offer) -> QuantumSpec:
    if asked.engine == "auto" and queue_of(complete) not in offer.queues and not offer.wait_for_worker:
        able = " or ".join(capable_engines(complete.demand))
        problem = f"finds no worker that ever offered an engine for {complete.demand}"
        remedy = f"Start a worker that has {able}, or wait for one with --wait-for-worker."
        raise InputError("engine", "auto", problem, remedy)
    return complete


def _check_program(spec: ProgramSpec, offer: Offer) -> ProgramSpec:
    declared = {name: ProgramDeclaration.model_validate(values) for name, values in offer.programs.items()}
    if spec.program not in declared and offer.wait_for_worker:
        return spec
    declaration = find_program(spec.program, declared)
    spec = within_limits(spec, declaration)
    validate_parameters(spec, declaration)
    return spec


def refuse_undeclared(queue: str, offer: Offer) -> None:
    """Raise InputError if no worker has ever declared a queue, unless such work is to wait for one."""
    if queue in offer.queues or offer.wait_for_worker:
        return
    engine, _, tag = queue.partition("@")
    known = ", ".join(sorted(offer.queues)) or "nothing yet"
    problem = f"was never offered by any worker{f' with the tag {tag}' if tag else ''}"
    remedy = f"Workers have offered {known}. Start a worker that offers it, or wait for one with --wait-for-worker."
    raise InputError("engine", engine, problem, remedy)


def preview(request: str, offer: Offer, options: Options | None = None) -> dict[str, Any] | Problem:
    """Plan a request without doing anything: what ``dry_run`` gives, or what is wrong."""
    from orchestrator.planning.preview import dry_run

    try:
        planned = dry_run(request, offer.engines or None, offer.max_atoms, options, offer.pubchem_url)
        for step in planned["steps"]:
            for job in step["jobs"]:
                refuse_undeclared(job["spec"]["engine"], offer)
    except InputError as error:
        return of_error(error)
    return planned
