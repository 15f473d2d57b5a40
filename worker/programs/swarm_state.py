"""The state of a swarm as it stands in ``state.json``: readable, checked by hash, the same after it is read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from tasks.errors import InputError
from tasks.results import Evaluated
from tasks.specs import SwarmSpec, dump_spec, spec_hash
from worker.programs.common import write_atomically

STATE_FILE = "state.json"
SCHEMA = "simrelay-swarm/1"
#: fields of a spec that may differ where a swarm goes on: how long, and on what
_FREE = {
    "steps", "resources", "label", "tag", "inputs", "evaluation_jobs", "evaluation_memory_mb", "step_seconds", "keep",
}  # fmt: skip


class Step(BaseModel):
    """What one step of the swarm was like; scores of all particles, 0 for those without a result."""

    model_config = ConfigDict(frozen=True)

    step: int
    max_score: float
    min_score: float
    mean_score: float
    best_so_far: float
    #: molecules that were computed in this step, and in all
    new_evaluations: int
    evaluations: int


class Waiting(BaseModel):
    """Evaluations that the swarm waits for: the name of their batch, and the molecules of each job."""

    model_config = ConfigDict(frozen=True)

    name: str
    jobs: tuple[tuple[str, ...], ...]
    #: the step had timed out, and this is its one repetition
    repeated: bool = False


class State(BaseModel):
    """All that a swarm knows after a number of whole steps."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_name: str = SCHEMA
    configuration: dict[str, Any]
    configuration_sha256: str
    #: steps that are done
    iteration: int = 0
    #: ``Swarm.state``
    swarm: dict[str, Any]
    #: by SMILES, in the order in which they were met
    evaluated: dict[str, Evaluated] = Field(default_factory=dict)
    history: tuple[Step, ...] = ()
    waiting: Waiting | None = None
    recovered_steps: int = 0
    #: lines of ``recovery_trace.jsonl``
    trace: tuple[dict[str, Any], ...] = ()

    def with_changes(self, **changes: Any) -> State:
        """Give the state with some fields changed."""
        return self.model_copy(update=changes)


def configuration(spec: SwarmSpec) -> dict[str, Any]:
    """Give what must be equal for a swarm to go on: everything but how long and on what it runs."""
    return {name: value for name, value in dump_spec(spec).items() if name not in _FREE}


def save_state(folder: Path, state: State) -> None:
    """Write the state in one step, with the hash of all of it."""
    values = state.model_dump(mode="json")
    write_atomically(folder / STATE_FILE, json.dumps({**values, "sha256": spec_hash(values)}, indent=1) + "\n")


def load_state(path: Path, spec: SwarmSpec) -> State:
    """Read a state that a swarm of ``spec`` can go on from.

    Raises
    ------
    InputError
        If the file is damaged, of another schema, of another configuration (which is named), or further than asked.
    """
    right = "Give the state.json of a swarm, unchanged."
    try:
        values = json.loads(path.read_bytes())
        if not isinstance(values, dict):
            raise ValueError("no object")
    except (OSError, ValueError):
        raise InputError("inputs.state", path.name, "cannot be read", right) from None
    if values.get("schema_name") != SCHEMA:
        raise InputError("inputs.state", values.get("schema_name"), f"is not the schema {SCHEMA}", right)
    if values.pop("sha256", "") != spec_hash(values):
        raise InputError("inputs.state", path.name, "was changed: its hash does not fit its content", right)
    state = State.model_validate(values)
    wanted = configuration(spec)
    differ = [
        name for name in sorted({*wanted, *state.configuration}) if wanted.get(name) != state.configuration.get(name)
    ]
    if differ or state.configuration_sha256 != spec_hash(wanted):
        told = "; ".join(f"{name} was {state.configuration.get(name)!r} and is {wanted.get(name)!r}" for name in differ)
        remedy = "Ask for the same configuration to go on, or begin a new swarm without that state."
        raise InputError("inputs.state", told, "is another configuration", remedy)
    if spec.steps < state.iteration:
        remedy = f"Steps are counted in all: ask for {state.iteration} or more."
        raise InputError("steps", spec.steps, f"is less than the {state.iteration} that are done", remedy)
    return state
